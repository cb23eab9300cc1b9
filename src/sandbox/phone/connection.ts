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
export type SendPlan = ReturnType<PhoneConnection['plan']>

type OutgoingMessage = Pick<Post, 'replyTo' | 'addressed' | 'text' | 'armored' | 'media'> & {
  chatId: number
}

export type PhoneConnection = ReturnType<typeof connectPhone>

/** A phone's connection to the service. Nothing else passes between the two but world events. */
export function connectPhone(world: World, userId: number) {
  /** @throws ControlError when another world has replaced this phone's */
  const requireCurrent = (): void => {
    if (!world.closing.signal.aborted) return
    throw new ControlError(
      'this phone’s world was closed, reset or restored; get the phone of the world that is there now',
    )
  }

  /** Whether the person is in a chat. */
  const isIn = (chatId: number): boolean => world.chats.get(chatId)?.members.has(userId) === true

  const chatOf = (chatId: number): ChatState => {
    requireCurrent()
    const chat = world.chats.get(chatId)
    if (chat !== undefined && isIn(chatId)) return chat
    throw new ControlError(`the phone's person is not in chat ${chatId}`)
  }

  /** @throws ControlError when the person may not write in a chat */
  const requireWriter = (chat: ChatState, what: 'write' | 'edit'): void => {
    const problem = writingProblem(world, chat, userId)
    if (problem !== null) throw new ControlError(`${userId} cannot ${what} there: ${problem}`)
  }

  /** Does what a call of the phone asks for, and records the call with its result. */
  const record = <Result extends object>(
    call: { method: string; path: string; headers?: string[]; body?: object },
    run: () => Result,
  ): Result => {
    const { method, path, headers = [], body } = call
    const place = `/phones/${userId}${path}`
    const at = world.clock.now()
    const recorder = world.transcript.open({ at, by: 'phone', method, path: place, headers })
    if (body !== undefined) recorder.received(JSON.stringify(body))
    const result = run()
    recorder.answered(method === 'POST' ? 201 : 200, JSON.stringify(result))
    return result
  }

  /** The messages that a phone shows: without open history, those since the person joined. */
  const messages = (chatId: number): StoredMessage[] => {
    const chat = chatOf(chatId)
    const first = chat.historyVisible ? 0 : (chat.members.get(userId)?.firstMessageId ?? 0)
    return [...chat.messages.values()].filter(({ id }) => id >= first)
  }

  /** An ordinary message of this person's own. @throws ControlError when there is no such one */
  const ownMessage = (chatId: number, messageId: number): StoredMessage => {
    const message = chatOf(chatId).messages.get(messageId)
    if (message?.fromId === userId && message.kind === 'user') return message
    throw new ControlError(`the phone's person wrote no message ${messageId} in chat ${chatId}`)
  }

  return {
    requireCurrent,
    isIn,
    messages,
    ownMessage,

    /** The time of the sandbox's clock, in ms since 1970. */
    nowMs: () => world.clock.now(),

    /** Whether another account is in a chat of this person; the phone then records its key changes. */
    hasCommonChatWith: (other: number) => other !== userId && haveCommonChat(world, other, userId),

    /** The key that a person or bot published, or null. */
    publishedKeyOf: (account: number) => publishedKey(world, account),

    /** Ids of the bots that are typing in a chat. */
    typing: (chatId: number) => typingIn(world, chatOf(chatId)),

    /**
     * Plans a message. In a private chat everything is addressed to the bot; in a group commands,
     * mentions and replies are. A bot with privacy mode off reads everything.
     */
    plan: (o: { chatId: number; text: string; replyTo: number | undefined }) => {
      const chat = chatOf(o.chatId)
      const quoted = o.replyTo === undefined ? undefined : chat.messages.get(o.replyTo)
      const bots = botsIn(world, chat)
      const addressed = bots.filter(
        (bot) => chat.kind === 'private' || quoted?.fromId === bot.id || isAddressed(o.text, bot),
      )
      const reading = bots.filter((bot) => addressed.includes(bot) || !bot.privacyMode)
      const others = peopleIn(world, chat).filter(({ id }) => id !== userId)
      const certificatesOf = (accounts: { key: PublishedKey | null }[]): string[] =>
        accounts.flatMap(({ key }) => key?.publicKey ?? [])
      return {
        mode: trueMode(world, chat),
        /** Recipients of the text, without the sender. */
        certificates: certificatesOf([...others, ...reading]),
        /** Recipients of a file, without the sender. */
        fileCertificates:
          chat.kind === 'private'
            ? certificatesOf(addressed)
            : listedKeys(world, chat, userId).map(({ publicKey }) => publicKey),
        /** Bots that the text is addressed to. */
        addressed: addressed.map(({ id }) => id),
      }
    },

    /** A message that was just posted or edited; undefined when the person is not in its chat. */
    received: (chatId: number, messageId: number) =>
      isIn(chatId) ? world.chats.get(chatId)?.messages.get(messageId) : undefined,

    /** Uploads a file. The transcript records only its length. Gives its media id. */
    upload: (file: Uint8Array): string => {
      requireCurrent()
      const headers = ['content-length', String(file.length)]
      return record({ method: 'POST', path: '/media', headers }, () => {
        return { mediaId: world.storeFile(file) }
      }).mediaId
    },

    /**
     * A file of a message that the phone shows, as the service holds it, and who sent it.
     * @throws ControlError when there is no such one
     */
    download: (o: { chatId: number; messageId: number; mediaId: string }) => {
      const message = messages(o.chatId).find(({ id }) => id === o.messageId)
      const isThere = message?.media.some(({ id }) => id === o.mediaId) === true
      const stored = isThere ? world.files.get(o.mediaId) : undefined
      if (message !== undefined && stored !== undefined) return { stored, fromId: message.fromId }
      throw new ControlError(`message ${o.messageId} of chat ${o.chatId} has no file ${o.mediaId}`)
    },

    /**
     * Posts a message, which the transcript records as sent. Gives its id.
     * @throws ControlError when the person may not write there
     */
    post: (message: OutgoingMessage): number => {
      const chat = chatOf(message.chatId)
      requireWriter(chat, 'write')
      return record({ method: 'POST', path: '/messages', body: message }, () => {
        return { id: post(world, { ...message, chat, fromId: userId }).id }
      }).id
    },

    /**
     * Changes the content of a message of this person's own; the transcript records it as sent.
     * @throws ControlError when there is no such message, or the person may not write there
     */
    edit: (edit: { chatId: number; messageId: number; text?: string; armored?: string }): void => {
      const { chatId, messageId, text = null, armored = null } = edit
      const chat = chatOf(chatId)
      const message = ownMessage(chatId, messageId)
      requireWriter(chat, 'edit')
      record({ method: 'PATCH', path: `/messages/${messageId}`, body: edit }, () => {
        applyEdit(world, { chat, message, content: { text, armored } })
        return { id: messageId }
      })
    },

    /** Deletes any message for everybody; the transcript records it. Does nothing when it is gone. */
    delete: (chatId: number, messageId: number): void => {
      const chat = chatOf(chatId)
      const message = chat.messages.get(messageId)
      if (message === undefined) return
      record({ method: 'DELETE', path: `/messages/${messageId}?chatId=${chatId}` }, () => {
        applyDeletion(world, chat, message)
        return { deleted: true }
      })
    },
  }
}
