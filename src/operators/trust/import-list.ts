/** A signed list of people's fingerprints: read, compared with the decisions of before, and applied. */
import { usageError, refusedError } from '../../errors.ts'
import type { People, Trust } from '../../kernel/index.ts'
import type { Engine, Signed } from '../../openpgp/index.ts'
import { safetyNumber, type CertificateHolder } from './number.ts'

/** Rows of a list, and certificates of a keyring. */
const MOST_ROWS = 10_000
/** Each costs two derivations of some ms. */
const MOST_NUMBERS = 500

type ListEngine = Pick<Engine, 'judge' | 'readSigned' | 'readKeyring' | 'verify'>

/** How a list is read and verified. Files are bytes. */
export interface ListRequest {
  file: Uint8Array
  /** A detached signature. */
  signature: Uint8Array | null
  /** The signer's certificate, armored; null for a list without a signature. */
  by: string | null
  /** Of user ids in a keyring, with `{userId}` in place of the id. */
  pattern: string | null
  /** The notation whose value is the id, instead. */
  notation: string | null
}

/** A fingerprint for a person, or the digits of a safety number; `line` of the file, or the number of the certificate in a keyring. */
export interface ListedFingerprint extends CertificateHolder {
  line: number
}

/**
 * `new` and `same` as a verified fingerprint; `blocked` and `conflict` stay as they are; `differs`: a
 * number of no certificate of theirs.
 */
export type ImportEffect = 'new' | 'same' | 'conflict' | 'blocked' | 'unknown' | 'differs'

export interface ImportRow extends ListedFingerprint {
  effect: ImportEffect
  /** The verified or pinned fingerprint of before. */
  before: string | null
}

/**
 * Reads a list whose signature holds.
 * @returns the rows, and the signer's fingerprint; null where nobody signed
 * @throws OperatorError `refused`, `usage`
 */
export async function readList(engine: ListEngine, request: ListRequest) {
  const signed = await engine.readSigned(request.file, request.signature)
  if (signed === null) throw refused('the list or its signature cannot be read')
  const signer = await signerOf(engine, signed, request.by)
  const { document } = signed
  const text = Buffer.from(document).toString()
  const isKeyring = ((document[0] ?? 0) & 0x80) !== 0 || text.includes('-----BEGIN PGP PUBLIC KEY')
  const people = isKeyring ? await readPeople(engine, document, request) : readRows(text)
  return { people: withoutRepeats(people), signer }
}

async function signerOf(engine: ListEngine, signed: Signed, by: string | null) {
  if (by === null) {
    if (signed.signatures.length === 0) return null
    throw refused('the list is signed', 'name the signer’s certificate with --by')
  }
  const { fingerprint, unusable } = await engine.judge(by)
  if (fingerprint === null) throw usageError('--by is no certificate', 'name the file of one')
  if (unusable === 'revoked' || unusable === 'expired') throw refused(`the signer is ${unusable}`)
  if (signed.signatures.length === 0) {
    throw refused('nobody signed the list', 'sign it, or give --signature')
  }
  const results = await engine.verify(signed, by, Date.now())
  if (results.includes('valid')) return fingerprint
  throw refused('no signature on the list is by the certificate of --by')
}

/** Lines of `userId,fingerprint` or `userId,number`; a first line without any digit is a heading. */
function readRows(text: string): ListedFingerprint[] {
  const lines = text.split(/\r?\n/)
  if (lines.length > MOST_ROWS) throw refused(`the list has more than ${MOST_ROWS} lines`)
  return lines.flatMap((line, index) => {
    const isHeading = index === 0 && /^[a-z_ ,;"]+$/i.test(line)
    if (line.trim() === '' || isHeading) return []
    const found = /^"?(\d{1,16})"?[,;]"?([0-9a-f ]{40,75})"?$/i.exec(line.trim())
    const fingerprint = (found?.[2] ?? '').replaceAll(' ', '').toLowerCase()
    const userId = Number(found?.[1])
    const isEither = fingerprint.length === 40 || isNumber(fingerprint)
    if (!isEither || !Number.isSafeInteger(userId) || userId === 0) {
      throw refused(`line ${index + 1} is not userId,fingerprint nor userId,number`)
    }
    return [{ userId, fingerprint, line: index + 1 }]
  })
}

const isNumber = (text: string): boolean => /^\d{60}$/.test(text)

/**
 * Puts the certificate in place of each number that is of it and of the bot's active key: the believed
 * one of the person, or the one that is listed for them.
 * @param bot null while no key is published
 * @throws OperatorError `refused`
 */
export async function withCertificates(
  listed: readonly ListedFingerprint[],
  { trust, bot }: { trust: Pick<Trust, 'believedOf'>; bot: CertificateHolder | null },
): Promise<ListedFingerprint[]> {
  const numbers = listed.filter(({ fingerprint }) => isNumber(fingerprint)).length
  if (numbers > MOST_NUMBERS) throw refused(`the list has more than ${MOST_NUMBERS} numbers`)
  if (numbers > 0 && bot === null) throw refused('the bot has no published key yet to compare by')
  const rows: ListedFingerprint[] = []
  for (const one of listed) {
    const { userId, fingerprint: number } = one
    const pin = isNumber(number) ? trust.believedOf(userId) : undefined
    let row = one
    for (const fingerprint of new Set([pin?.fingerprint, pin?.listed])) {
      const isOwn = userId === bot?.userId || fingerprint === bot?.fingerprint
      if (fingerprint == null || bot === null || isOwn) continue
      const { digits } = await safetyNumber({ bot, person: { userId, fingerprint } })
      if (digits === number) row = { ...one, fingerprint }
    }
    rows.push(row)
  }
  return rows
}

async function readPeople(engine: ListEngine, document: Uint8Array, request: ListRequest) {
  const { pattern, notation } = request
  if (pattern === null && notation === null) {
    const hint = "such as --pattern '{userId}@example.org', or --notation userid@example.org"
    throw usageError('a keyring does not say whose each certificate is', hint)
  }
  const matcher = pattern === null ? null : matcherOf(pattern)
  const o = { most: MOST_ROWS, nowMs: Date.now() }
  const certificates = await engine.readKeyring(document, o)
  if (certificates === null) throw refused('the keyring cannot be read whole, or is too large')
  const people: ListedFingerprint[] = []
  for (const [index, { armored, userIds, notations }] of certificates.entries()) {
    const ids = matcher === null ? [] : userIds.map((userId) => matcher.exec(userId)?.[1])
    const values = notations.map(({ name, value }) => (name === notation ? value : undefined))
    const found = [...ids, ...values].filter((id) => id !== undefined && /^\d{1,16}$/.test(id))
    const { fingerprint, unusable } = await engine.judge(armored)
    if (found.length === 0) continue
    if (fingerprint === null || unusable === 'revoked') {
      throw refused(`certificate ${index + 1} is ${unusable ?? 'unreadable'}`)
    }
    for (const id of new Set(found)) {
      people.push({ userId: Number(id), fingerprint, line: index + 1 })
    }
  }
  return people
}

/** The whole of a user id, or of the address in its angle brackets. */
function matcherOf(pattern: string): RegExp {
  const parts = pattern.split('{userId}')
  if (parts.length !== 2)
    throw usageError('--pattern needs {userId} once', 'such as {userId}@example.org')
  const [before = '', after = ''] = parts.map((part) => part.replace(/[^\w@]/g, String.raw`\$&`))
  return new RegExp(`(?:^|<)${before}(\\d{1,16})${after}(?:>?$)`)
}

/** Refuses a list that contradicts itself: two fingerprints of a person, one of two people. */
function withoutRepeats(people: readonly ListedFingerprint[]): ListedFingerprint[] {
  const byPerson = new Map<number, ListedFingerprint>()
  const byFingerprint = new Map<string, ListedFingerprint>()
  for (const one of people) {
    const { userId, fingerprint, line } = one
    const [same, owner] = [byPerson.get(userId), byFingerprint.get(fingerprint)]
    const other = same?.fingerprint === fingerprint ? undefined : same
    const contradicted = other ?? (owner?.userId === userId ? undefined : owner)
    if (contradicted !== undefined) {
      throw refused(`line ${line} contradicts line ${contradicted.line}`)
    }
    if (same !== undefined) continue
    byPerson.set(userId, one)
    byFingerprint.set(fingerprint, one)
  }
  if (byPerson.size === 0) throw refused('the list names nobody')
  return [...byPerson.values()]
}

/** The decisions that a list is compared with. */
export interface Decided {
  trust: Pick<Trust, 'believedOf' | 'standingOf' | 'decisions'>
  people: Pick<People, 'ownerOf'>
}

/** The effect of each row by the present decisions; nothing is changed. */
export const compareList = (
  listed: readonly ListedFingerprint[],
  { trust, people }: Decided,
): ImportRow[] =>
  listed.map((one) => {
    const { userId, fingerprint } = one
    const before = trust.believedOf(userId)?.fingerprint ?? null
    const standing = trust.standingOf(userId)
    const isSame = before === fingerprint
    const named = people.ownerOf(fingerprint)
    const owner = named ?? userId
    const isDecided = standing !== 'seen' && standing !== undefined
    if (standing === 'blocked') return { ...one, before, effect: 'blocked' }
    if (isNumber(fingerprint)) return { ...one, before, effect: 'differs' }
    if (owner !== userId || (isDecided && !isSame)) return { ...one, before, effect: 'conflict' }
    if (standing === undefined) return { ...one, before, effect: 'unknown' }
    // what an authority verified ends with its certification
    const isVerified = standing === 'verified' && named === userId
    return { ...one, before, effect: isVerified ? 'same' : 'new' }
  })

/**
 * Verifies the people of `new` rows, each with an entry of the journal, and where wanted unknown ones.
 * @returns how many
 * @throws OperatorError `refused` where the operator has decided otherwise meanwhile
 */
export async function applyList(
  rows: readonly ImportRow[],
  { trust }: Decided,
  { signer, hasUnknown }: { signer: string | null; hasUnknown: boolean },
): Promise<number> {
  const wanted = rows.filter(
    ({ effect }) => effect === 'new' || (hasUnknown && effect === 'unknown'),
  )
  for (const { userId, fingerprint } of wanted) {
    await trust.decisions.verify(userId, fingerprint, { listedBy: signer ?? 'nobody' })
  }
  return wanted.length
}

const EFFECTS: Record<ImportEffect, string> = {
  new: 'is verified with',
  same: 'was verified before with',
  conflict: 'stays as you decided, not with',
  blocked: 'stays blocked, not with',
  differs: 'has no certificate of which this is the number:',
  unknown: 'is unknown (--unknown verifies), with',
}

/** A row for people. */
export const describeRow = ({ userId, fingerprint, effect }: ImportRow): string =>
  `person ${userId} ${EFFECTS[effect]} ${fingerprint}`

const refused = (problem: string, hint = 'nothing was changed') => refusedError(problem, hint)
