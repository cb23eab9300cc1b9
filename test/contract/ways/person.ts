import type { Control } from '../../../src/sandbox/control/table.ts'
import { until } from '../steps.ts'

/** A person; every writer has a phone from then on. */
export function personOf(
  control: Control,
  { id, username, botId }: { id: number; username: string; botId: number },
) {
  const me = { userId: id }
  return {
    id,
    username,
    /** Writes with the phone; gives the message's id. */
    async write(chatId: number, text: string, { replyTo }: { replyTo?: number } = {}) {
      return (await control.write({ ...me, chatId, text, replyTo })).messageId
    },
    /** Sends a file with the phone, which seals it where the chat is encrypted. */
    async send(
      chatId: number,
      file: Buffer,
      more: { text?: string; replyTo?: number; durationMs?: number } = {},
    ) {
      await control.sendMedia({ ...me, chatId, base64: file.toString('base64'), ...more })
    },
    /** Edits a message of their own; in an encrypted chat the phone seals it anew. */
    async edit(chatId: number, messageId: number, text: string) {
      await control.editMessage({ ...me, chatId, messageId, text })
    },
    /** Deletes a message of their own for everybody. */
    async delete(chatId: number, messageId: number) {
      await control.deleteMessage({ ...me, chatId, messageId })
    },
    /** Presses the button with that `callbackData`, or the first that has any; gives the press. */
    async press(chatId: number, messageId: number, data?: string) {
      return (await control.press({ ...me, chatId, messageId, data })).callbackId
    },
    leave: (chatId: number) => control.leave({ ...me, chatId }),
    block: () => control.block({ ...me, botId }),
    unblock: () => control.unblock({ ...me, botId }),
    closeAccount: () => control.closeAccount(me),
    rename: (name: string) => control.renamePerson({ ...me, username: name }),
    /** The entry of the phone for a message, as it was sent or as it was last edited. */
    async sees(chatId: number, messageId: number, as: 'sent' | 'edited' = 'sent') {
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
    /** Whether the phone shows a chat's message now. */
    async shows(chatId: number, messageId: number) {
      const { messages } = await control.screen({ ...me, chatId })
      return messages.some((shown) => shown.messageId === messageId)
    },
    /** Whether the phone shows now that the bot is typing. */
    async showsTyping(chatId: number) {
      return (await control.screen({ ...me, chatId })).typing.includes(botId)
    },
    /** The answer to a press that the phone showed. */
    async sawAnswer(callbackId: string) {
      const { answers } = await control.inbox(me)
      const found = answers.find((answer) => answer.callbackId === callbackId)
      if (found === undefined) throw new Error('the phone saw no answer to the press')
      const { text, alert, url } = found
      return { text, alert, url }
    },
    /** Fingerprints that the phone received for the bot, oldest first; null: none any more. */
    async learntKeys() {
      const { keyChanges } = await control.inbox(me)
      return keyChanges
        .filter(({ userId }) => userId === botId)
        .map(({ fingerprint }) => fingerprint)
    },
    /** The commands that the phone offers for the bot in a chat. */
    commands: (chatId: number) => control.commandsFor({ ...me, chatId, botId }),
  }
}
