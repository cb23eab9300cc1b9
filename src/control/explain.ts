/** Operations that say what became of a message; never its words. Times are ISO 8601 in UTC. */
import { z } from 'zod'
import { iso, operation } from './operation.ts'

export type Explained = Awaited<ReturnType<typeof EXPLAIN.explainUpdate.run>>[number]
export type ExplainedSent = NonNullable<Awaited<ReturnType<typeof EXPLAIN.explainSent.run>>>

export const EXPLAIN = {
  explainUpdate: operation(
    'What became of each message of an update; empty: it passed as it came, or is long gone.',
    z.strictObject({ updateId: z.int() }),
    async ({ outcomes, keyring }, { updateId }) =>
      (await outcomes.ofUpdate(updateId)).map((one) => ({
        at: iso(one.atMs),
        chatId: one.chatId,
        messageId: one.messageId,
        userId: one.userId,
        verdict: one.verdict,
        reason: one.reason,
        /** Its text was given to the bot. */
        delivered: one.delivered,
        /** Our key that opened it, and that key's state. */
        openedWith:
          one.openedWith === null
            ? null
            : {
                fingerprint: one.openedWith,
                state: keyring.find(one.openedWith)?.state ?? 'deleted',
              },
        signer: one.signer,
      })),
  ),
  explainSent: operation(
    'To whom a message of the bot’s was sealed; null when nothing is remembered of it.',
    z.strictObject({ messageId: z.int() }),
    async ({ outcomes }, { messageId }) => {
      const sent = await outcomes.ofMessage(messageId)
      if (sent === null) return null
      const { atMs, chatId, recipients, skipped } = sent
      return { at: iso(atMs), chatId, recipients, skipped }
    },
  ),
}
