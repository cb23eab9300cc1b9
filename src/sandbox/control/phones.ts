import { z } from 'zod'
import { ChatScreen } from '../phone/screen.ts'
import * as shown from '../phone/seen.ts'
import { botId, chatId, messageId, personId } from './fields.ts'
import { operation } from './operation.ts'
import { SafetyNumber } from './results.ts'
import { GROWING, waitFor } from './waiting.ts'

/** What people's phones showed, and what they show now. */
export const PHONES = {
  inbox: operation(
    'Gives what a person’s phone showed, in order: `seen` lists all of it, by `kind`; `inbox` the ' +
      'messages, `keyChanges` and `answers` to presses alone. With `kinds` or `chatId` only those. ' +
      '`last` is the number to continue after. An `after` above it is of a world that was put back ' +
      'since, and is answered at once.',
    z.strictObject({
      userId: personId,
      chatId: chatId.optional(),
      kinds: z.array(z.enum(shown.SEEN_KINDS)).optional(),
      ...GROWING,
    }),
    z.object({
      seen: z.array(shown.SeenEvent),
      inbox: z.array(shown.InboxEntry),
      keyChanges: z.array(shown.SeenKeyChange),
      answers: z.array(shown.ReceivedAnswer),
      last: z.int().describe('number of the newest that the phone showed'),
    }),
    async (context, { userId, chatId: inChat, kinds, after = 0, wait }) => {
      const phone = await context.phones.of(context.find.person(userId).id)
      await phone.settled()
      const matching = () =>
        phone.seenEvents
          .slice(after)
          .filter((event) => kinds?.includes(event.kind) ?? true)
          .filter((event) => inChat === undefined || ('chatId' in event && event.chatId === inChat))
      // A number that the phone did not reach is of a world that was put back since.
      const isThere = () => matching().length > 0 || after > phone.seenEvents.length
      await waitFor(context, wait, isThere, phone.onSeen)
      const seen = matching()
      return {
        seen,
        inbox: seen.filter(shown.isInboxEntry),
        keyChanges: seen.filter((event) => event.kind === 'key'),
        answers: seen.filter((event) => event.kind === 'answer'),
        last: phone.seenEvents.length,
      }
    },
  ),
  screen: operation(
    'Gives what a person’s phone shows of a chat now: its messages as they are, opened and ' +
      'verified, also the person’s own; and which bots are typing. With `messageId` only that one.',
    z.strictObject({ userId: personId, chatId, messageId: messageId.optional() }),
    ChatScreen,
    async ({ find, phones }, { userId, chatId: id, messageId: only }) => {
      find.chatOf({ userId, chatId: id })
      return await (await phones.of(userId)).chat(id, only)
    },
  ),
  safetyNumber: operation(
    'Gives the number that a person’s phone shows of a bot, for both to compare; null while the bot ' +
      'has no usable key.',
    z.strictObject({ userId: personId, botId }),
    SafetyNumber.nullable(),
    async ({ find, phones }, { userId, botId: id }) =>
      await (await phones.of(find.person(userId).id)).numberWith(find.bot(id).id),
  ),
}
