/** What became of a message, for `postern explain`; never its words. */
import { z } from 'zod'
import type { Outcomes } from '../chats/outcomes.ts'
import type { Keyring } from '../keys/keyring.ts'

const id = z.int()
const text = z.string().nullable()

/** What became of one Message of an update. Times are ISO 8601 in UTC. */
export const Explained = z.object({
  at: z.string(),
  chatId: id.nullable(),
  messageId: id.nullable(),
  userId: id.nullable(),
  verdict: z.string(),
  reason: text,
  /** Its text was given to the bot. */
  delivered: z.boolean(),
  /** Fingerprint and state of our key that opened it. */
  openedWith: z.object({ fingerprint: z.string(), state: z.string() }).nullable(),
  signer: text,
})
export type Explained = z.infer<typeof Explained>

/** To whom a message of the bot's was sealed. */
export const ExplainedSent = z.object({
  at: z.string(),
  chatId: id,
  recipients: z.int(),
  skipped: z.array(z.object({ userId: id, reason: z.string() })),
})
export type ExplainedSent = z.infer<typeof ExplainedSent>

export interface ExplainOperations {
  /** Empty when nothing is remembered of the update: it passed as it came, or is long gone. */
  explainUpdate(updateId: number): Promise<Explained[]>
  /** Null when nothing is remembered of a message of the bot's with this id. */
  explainSent(messageId: number): Promise<ExplainedSent | null>
}

/** Makes the operations over what is remembered. */
export function createExplainOperations(parts: {
  outcomes: Outcomes
  keyring: Keyring
}): ExplainOperations {
  const { outcomes, keyring } = parts
  return {
    explainUpdate: async (updateId) =>
      (await outcomes.ofUpdate(updateId)).map(({ atMs, openedWith, ...one }) => ({
        at: new Date(atMs).toISOString(),
        chatId: one.chatId,
        messageId: one.messageId,
        userId: one.userId,
        verdict: one.verdict,
        reason: one.reason,
        delivered: one.delivered,
        openedWith:
          openedWith === null
            ? null
            : { fingerprint: openedWith, state: keyring.find(openedWith)?.state ?? 'deleted' },
        signer: one.signer,
      })),
    explainSent: async (messageId) => {
      const sent = await outcomes.ofMessage(messageId)
      if (sent === null) return null
      const { atMs, chatId, recipients, skipped } = sent
      return { at: new Date(atMs).toISOString(), chatId, recipients, skipped }
    },
  }
}
