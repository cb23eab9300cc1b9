import type { Control } from '../../../src/sandbox/control/table.ts'
import type { Person } from '../stage.ts'
import { until } from '../steps.ts'

/** A person; whoever writes has a phone from then on. */
export function personOf(
  control: Control,
  { id, username, botId }: { id: number; username: string; botId: number },
): Person {
  const me = { userId: id }
  return {
    id,
    username,
    write: async (chatId, text, { replyTo } = {}) => {
      const { messageId } = await control.write({ ...me, chatId, text, replyTo })
      return messageId
    },
    send: async (chatId, file, { text, replyTo, durationMs } = {}) => {
      const base64 = file.toString('base64')
      await control.sendMedia({ ...me, chatId, base64, text, replyTo, durationMs })
    },
    edit: async (chatId, messageId, text) =>
      void (await control.editMessage({ ...me, chatId, messageId, text })),
    delete: async (chatId, messageId) =>
      void (await control.deleteMessage({ ...me, chatId, messageId })),
    press: async (chatId, messageId, data) => {
      const { callbackId } = await control.press({ ...me, chatId, messageId, data })
      return callbackId
    },
    leave: async (chatId) => void (await control.leave({ ...me, chatId })),
    block: async () => void (await control.block({ ...me, botId })),
    unblock: async () => void (await control.unblock({ ...me, botId })),
    closeAccount: async () => void (await control.closeAccount(me)),
    rename: async (name) => void (await control.renamePerson({ ...me, username: name })),
    sees: async (chatId, messageId, as = 'sent') => {
      const found = await until(
        async () => {
          const { inbox } = await control.inbox(me)
          return inbox.find(
            (seen) =>
              seen.chatId === chatId &&
              seen.messageId === messageId &&
              seen.edited === (as === 'edited'),
          )
        },
        (seen) => seen !== undefined,
      )
      const { text = '', verdict = '' } = found ?? {}
      return { text, verdict }
    },
    shows: async (chatId, messageId) => {
      const { messages } = await control.screen({ ...me, chatId })
      return messages.some((shown) => shown.messageId === messageId)
    },
    showsTyping: async (chatId) => (await control.screen({ ...me, chatId })).typing.includes(botId),
    sawAnswer: async (callbackId) => {
      const { answers } = await control.inbox(me)
      const found = answers.find((answer) => answer.callbackId === callbackId)
      if (found === undefined) throw new Error('the phone saw no answer to the press')
      const { text, alert, url } = found
      return { text, alert, url }
    },
    learntKeys: async () => {
      const { keyChanges } = await control.inbox(me)
      return keyChanges
        .filter(({ userId }) => userId === botId)
        .map(({ fingerprint }) => fingerprint)
    },
    commands: (chatId) => control.commandsFor({ ...me, chatId, botId }),
  }
}
