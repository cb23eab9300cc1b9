/** What an operator can say and ask about other people's certificates. */
import { z } from 'zod'
import type { Facts } from '../chats/facts.ts'
import { OperatorError } from '../errors.ts'
import type { Directory } from '../keys/directory.ts'
import type { Journal } from '../keys/journal.ts'
import type { People } from '../keys/people.ts'
import type { Pin } from '../keys/pins.ts'
import { TRUST_POLICIES } from '../keys/policies.ts'
import type { Trust } from '../keys/trust.ts'

const id = z.int()
const nullableText = z.string().nullable()

/** A person whom we know. Times are ISO 8601 in UTC. */
export const TrustRow = z.object({
  userId: id,
  /** What they are sealed to under; null for somebody blocked before any was seen. */
  fingerprint: nullableText,
  since: nullableText,
  /** `seen`, `accepted`, `verified` or `blocked` */
  standing: z.string(),
  /** What the service lists now, and since when. */
  listed: nullableText,
  listedSince: nullableText,
  /** Must sign words: has signed some once, or is verified. */
  signs: z.boolean(),
  /** Has signed a file once, and must go on signing files. */
  signsFiles: z.boolean(),
  /** Who else is listed with the same certificate, by id, while nobody is named as its owner. */
  sharedWith: z.array(id),
})
export type TrustRow = z.infer<typeof TrustRow>

/** Everybody whom we know, and the policies that count. */
export const TrustReport = z.object({
  policy: z.string(),
  /** Said by command: for the bot (`chatId` null) and for chats. */
  said: z.array(z.object({ chatId: id.nullable(), policy: z.string() })),
  people: z.array(TrustRow),
})
export type TrustReport = z.infer<typeof TrustReport>

/** What the operator says. */
export const TrustWord = z.discriminatedUnion('say', [
  z.strictObject({ say: z.literal('accept'), userId: id, fingerprint: z.string().optional() }),
  z.strictObject({ say: z.literal('verify'), userId: id, fingerprint: z.string() }),
  z.strictObject({ say: z.literal('block'), userId: id }),
  z.strictObject({ say: z.literal('person'), chatId: id, userId: id }),
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
export type LogRange = z.infer<typeof LogRange>

/** One change, as it was written down. */
export const LogRow = z.object({
  id: z.int(),
  at: z.string(),
  kind: z.string(),
  userId: id.nullable(),
  chatId: id.nullable(),
  detail: z.record(z.string(), z.unknown()),
})
export type LogRow = z.infer<typeof LogRow>

export interface TrustOperations {
  trustList(): Promise<TrustReport>
  /** @returns what stands now, in words */
  trustSay(word: TrustWord): Promise<{ message: string }>
  /** Changes in the order in which they were written down. */
  trustLog(range: LogRange): Promise<LogRow[]>
}

/** Makes the operations over what is known of people. */
export function createTrustOperations(parts: {
  trust: Trust
  people: People
  journal: Journal
  directory: Directory
  facts: Facts
}): TrustOperations {
  const { trust, people, journal, directory } = parts
  return {
    trustList: () =>
      Promise.resolve({
        policy: trust.policies.bot,
        said: trust.policies.said,
        people: trust.all.map((pin) => row(pin, { people, trust })),
      }),
    trustSay: async (word) => {
      const message = await perform(word, parts)
      directory.forgetAll()
      return { message }
    },
    trustLog: async (range) =>
      (await journal.read(range)).map(({ atMs, ...entry }) => ({ ...entry, at: iso(atMs) ?? '' })),
  }
}

async function perform(
  word: TrustWord,
  { trust, facts }: { trust: Trust; facts: Facts },
): Promise<string> {
  switch (word.say) {
    case 'person':
      return await bind(word, facts)
    case 'accept':
      return anew(await trust.accept(word.userId, word.fingerprint))
    case 'verify':
      return told(await trust.verify(word.userId, word.fingerprint))
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

async function bind(word: { chatId: number; userId: number }, facts: Facts): Promise<string> {
  const { chatId, userId } = word
  if (await facts.setPerson(chatId, userId)) {
    return `chat ${chatId} is the private chat of person ${userId}: nobody else is sealed to or believed there`
  }
  throw new OperatorError(
    'refused',
    `chat ${chatId} is not known as a private chat`,
    '`postern chat list` shows the chats and their kinds',
  )
}

function anew(pin: Pin): string {
  const must =
    pin.standing === 'verified'
      ? 'a verified person must sign words in any case'
      : 'they need not sign until they have signed again'
  return `${told(pin)}; they begin anew: ${must}`
}

function told({ userId, fingerprint, standing, listed }: Pin): string {
  const stands = `person ${userId} is ${standing} with ${fingerprint}`
  return listed === null || listed === fingerprint
    ? stands
    : `${stands}; the service lists ${listed}, so nothing is sealed to them until it lists theirs`
}

function row(pin: Pin, { people, trust }: { people: People; trust: Trust }): TrustRow {
  const { userId } = pin
  return {
    userId,
    fingerprint: pin.fingerprint,
    since: pin.fingerprint === null ? null : iso(pin.sinceMs),
    standing: pin.standing,
    listed: pin.listed,
    listedSince: iso(pin.listedAtMs),
    signs: people.hasSigned(userId, 'words') || trust.isVerified(userId),
    signsFiles: people.hasSigned(userId, 'file'),
    sharedWith: trust.sharersOf(pin),
  }
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
