/** For whom a message was written: its recipients against the people of the chat. */
import type { KeyList, Time } from '../lookups.ts'
import { keyIdOf, type KnownKeys } from '../people/known-keys.ts'
import type { Person } from '../people/person.ts'
import type { Trust } from '../people/trust.ts'
import type { NamedRecipients } from '../../openpgp/index.ts'
import { audienceInGroup, audienceInPrivate, soleFirst } from './named-audience.ts'
import type { Audience, NamedAudienceParts, NamingSignature } from './named-audience.ts'
import type { SenderParts } from './sender-rules.ts'
import type { Judged, SignedContent } from './signatures.ts'
import { withTransientError } from './verdict.ts'

/** The recipients of opened data, and its place. */
export interface Addressed {
  recipients: NamedRecipients
  /** Recipients by the verified signature, fingerprints; empty: it names none. */
  intended: readonly string[]
  /** The date of the verified signature; null: nobody signed. */
  signedAtMs: number | null
  /** Fingerprint of the certificate that verified. */
  signer: string | null
  chatId: number
  fromId: number | null
  /** When it arrived (`Time.monotonicMs`): a later answer counts as asked afresh. */
  receivedAtMs: number
}

export interface AudienceParts extends NamedAudienceParts {
  knownChats: SenderParts['knownChats']
  knownKeys: Pick<KnownKeys, 'ownersOf'>
  time: Time
  /** Setting `open.audience`. */
  audience: 'check' | 'off'
}

const KEY_ID_BYTES = 8
/** The age of a list that suffices to deliver; before withholding it is asked afresh. */
const LIST_MAX_AGE_MS = 600_000

/**
 * The audience of opened data, by the recipients that a verified signature names. Without names: a
 * group's sender is on the list, and another of the list is a recipient; a private chat has no third
 * recipient. Unknown keys are no evidence: recipient packets are not authenticated.
 * @throws ServiceError, NoResponseError, Refusal when the people of the chat cannot be asked for
 */
export async function audienceOf(message: Addressed, parts: AudienceParts): Promise<Audience> {
  const { fromId, intended, chatId, signer } = message
  if (parts.audience === 'off' || fromId === null) return 'meant'
  const { knownChats, directory, time } = parts
  const sent = { ...message, fromId }
  if (!knownChats.isPrivate(chatId)) {
    return await judgeTwice(fromId, sent, parts, async (sinceMs) => {
      const list = await directory.keyList(chatId, sinceMs ?? time.monotonicMs() - LIST_MAX_AGE_MS)
      return await judgeByList(list, sent, parts)
    })
  }
  if (intended.length === 0) return (await isForThirdPerson(sent, parts)) ? 'other' : 'meant'
  const personId = knownChats.personOf(chatId) ?? fromId
  const naming = namingOf(sent, new Set(signer === null ? [] : [signer]))
  return await judgeTwice(personId, sent, parts, (sinceMs) =>
    audienceInPrivate(personId, naming, { sinceMs, parts }),
  )
}

/**
 * Judges by known answers of the service, and before a message is withheld once more by fresh ones.
 * @param judge gets `sinceMs`: how old an answer may be; undefined: as old as suffices to deliver
 */
async function judgeTwice(
  userId: number,
  { chatId, receivedAtMs }: SentByPerson,
  { directory }: AudienceParts,
  judge: (sinceMs: number | undefined) => Promise<Audience>,
): Promise<Audience> {
  const first = await judge(undefined)
  if (first === 'meant' || !directory.mayAskAgain(userId, chatId)) return first
  const fresh = await judge(receivedAtMs)
  directory.askedInVain(userId, chatId)
  return fresh
}

/**
 * A judgement by signatures, and whether the message was written for another chat. Where the people
 * of the chat cannot be fetched, a deliverable message is withheld.
 */
export async function judgeAudience(
  judged: Judged,
  opened: SignedContent & { recipients: NamedRecipients },
  place: Pick<Addressed, 'chatId' | 'fromId' | 'receivedAtMs'>,
  parts: AudienceParts,
): Promise<{ judged: Judged; isForOtherChat: boolean }> {
  const { verdict, signatureDigest } = judged
  if (verdict !== 'verified' && verdict !== 'unsigned') return { judged, isForOtherChat: false }
  const valid = opened.signatures.find(({ digest }) => digest === signatureDigest)
  const { recipients } = opened
  const message = {
    ...place,
    recipients,
    intended: valid?.intended ?? [],
    signedAtMs: judged.signedAtMs ?? null,
    signer: judged.signer ?? null,
  }
  try {
    const audience = await audienceOf(message, parts)
    // the reason that may withhold the words is first
    const isSaid = audience === 'not-for-all' && judged.reason !== 'signed-long-before'
    const reasoned = isSaid ? { ...judged, reason: 'not-for-all' as const } : judged
    return { judged: reasoned, isForOtherChat: audience === 'other' }
  } catch (error) {
    const unavailable: Judged = { verdict: 'signer-unavailable', reason: 'audience-unavailable' }
    return { judged: withTransientError(unavailable, error), isForOtherChat: false }
  }
}

type SentByPerson = Addressed & { fromId: number }

const namingOf = (message: SentByPerson, senders: ReadonlySet<string>): NamingSignature => ({
  ...message,
  signedAtMs: message.signedAtMs ?? 0,
  senders,
})

async function isForThirdPerson(message: SentByPerson, parts: AudienceParts): Promise<boolean> {
  const { chatId, fromId, recipients, receivedAtMs } = message
  const { directory, knownKeys, knownChats } = parts
  if (recipients.hasUnnamed) return false
  const keyIds = [...recipientsBut(ownKeyIds(parts), recipients)]
  const insiders = new Set([fromId, knownChats.personOf(chatId) ?? fromId])
  const isThird = (people: ReadonlyMap<number, number>): boolean => {
    // without a signature, a key is evidence of one person alone
    const who =
      message.signedAtMs === null ? [speakerOf(people, parts.trust) ?? Number.NaN] : people.keys()
    return insiders.isDisjointFrom(new Set(who))
  }
  const hasThird = async (): Promise<boolean> => {
    const owners = await knownKeys.ownersOf(keyIds)
    return [...owners.values()].some(isThird)
  }
  if (keyIds.length === 0 || !(await hasThird())) return false
  // a third person may list a subkey of an insider whose own certificate is unknown
  insiders.delete(parts.botId() ?? Number.NaN)
  for (const userId of insiders) {
    if (!directory.mayAskAgain(userId, chatId)) continue
    await directory.signer(userId, chatId, receivedAtMs)
    directory.askedInVain(userId, chatId)
  }
  return await hasThird()
}

/**
 * The owner of a key that several list, since anybody can list another's subkey: the first of them, or
 * of those with a certificate named by the operator; nobody where two are first.
 */
function speakerOf(owners: ReadonlyMap<number, number>, trust: Pick<Trust, 'standingOf'>) {
  const isNamed = ([userId]: [number, number]): boolean =>
    ['accepted', 'verified'].includes(trust.standingOf(userId) ?? '')
  const named = [...owners].filter(isNamed)
  return soleFirst(named.length > 0 ? named : [...owners])
}

async function judgeByList(
  list: KeyList,
  message: SentByPerson,
  parts: AudienceParts,
): Promise<Audience> {
  const { fromId, signer, intended } = message
  const sender = await senderOf(list, message, parts)
  const isListed = list.people.some(({ userId }) => userId === fromId)
  const hasCertificate = sender !== null && sender.fingerprint !== null
  if (list.tooMany === null && hasCertificate && !isListed) return 'other'
  if (intended.length > 0) {
    const theirs = [signer, sender?.fingerprint, ...keysOf(sender)]
    const senders = new Set(theirs.filter((one) => typeof one === 'string'))
    return await audienceInGroup(list, namingOf(message, senders), parts)
  }
  return (await isStrangeTo(list, { message, sender }, parts)) ? 'other' : 'meant'
}

/**
 * Whether everybody of a group among the recipients, the bot aside, may be one and the same person,
 * although others could be: the sender, or without a signature, which names the sender, anybody.
 */
async function isStrangeTo(
  list: KeyList,
  { message, sender }: { message: SentByPerson; sender: Person | null },
  parts: AudienceParts,
): Promise<boolean> {
  const { fromId, recipients } = message
  const others = list.people.filter(({ userId }) => userId !== fromId && userId !== parts.botId())
  // a copy of the sender's certificate or of ours makes no other reader; a shared subkey does, since
  // a message to one cannot be distinguished from a private message
  const copied = new Set([sender?.fingerprint, ...parts.keyring.fingerprints])
  const isReader = ({ unusable, fingerprint }: Person): boolean =>
    unusable === null && !copied.has(fingerprint)
  if (list.tooMany === null && !others.some(isReader)) return false
  if (recipients.hasUnnamed) return false
  const listers = listersIn(list)
  const senderKeyIds = new Set(keysOf(sender).map(keyIdOf))
  let alone: Set<number> | null = message.signedAtMs === null ? null : new Set([fromId])
  const reachesMore = (readers: Set<number>): boolean => {
    alone = alone?.intersection(readers) ?? readers
    return alone.size === 0
  }
  const strange: string[] = []
  for (const keyId of recipientsBut(ownKeyIds(parts), recipients)) {
    const readers = new Set(listers.get(keyId))
    if (senderKeyIds.has(keyId)) readers.add(fromId)
    if (readers.size === 0) strange.push(keyId)
    else if (reachesMore(readers)) return false
  }
  const owners = await parts.knownKeys.ownersOf(strange)
  const people = new Set([fromId, ...others.map(({ userId }) => userId)])
  return strange.every((keyId) => {
    const listedWith = owners.get(keyId)
    if (listedWith === undefined) return false
    const readers = people.intersection(listedWith)
    return readers.size === 0 || !reachesMore(readers)
  })
}

const keysOf = (person: Person | null): readonly string[] =>
  person?.certificateStatus.encryptionKeys ?? []

/** The sender with a certificate, by the list or by the person's own record. */
async function senderOf(
  list: KeyList,
  { fromId, chatId }: SentByPerson,
  { directory, botId }: AudienceParts,
): Promise<Person | null> {
  if (fromId === botId()) return null
  const listed = list.people.find(({ userId }) => userId === fromId)
  return listed ?? (await directory.signer(fromId, chatId))
}

const ownKeyIds = ({ keyring }: AudienceParts): Set<string> =>
  new Set(keyring.unlocked.flatMap(({ keyIds }) => keyIds))

/** Key ids of recipients outside a set, one by one: in a large group the first suffices. */
function* recipientsBut(
  taken: ReadonlySet<string>,
  { keyIds }: NamedRecipients,
): Generator<string> {
  const bytes = Buffer.from(keyIds.buffer, keyIds.byteOffset, keyIds.length)
  for (let at = 0; at < bytes.length; at += KEY_ID_BYTES) {
    const keyId = bytes.toString('hex', at, at + KEY_ID_BYTES)
    if (!taken.has(keyId)) yield keyId
  }
}

const listersOfList = new WeakMap<KeyList, ReadonlyMap<string, readonly number[]>>()

function listersIn(list: KeyList): ReadonlyMap<string, readonly number[]> {
  const known = listersOfList.get(list)
  if (known !== undefined) return known
  const listers = new Map<string, number[]>()
  for (const { userId, certificateStatus } of list.people) {
    for (const keyId of certificateStatus.encryptionKeys.map(keyIdOf)) {
      listers.set(keyId, [...(listers.get(keyId) ?? []), userId])
    }
  }
  listersOfList.set(list, listers)
  return listers
}
