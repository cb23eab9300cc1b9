import type { ChatMode } from '../../api/chat.ts'
import { isAddressed } from '../rules/addressing.ts'
import { storeFile } from '../rules/files.ts'
import { haveCommonChat } from '../rules/find.ts'
import { listedKeys, publishedKey } from '../rules/keys.ts'
import { trueMode } from '../rules/mode.ts'
import { post } from '../rules/post.ts'
import type { ChatState, MediaState, PublishedKey } from '../state.ts'
import { botIds, personIds } from '../views/accounts.ts'
import type { World } from '../world.ts'

/** What the sender's phone needs to know before it writes. */
export interface SendPlan {
  mode: ChatMode
  /** Of everybody whom it must seal to, but for its own. */
  certificates: string[]
  /** Of everybody whom a file is sealed to. */
  fileCertificates: string[]
  /** Bots that the words are addressed to. */
  addressed: number[]
}

interface Written {
  chatId: number
  replyTo?: number | undefined
  addressed: number[]
  text?: string
  armored?: string
  media?: MediaState[]
}

/** A phone's connection to the service: all that passes between the two. */
export class PhoneConnection {
  readonly #world: World
  readonly #userId: number

  constructor(world: World, userId: number) {
    this.#world = world
    this.#userId = userId
  }

  /** Whether a chat is shared with somebody else, whose key changes a phone is told. */
  knows(userId: number): boolean {
    return userId !== this.#userId && haveCommonChat(this.#world, userId, this.#userId)
  }

  /** What a person or bot published, or null. */
  keyOf(userId: number): PublishedKey | null {
    return publishedKey(this.#world, userId)
  }

  /**
   * In a private chat everything is for the bot; in a group what is a command, a mention or a
   * reply, and everything when its privacy mode is off.
   */
  plan(o: { chatId: number; text: string; replyTo: number | undefined }): SendPlan {
    const chat = this.#chat(o.chatId)
    const world = this.#world
    const quoted = o.replyTo === undefined ? undefined : chat.messages.get(o.replyTo)
    const addressed = botIds(world, chat).filter((id) => {
      const bot = world.bots.get(id)
      if (bot === undefined) return false
      return chat.kind === 'private' || quoted?.fromId === id || isAddressed(o.text, bot)
    })
    const hearing = botIds(world, chat).filter(
      (id) => addressed.includes(id) || world.bots.get(id)?.privacyMode === false,
    )
    const others = personIds(world, chat).filter((id) => id !== this.#userId)
    return {
      mode: trueMode(world, chat),
      certificates: [...others, ...hearing].flatMap((id) => this.keyOf(id)?.publicKey ?? []),
      fileCertificates:
        chat.kind === 'private'
          ? addressed.flatMap((id) => this.keyOf(id)?.publicKey ?? [])
          : listedKeys(world, chat, this.#userId).map(({ publicKey }) => publicKey),
      addressed,
    }
  }

  /** Hands in a file, which is kept as it is; the transcript has its length alone. Gives its id. */
  upload(file: Uint8Array): string {
    const mediaId = storeFile(this.#world, file)
    const record = this.#world.transcript.open({
      at: this.#world.clock.now(),
      by: 'phone',
      method: 'POST',
      path: `/phones/${this.#userId}/media`,
      headers: ['content-length', String(file.length)],
    })
    record.answered(201, JSON.stringify({ mediaId }))
    return mediaId
  }

  /** Hands a message in; the transcript has it as it went over the line. Gives its id. */
  post(written: Written): number {
    const chat = this.#chat(written.chatId)
    const record = this.#world.transcript.open({
      at: this.#world.clock.now(),
      by: 'phone',
      method: 'POST',
      path: `/phones/${this.#userId}/messages`,
      headers: [],
    })
    record.received(JSON.stringify(written))
    const { id } = post(this.#world, { ...written, chat, fromId: this.#userId })
    record.answered(201, JSON.stringify({ id }))
    return id
  }

  #chat(chatId: number): ChatState {
    const chat = this.#world.chats.get(chatId)
    if (chat === undefined || !chat.members.has(this.#userId)) {
      throw new Error(`the phone's person is not in chat ${chatId}`)
    }
    return chat
  }
}
