/** Operations on single messages. Times are ISO 8601 in UTC. */
import { z } from 'zod'
import { iso, nothing, operation } from './operation.ts'
import { MAX_ARMORED_BYTES } from './protocol.ts'

/** The outcome of one Message of an update, without its text. */
export type Explained = Awaited<ReturnType<typeof MESSAGES.explainUpdate.run>>[number]
/** The recipients of a message of the bot's. */
export type ExplainedSent = NonNullable<Awaited<ReturnType<typeof MESSAGES.explainSent.run>>>

/** Lines of a report; a service that invents chats makes it no longer. */
const MOST_LINES = 1000

const UpdateInput = z.strictObject({ updateId: z.int() })
const MessageInput = z.strictObject({ messageId: z.int() })

export const MESSAGES = {
  /** Opens one armored message with the keyring. */
  open: operation(
    z.strictObject({ armored: z.string().max(MAX_ARMORED_BYTES) }),
    ({ open }, { armored }) => open(armored),
  ),
  /** The outcome of each message of an update; empty: it was not changed, or is forgotten. */
  explainUpdate: operation(UpdateInput, async ({ outcomes, keyring }, { updateId }) =>
    (await outcomes.ofUpdate(updateId)).map(
      ({ atMs, updateId: _asked, tookMs: _took, openedWith, ...one }) => ({
        at: iso(atMs),
        ...one,
        /** Our key that opened it, and that key's state. */
        openedWith:
          openedWith === null
            ? null
            : { fingerprint: openedWith, state: keyring.find(openedWith)?.state ?? 'deleted' },
      }),
    ),
  ),
  /** Messages withheld from the bot in the last ten days, by chat and reason, the latest first. */
  explainWithheld: operation(nothing, async ({ outcomes }) =>
    (await outcomes.withheld(MOST_LINES)).map(({ firstAtMs, lastAtMs, ...one }) => ({
      ...one,
      firstAt: iso(firstAtMs),
      lastAt: iso(lastAtMs),
    })),
  ),
  /** To whom a message of the bot’s was sealed; null when nothing is remembered of it. */
  explainSent: operation(MessageInput, async ({ outcomes }, { messageId }) => {
    const sent = await outcomes.ofMessage(messageId)
    if (sent === null) return null
    const { atMs, chatId, recipients, skipped } = sent
    return { at: iso(atMs), chatId, recipients, skipped }
  }),
}
