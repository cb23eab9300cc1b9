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
  /** Must sign words: has signed some once, or is verified. */
  signs: boolean
  /** Has signed a file once, and must go on signing files. */
  signsFiles: boolean
  /** Who else is listed with the same certificate, by id, while nobody is named as its owner. */
  sharedWith: readonly number[]
}

/** Everybody whom we know, and the policies that count. */
export interface TrustReport {
  policy: string
  /** Set by command: for the bot (`chatId` null) and for chats. */
  said: { chatId: number | null; policy: string }[]
  people: TrustRow[]
}

const Person = z.strictObject({ userId: z.int() })
/** As a person typed it: of whatever length, so that `Trust` says what is wrong with it. */
const Typed = z.string()

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
      said: trust.policies.byCommand,
      people: trust.all.map((pin) => row(pin, { people, trust })),
    }),
  ),
  trustAccept: operation(
    'Takes the certificate that is listed for a person as theirs, and lets them begin anew.',
    Person.extend({ fingerprint: Typed.optional() }),
    async ({ trust, directory }, input) => {
      const pin = await trust.accept(input.userId, input.fingerprint)
      directory.forgetAll()
      return { message: `${describePin(pin)}; they begin anew: ${describeDuty(pin)}` }
    },
  ),
  trustVerify: operation(
    'Seals to a person under this fingerprint alone, which was compared with their own word.',
    Person.extend({ fingerprint: Typed }),
    async ({ trust, directory }, input) => {
      const pin = await trust.verify(input.userId, input.fingerprint)
      directory.forgetAll()
      return { message: describePin(pin) }
    },
  ),
  trustBlock: operation(
    'Seals nothing to a person and believes no words of theirs.',
    Person,
    async ({ trust, directory }, input) => {
      await trust.block(input.userId)
      directory.forgetAll()
      return {
        message: `person ${input.userId} is blocked: nothing is sealed to them, and no words of theirs are believed`,
      }
    },
  ),
  trustPolicy: operation(
    'Sets the policy of a chat, or of the bot where `chatId` is null; `policy` null unsets it.',
    z.strictObject({ chatId: z.int().nullable(), policy: z.enum(TRUST_POLICIES).nullable() }),
    async ({ trust, directory }, { chatId, policy }) => {
      if (chatId === 0) throw new OperatorError('usage', 'no chat has the id 0', 'see chat list')
      await trust.policies.set(chatId, policy)
      directory.forgetAll()
      const where = chatId === null ? 'the bot' : `chat ${chatId}`
      const counts = chatId === null ? trust.policies.bot : trust.policies.for(chatId)
      return { message: `the policy of ${where} is ${counts}` }
    },
  ),
  trustLog: operation(
    'Changes in the order in which they were written down.',
    LogRange,
    async ({ journal }, range): Promise<LogRow[]> =>
      (await journal.read(range)).map(({ atMs, ...entry }) => ({ ...entry, at: iso(atMs) })),
  ),
}

/** What a person who begins anew must sign. */
function describeDuty({ standing }: Pin): string {
  return standing === 'verified'
    ? 'a verified person must sign words in any case'
    : 'they need not sign until they have signed again'
}

function describePin({ userId, fingerprint, standing, listed }: Pin): string {
  const stands = `person ${userId} is ${standing} with ${fingerprint}`
  return listed === null || listed === fingerprint
    ? stands
    : `${stands}; the service lists ${listed}, so nothing is sealed to them until it lists theirs`
}

function row(pin: Pin, { people, trust }: { people: People; trust: Trust }): TrustRow {
  return {
    userId: pin.userId,
    fingerprint: pin.fingerprint,
    since: pin.fingerprint === null ? null : iso(pin.sinceMs),
    standing: pin.standing,
    listed: pin.listed,
    listedSince: iso(pin.listedAtMs),
    signs: people.hasSigned(pin.userId, 'words') || trust.isVerified(pin.userId),
    signsFiles: people.hasSigned(pin.userId, 'file'),
    sharedWith: trust.sharersOf(pin),
  }
}
