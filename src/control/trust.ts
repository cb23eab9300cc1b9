/** What an operator can say and ask about other people's certificates. */
import { z } from 'zod'
import { OperatorError } from '../errors.ts'
import type { JournalEntry } from '../keys/journal.ts'
import type { People } from '../keys/people.ts'
import type { Pin } from '../keys/pins.ts'
import { TRUST_POLICIES } from '../keys/policies.ts'
import type { Trust } from '../keys/trust.ts'
import { iso, nothing, operation } from './operation.ts'

/** A person whom we know. Times are ISO 8601 in UTC. */
export interface TrustRow {
  userId: number
  /** What they are sealed to under; null for somebody blocked before any was seen. */
  fingerprint: string | null
  since: string | null
  /** `seen`, `accepted`, `verified` or `blocked` */
  standing: string
  /** What the service lists now, and since when. */
  listed: string | null
  listedSince: string | null
  /** Has signed once, and must go on signing. */
  signs: boolean
}

/** Everybody whom we know, and the policies that count. */
export interface TrustReport {
  policy: string
  /** Set by command: for the bot (`chatId` null) and for chats. */
  said: { chatId: number | null; policy: string }[]
  people: TrustRow[]
}

const id = z.int()

/** What the operator says. */
export const TrustWord = z.discriminatedUnion('say', [
  z.strictObject({ say: z.literal('accept'), userId: id, fingerprint: z.string().optional() }),
  z.strictObject({ say: z.literal('verify'), userId: id, fingerprint: z.string() }),
  z.strictObject({ say: z.literal('block'), userId: id }),
  z.strictObject({
    say: z.literal('policy'),
    /** Null for the bot. */
    chatId: id.nullable(),
    /** Null takes back what was said before. */
    policy: z.enum(TRUST_POLICIES).nullable(),
  }),
])
export type TrustWord = z.infer<typeof TrustWord>

/** Which part of the journal. */
export const LogRange = z.strictObject({
  afterId: z.int().min(0),
  /** ms since the epoch */
  sinceMs: z.int(),
  limit: z.int().min(1).max(1000),
})

/** One change, as it was written down. */
export interface LogRow extends Omit<JournalEntry, 'atMs'> {
  at: string
}

export const TRUST = {
  trustList: operation(
    'Everybody whom we know, and the policies that count.',
    nothing,
    ({ trust, people }): TrustReport => ({
      policy: trust.policies.bot,
      said: trust.policies.said,
      people: trust.all.map((pin) => row(pin, people)),
    }),
  ),
  trustSay: operation(
    'Accepts, verifies or blocks a person, or sets a policy; gives what stands now, in words.',
    TrustWord,
    async ({ trust, directory }, word) => {
      const message = await applyWord(word, trust)
      directory.forgetAll()
      return { message }
    },
  ),
  trustLog: operation(
    'Changes in the order in which they were written down.',
    LogRange,
    async ({ journal }, range): Promise<LogRow[]> =>
      (await journal.read(range)).map(({ atMs, ...entry }) => ({ ...entry, at: iso(atMs) })),
  ),
}

async function applyWord(word: TrustWord, trust: Trust): Promise<string> {
  switch (word.say) {
    case 'accept':
      return describePin(await trust.accept(word.userId, word.fingerprint))
    case 'verify':
      return describePin(await trust.verify(word.userId, word.fingerprint))
    case 'block':
      await trust.block(word.userId)
      return `person ${word.userId} is blocked: nothing is sealed to them, and no words of theirs are believed`
    case 'policy': {
      const { chatId, policy } = word
      if (chatId === 0) throw new OperatorError('usage', 'no chat has the id 0', 'see chat list')
      await trust.policies.set(chatId, policy)
      const where = chatId === null ? 'the bot' : `chat ${chatId}`
      const counts = chatId === null ? trust.policies.bot : trust.policies.for(chatId)
      return `the policy of ${where} is ${counts}`
    }
  }
  return word satisfies never
}

function describePin({ userId, fingerprint, standing, listed }: Pin): string {
  const stands = `person ${userId} is ${standing} with ${fingerprint}`
  return listed === null || listed === fingerprint
    ? stands
    : `${stands}; the service lists ${listed}, so nothing is sealed to them until it lists theirs`
}

function row(pin: Pin, people: People): TrustRow {
  return {
    userId: pin.userId,
    fingerprint: pin.fingerprint,
    since: pin.fingerprint === null ? null : iso(pin.sinceMs),
    standing: pin.standing,
    listed: pin.listed,
    listedSince: iso(pin.listedAtMs),
    signs: people.hasSigned(pin.userId, 'words'),
  }
}
