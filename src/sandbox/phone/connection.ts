import type { ChatMode } from '../../api/chat.ts'
import { isAddressed } from '../rules/content.ts'
import { applyDeletion, applyEdit, post, type Post } from '../rules/post.ts'
import { botsIn, haveCommonChat, peopleIn } from '../rules/find.ts'
import { listedKeys, publishedKey } from '../rules/keys.ts'
import { trueMode } from '../rules/mode.ts'
import { writingProblem } from '../rules/memberships.ts'
import { typingIn } from '../rules/typing.ts'
import type { ChatState, PublishedKey, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { ControlError } from '../api-error.ts'

/** What the sender's phone must know before it writes. */
export interface SendPlan {
  mode: ChatMode
  /** Recipients of the text, without the sender. */
  certificates: string[]
  /** Recipients of a file, without the sender. */
  fileCertificates: string[]
  /** Bots that the text is addressed to. */
  addressed: number[]
}

type OutgoingMessage = Pick<Post, 'replyTo' | 'addressed' | 'text' | 'armored' | 'media'> & {
  chatId: number
}

/** A phone's connection to the service. Nothing else passes between the two but world events. */
export class PhoneConnection {
  readonly #world: World
  readonly #userId: number

  constructor(world: World, userId: number) {
    this.#world = world
    this.#userId = userId
  }

  /** @throws ControlError when another world has replaced this phone's */
  requireCurrent(): void {
    if (!this.#world.closing.signal.aborted) return
    throw new ControlError(
      'this phone’s world was closed, reset or restored; get the phone of the world that is there now',
    )
  }

  /** Whether another account is in a chat of this person; the phone then records its key changes. */
  hasCommonChatWith(userId: number): boolean {
    return userId !== this.#userId && haveCommonChat(this.#world, userId, this.#userId)
  }

  /** The key that a person or bot published, or null. */
  publishedKeyOf(userId: number): PublishedKey | null {
    return publishedKey(this.#world, userId)
  }

  /**
   * Plans a message. In a private chat everything is addressed to the bot; in a group commands,
   * mentions and replies are. A bot with privacy mode off reads everything.
   */
  plan(o: { chatId: number; text: string; replyTo: number | undefined }): SendPlan {
    const chat = this.#chat(o.chatId)
    const world = this.#world
    const quoted = o.replyTo === undefined ? undefined : chat.messages.get(o.replyTo)
    const bots = botsIn(world, chat)
    const addressed = bots.filter(
      (bot) => chat.kind === 'private' || quoted?.fromId === bot.id || isAddressed(o.text, bot),
    )
    const reading = bots.filter((bot) => addressed.includes(bot) || !bot.privacyMode)
    const others = peopleIn(world, chat).filter(({ id }) => id !== this.#userId)
    const certificatesOf = (accounts: { key: PublishedKey | null }[]): string[] =>
      accounts.flatMap(({ key }) => key?.publicKey ?? [])
    return {
      mode: trueMode(world, chat),
      certificates: certificatesOf([...others, ...reading]),
      fileCertificates:
        chat.kind === 'private'
          ? certificatesOf(addressed)
          : listedKeys(world, chat, this.#userId).map(({ publicKey }) => publicKey),
      addressed: addressed.map(({ id }) => id),
    }
  }

  /** The time of the sandbox's clock, in ms since 1970. */
  nowMs(): number {
    return this.#world.clock.now()
  }

  /** Whether the person is in a chat. */
  isIn(chatId: number): boolean {
    return this.#world.chats.get(chatId)?.members.has(this.#userId) === true
  }

  /** A message that was just posted or edited; undefined when the person is not in its chat. */
  received(chatId: number, messageId: number): StoredMessage | undefined {
    return this.isIn(chatId) ? this.#world.chats.get(chatId)?.messages.get(messageId) : undefined
  }

  /** The messages that a phone shows: without open history, those since the person joined. */
  messages(chatId: number): StoredMessage[] {
    const chat = this.#chat(chatId)
    const first = chat.historyVisible ? 0 : (chat.members.get(this.#userId)?.firstMessageId ?? 0)
    return [...chat.messages.values()].filter(({ id }) => id >= first)
  }

  /** Ids of the bots that are typing in a chat. */
  typing(chatId: number): number[] {
    return typingIn(this.#world, this.#chat(chatId))
  }

  /** An ordinary message of this person's own. @throws ControlError when there is no such one */
  ownMessage(chatId: number, messageId: number): StoredMessage {
    const message = this.#chat(chatId).messages.get(messageId)
    if (message?.fromId !== this.#userId || message.kind !== 'user') {
      throw new ControlError(`the phone's person wrote no message ${messageId} in chat ${chatId}`)
    }
    return message
  }

  /** Uploads a file. The transcript records only its length. Gives its media id. */
  upload(file: Uint8Array): string {
    this.requireCurrent()
    const headers = ['content-length', String(file.length)]
    return this.#record({ method: 'POST', path: '/media', headers }, () => ({
      mediaId: this.#world.storeFile(file),
    })).mediaId
  }

  /**
   * A file of a message that the phone shows, as the service holds it, and who sent it.
   * @throws ControlError when there is no such one
   */
  download(o: { chatId: number; messageId: number; mediaId: string }): {
    stored: Uint8Array
    fromId: number
  } {
    const message = this.messages(o.chatId).find(({ id }) => id === o.messageId)
    const isThere = message?.media.some(({ id }) => id === o.mediaId) === true
    const stored = isThere ? this.#world.files.get(o.mediaId) : undefined
    if (message === undefined || stored === undefined) {
      throw new ControlError(`message ${o.messageId} of chat ${o.chatId} has no file ${o.mediaId}`)
    }
    return { stored, fromId: message.fromId }
  }

  /**
   * Posts a message, which the transcript records as sent. Gives its id.
   * @throws ControlError when the person may not write there
   */
  post(message: OutgoingMessage): number {
    const chat = this.#chat(message.chatId)
    this.#requireWriter(chat, 'write')
    return this.#record({ method: 'POST', path: '/messages', body: message }, () => {
      return { id: post(this.#world, { ...message, chat, fromId: this.#userId }).id }
    }).id
  }

  /**
   * Changes the content of a message of this person's own; the transcript records it as sent.
   * @throws ControlError when there is no such message, or the person may not write there
   */
  edit(edit: { chatId: number; messageId: number; text?: string; armored?: string }): void {
    const { chatId, messageId, text = null, armored = null } = edit
    const chat = this.#chat(chatId)
    const message = this.ownMessage(chatId, messageId)
    this.#requireWriter(chat, 'edit')
    this.#record({ method: 'PATCH', path: `/messages/${messageId}`, body: edit }, () => {
      applyEdit(this.#world, { chat, message, content: { text, armored } })
      return { id: messageId }
    })
  }

  /** Deletes any message for everybody; the transcript records it. Does nothing when it is gone. */
  delete(chatId: number, messageId: number): void {
    const chat = this.#chat(chatId)
    const message = chat.messages.get(messageId)
    if (message === undefined) return
    this.#record({ method: 'DELETE', path: `/messages/${messageId}?chatId=${chatId}` }, () => {
      applyDeletion(this.#world, chat, message)
      return { deleted: true }
    })
  }

  /** Does what a call of the phone asks for, and records the call with its result. */
  #record<Result extends object>(
    call: { method: string; path: string; headers?: string[]; body?: object },
    run: () => Result,
  ): Result {
    const { method, path, headers = [], body } = call
    const { transcript, clock } = this.#world
    const place = `/phones/${this.#userId}${path}`
    const record = transcript.open({ at: clock.now(), by: 'phone', method, path: place, headers })
    if (body !== undefined) record.received(JSON.stringify(body))
    const result = run()
    record.answered(method === 'POST' ? 201 : 200, JSON.stringify(result))
    return result
  }

  /** @throws ControlError when the person may not write in a chat */
  #requireWriter(chat: ChatState, what: 'write' | 'edit'): void {
    const problem = writingProblem(this.#world, chat, this.#userId)
    if (problem !== null) throw new ControlError(`${this.#userId} cannot ${what} there: ${problem}`)
  }

  #chat(chatId: number): ChatState {
    this.requireCurrent()
    const chat = this.#world.chats.get(chatId)
    if (chat === undefined || !chat.members.has(this.#userId)) {
      throw new ControlError(`the phone's person is not in chat ${chatId}`)
    }
    return chat
  }
}
