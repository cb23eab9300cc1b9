/** The audience by the recipients that a signature names (RFC 9580, 5.2.3.36). */
import type { KeyList, KeyLookups } from '../lookups.ts'
import { decisionAgainst, type Person } from '../people/person.ts'
import type { KeyListHistory, PastListing } from '../people/key-list-history.ts'
import { mayReceive } from '../people/recipients.ts'
import type { OwnKeys } from '../own-key/own-key.ts'
import type { SenderParts } from './sender-rules.ts'

/** `not-for-all`: an honest phone may have left out a present reader. */
export type Audience = 'meant' | 'not-for-all' | 'other'

/** A verified signature that names recipients, and its place. */
export interface NamingSignature {
  /** Fingerprints that it names. */
  intended: readonly string[]
  /** The date of the signature, ms since the epoch. */
  signedAtMs: number
  /** Fingerprints of the sender: of the certificate that verified it, and of the keys in it. */
  senders: ReadonlySet<string>
  chatId: number
  fromId: number
}

export interface NamedAudienceParts extends Pick<SenderParts, 'people' | 'trust' | 'botId'> {
  directory: KeyLookups
  keyring: OwnKeys
  keyListHistory: Pick<KeyListHistory, 'everListed'>
}

/** A phone may seal by a key list of this age. */
const PHONE_LIST_MS = 3_600_000
/** Keys that every program encrypts to; a phone may have left out others. */
const COMMON_KEY = /^(?:Curve25519|RSA |NIST P-)/

/**
 * Judges the names by a group's list. Everybody named must be the bot, the sender, or somebody who
 * is or was on this group's list; everybody whom the bot would answer must be named, or excused.
 * @throws Refusal `postern_store_unwritable`
 */
export async function audienceInGroup(
  list: KeyList,
  message: NamingSignature,
  parts: NamedAudienceParts,
): Promise<Audience> {
  if (list.tooMany !== null) return 'other'
  const { chatId, fromId, senders } = message
  const { keyring, botId } = parts
  const own = keyring.fingerprints
  const named = new Set(message.intended)
  const present = new Set(list.people.map(({ fingerprint }) => fingerprint))
  const rules = { own, decisionAgainst: (person: Person) => decisionAgainst(person, chatId, parts) }
  const readers = list.people.filter(
    (person) => ![fromId, botId()].includes(person.userId) && mayReceive(person, rules).allowed,
  )
  const isTheirs = (one: string): boolean => own.has(one) || senders.has(one)
  const isNamed = ({ fingerprint }: Person): boolean =>
    fingerprint !== null && (named.has(fingerprint) || isTheirs(fingerprint))
  const reached = new Set(
    list.people.filter(isNamed).flatMap((one) => one.certificateStatus.encryptionKeys),
  )
  // somebody with none but keys of a named person can read nothing by them
  const missed = readers.filter(
    (one) =>
      !isNamed(one) && !one.certificateStatus.encryptionKeys.every((key) => reached.has(key)),
  )
  const absent = [...named].filter((one) => !isTheirs(one) && !present.has(one))
  if (missed.length === 0 && absent.length === 0) return 'meant'
  const past = await parts.keyListHistory.everListed(chatId)
  if (!absent.every((one) => past.some(([, fingerprint]) => fingerprint === one))) return 'other'
  if (missed.length === 0) return 'meant'
  const listersOf = (one: string): [number, number][] =>
    past.flatMap(([userId, listed, sinceMs]) => (listed === one ? [[userId, sinceMs]] : []))
  const once = new Set(absent.map((one) => soleFirst(listersOf(one))))
  const isExcused = (person: Person): boolean =>
    once.has(person.userId) || mayBeLeftOut(person, past, message)
  return missed.every(isExcused) ? 'not-for-all' : 'other'
}

/** Whether a phone may have left a person out: listed lately, or with an uncommon key. */
function mayBeLeftOut(
  { userId, fingerprint, certificateStatus }: Person,
  past: readonly PastListing[],
  { signedAtMs }: NamingSignature,
): boolean {
  const listing = past.find(([user, one]) => user === userId && one === fingerprint)
  const isLate = listing !== undefined && listing[2] > signedAtMs - PHONE_LIST_MS
  return isLate || !COMMON_KEY.test(certificateStatus.algorithm)
}

/** The first person that was listed; null for none, and when several were at once. */
export function soleFirst(listed: readonly [userId: number, sinceMs: number][]): number | null {
  const firstMs = Math.min(...listed.map(([, sinceMs]) => sinceMs))
  const [first, ...others] = listed.filter(([, sinceMs]) => sinceMs === firstMs)
  return first === undefined || others.length > 0 ? null : first[0]
}

/**
 * Judges the names in a person's private chat: nobody but the bot and that person is meant there.
 * @param sinceMs as for `KeyLookups.signer`
 * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
 */
export async function audienceInPrivate(
  personId: number,
  { intended, senders, chatId }: NamingSignature,
  { sinceMs, parts }: { sinceMs: number | undefined; parts: NamedAudienceParts },
): Promise<Audience> {
  const own = parts.keyring.fingerprints
  const others = intended.filter((one) => !own.has(one) && !senders.has(one))
  if (others.length === 0) return 'meant'
  const person = await parts.directory.signer(personId, chatId, sinceMs)
  const past = await parts.keyListHistory.everListed(chatId)
  const theirs = new Set([
    person?.fingerprint,
    ...(person?.certificateStatus.encryptionKeys ?? []),
    ...past.filter(([userId]) => userId === personId).map(([, fingerprint]) => fingerprint),
  ])
  return others.every((one) => theirs.has(one)) ? 'meant' : 'other'
}
