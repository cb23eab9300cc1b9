/** Operations on other people's certificates. */
import { type Journal, type People, type Pin, TRUST_POLICIES } from '../kernel/index.ts'
import { z } from 'zod'
import { refusedError, usageError } from '../errors.ts'
import { applyList, compareList, describeRow } from './trust/import-list.ts'
import { readList, withCertificates } from './trust/import-list.ts'
import { describeJournal, verifyJournal } from './trust/verify-journal.ts'
import { iso, nothing, operation, PersonInput } from './operation.ts'

/** All known people. Times are ISO 8601 in UTC. */
export type TrustReport = Awaited<ReturnType<typeof TRUST.trustList.run>>
export type TrustRow = TrustReport['people'][number]

/** One change, as it was written down. */
export type LogRow = Awaited<ReturnType<typeof TRUST.trustLog.run>>[number]

/** Base64 of 1 MiB. */
const MAX_LIST_CHARS = 1_398_104
const MAX_CERTIFICATE_CHARS = 131_072

/** As a person typed it, of any length: `Trust` explains an invalid one. */
const TypedFingerprint = z.string()

/** One page of the journal. */
export const LogPage = z.strictObject({ afterId: z.int().min(0), limit: z.int().min(1).max(1000) })

/** Entries of the journal, with their times as ISO 8601. */
export const readLog = async (journal: Journal, range: Parameters<Journal['read']>[0]) =>
  (await journal.read(range)).map(({ atMs, ...entry }) => ({ ...entry, at: iso(atMs) }))

const AcceptInput = PersonInput.extend({ fingerprint: TypedFingerprint.optional() })
const VerifyInput = PersonInput.extend({ fingerprint: TypedFingerprint })
const PolicyInput = z.strictObject({
  chatId: z.int().nullable(),
  policy: z.enum(TRUST_POLICIES).nullable(),
})
const ListInput = z.strictObject({
  /** Base64. */
  file: z.base64().max(MAX_LIST_CHARS),
  signature: z.base64().max(MAX_CERTIFICATE_CHARS).nullable(),
  by: z.string().max(MAX_CERTIFICATE_CHARS).nullable(),
  pattern: z.string().max(200).nullable(),
  notation: z.string().max(200).nullable(),
  apply: z.boolean(),
  hasUnknown: z.boolean(),
})
const HeadInput = z.strictObject({ head: z.string().max(65_536).nullable() })

export const TRUST = {
  /** Everybody whom we know, and the policies that count. */
  trustList: operation(nothing, async ({ trust, people, names }) => {
    const usernames = await names.all()
    return {
      policy: trust.policies.bot,
      /** Set by command: for the bot (`chatId` null) and for chats. */
      said: trust.policies.byCommand,
      people: trust.all.map((pin) => ({
        userId: pin.userId,
        /** The certificate that messages are sealed to; null for a person blocked before any was seen. */
        fingerprint: pin.fingerprint,
        since: pin.fingerprint === null ? null : iso(pin.sinceMs),
        /** `seen`, `accepted`, `verified` or `blocked` */
        standing: pin.standing,
        /** The authority of the settings that verified it; null where you did, or nobody. */
        authority: authorityOf(pin, people),
        /** The certificate that the service lists now, and since when. */
        listed: pin.listed,
        listedSince: iso(pin.listedAtMs),
        /** Must sign messages: has signed one before, or is verified. */
        signs: people.hasSigned(pin.userId, 'words') || pin.standing === 'verified',
        /** Must sign files: has signed one before. */
        signsFiles: people.hasSigned(pin.userId, 'file'),
        /** Ids of other people listed with the same certificate, while nobody is named as its owner. */
        sharedWith: trust.sharersOf(pin),
        /** As the service last showed it in an update; null before that. Nothing proves it. */
        username: usernames.get(pin.userId) ?? null,
      })),
    }
  }),
  /** Accepts the certificate that is listed for a person, and starts over with them. */
  trustAccept: operation(AcceptInput, async ({ trust, directory }, input) => {
    const pin = await trust.decisions.accept(input.userId, input.fingerprint)
    const duty =
      pin.standing === 'verified'
        ? 'a verified person must sign messages in any case'
        : 'they need not sign until they have signed again'
    directory.forgetAll()
    return { message: `${describePin(pin)}; you start over with them: ${duty}` }
  }),
  /** Trusts only this fingerprint for a person; the operator compared it with them. */
  trustVerify: operation(VerifyInput, async ({ trust, directory }, input) => {
    const pin = await trust.decisions.verify(input.userId, input.fingerprint)
    directory.forgetAll()
    return { message: describePin(pin) }
  }),
  /** Seals nothing to a person and trusts nothing from them. */
  trustBlock: operation(PersonInput, async ({ trust, directory }, input) => {
    await trust.decisions.block(input.userId)
    directory.forgetAll()
    const message = `person ${input.userId} is blocked: nothing is sealed to them, and nothing from them is trusted`
    return { message }
  }),
  /** Sets the policy of a chat, or of the bot where `chatId` is null; `policy` null unsets it. */
  trustPolicy: operation(PolicyInput, async ({ trust, directory }, { chatId, policy }) => {
    if (chatId === 0) throw usageError('no chat has the id 0', 'see chat list')
    await trust.policies.set(chatId, policy)
    directory.forgetAll()
    const where = chatId === null ? 'the bot' : `chat ${chatId}`
    const counts = chatId === null ? trust.policies.bot : trust.policies.for(chatId)
    return { message: `the policy of ${where} is ${counts}` }
  }),
  /** Changes, oldest first; `sinceMs`: since the epoch. */
  trustLog: operation(LogPage.extend({ sinceMs: z.int() }), ({ journal }, range) =>
    readLog(journal, range),
  ),
  /** Compares a signed list with the decisions, and verifies the people on it where `apply`. */
  trustImport: operation(
    ListInput,
    async (
      { trust, people, engine, directory, keyring, botId },
      { file, signature, apply, hasUnknown, ...how },
    ) => {
      const detached = signature === null ? null : Buffer.from(signature, 'base64')
      const list = { ...how, file: Buffer.from(file, 'base64'), signature: detached }
      const { signer, people: named } = await readList(engine, list)
      const [userId, own] = [botId(), keyring.active]
      const bot = userId !== null && own ? { userId, fingerprint: own.fingerprint } : null
      const listed = await withCertificates(named, { trust, bot })
      const rows = compareList(listed, { trust, people })
      const verified = apply ? await applyList(rows, { trust, people }, { signer, hasUnknown }) : 0
      if (apply) directory.forgetAll()
      return { signer, rows, verified, lines: rows.map(describeRow) }
    },
  ),
  /** The last entry of the journal, signed now. */
  trustLogHead: operation(nothing, async ({ journalHeads }) => {
    await journalHeads.sign()
    const signed = await journalHeads.last()
    if (signed !== null) return { signed }
    throw refusedError(
      'the journal is empty, or the bot has no published key to sign its head with',
      'with key.publish: false heads are not signed; `postern trust log --verify` shows what is',
    )
  }),
  /** Recomputes the chain of the journal; `head`: one that was kept elsewhere. */
  trustLogVerify: operation(HeadInput, async ({ store, keyring, engine }, { head }) => {
    const report = await verifyJournal({ store, keyring, engine }, head)
    return { ...report, lines: describeJournal(report) }
  }),
}

function authorityOf(pin: Pin, people: People): string | null {
  const { userId, fingerprint, standing, vouched } = pin
  const isByOperator = people.ownerOf(fingerprint ?? '') === userId
  if (standing !== 'verified' || isByOperator) return null
  return vouched?.by.replace(/ .*/, '') ?? null
}

/** The signatures required of an accepted person. */
export function describePin({ userId, fingerprint, standing, listed }: Pin): string {
  const stands = `person ${userId} is ${standing} with ${fingerprint}`
  return listed === null || listed === fingerprint
    ? stands
    : `${stands}; the service lists ${listed}, so nothing is sealed to them until it lists theirs`
}
