/** For whom a message was written: its recipients against the people of the chat (DESIGN: Opening). */
import { monotonicNow } from '../fresh-cache.ts'
import type { Directory, KeyList } from '../keys/directory.ts'
import type { Keyring } from '../keys/keyring.ts'
import { keyIdOf, type KnownKeys } from '../keys/known-keys.ts'
import type { Person } from '../keys/person.ts'
import type { NamedRecipients } from '../openpgp/engine.ts'
import { passingOf } from './passing.ts'
import type { Judged, SignedContent } from './signatures.ts'

export interface AudienceParts {
  directory: Pick<Directory, 'keyList' | 'signer' | 'mayAskAgain' | 'askedInVain'>
  keyring: Pick<Keyring, 'unlocked' | 'fingerprints'>
  knownKeys: Pick<KnownKeys, 'ownersOf'>
  knownChats: { isPrivate(chatId: number): boolean; personOf(chatId: number): number | null }
  botId: () => number | null
  /** Setting `open.audience`. */
  audience: 'check' | 'off'
}

/** To whom something is sealed, and where it was found. */
export interface Addressed {
  recipients: NamedRecipients
  /** Fingerprints that the verified signature names as recipients; empty: it names none. */
  intended: readonly string[]
  chatId: number
  fromId: number | null
  /** When it reached us (by `monotonicNow`): what was asked later counts as asked afresh. */
  receivedAtMs: number
}

const KEY_ID_BYTES = 8
/** How old a list may be to find somebody of the group; before anything is withheld it is asked afresh. */
const LIST_MAX_AGE_MS = 600_000

/**
 * Whether something that was opened was written for another chat. Of a group: all recipients can be
 * seen, and once our keys and the sender's are taken away, nobody of the group is among them. Of a
 * private chat: a third person is among them. Recipients who are not named, and keys that nobody
 * was seen with, tell nothing. Recipient packets are not authenticated: a service that adds a
 * made-up one gets past this, unless the signature names its recipients.
 * @throws ServiceError, NoResponseError, Refusal when the people of the chat cannot be asked for
 */
export async function isForOtherChat(message: Addressed, parts: AudienceParts): Promise<boolean> {
  const { fromId, recipients } = message
  if (parts.audience === 'off' || fromId === null) return false
  const isGroup = !parts.knownChats.isPrivate(message.chatId)
  if (recipients.hasUnnamed && message.intended.length === 0) return false
  return isGroup
    ? await isForOtherGroup({ ...message, fromId }, parts)
    : await isForThirdPerson({ ...message, fromId }, parts)
}

/**
 * What was judged by its signatures, and whether it was written for another chat. Where the people
 * of the chat cannot be asked for, what would be delivered is not.
 */
export async function judgeAudience(
  judged: Judged,
  opened: SignedContent & { recipients: NamedRecipients },
  place: Omit<Addressed, 'recipients' | 'intended'>,
  parts: AudienceParts,
): Promise<{ judged: Judged; isForOtherChat: boolean }> {
  const { verdict, signatureDigest } = judged
  if (verdict !== 'verified' && verdict !== 'unsigned') return { judged, isForOtherChat: false }
  const valid = opened.signatures.find(({ digest }) => digest === signatureDigest)
  const message = { ...place, recipients: opened.recipients, intended: valid?.intended ?? [] }
  try {
    return { judged, isForOtherChat: await isForOtherChat(message, parts) }
  } catch (error) {
    const passing = passingOf(error)
    const unavailable = { verdict: 'signer-unavailable', reason: 'audience-unavailable' } as const
    return { judged: passing ? { ...unavailable, passing } : unavailable, isForOtherChat: false }
  }
}

type SentByPerson = Addressed & { fromId: number }

async function isForThirdPerson(message: SentByPerson, parts: AudienceParts): Promise<boolean> {
  const { chatId, fromId, recipients, receivedAtMs } = message
  const { directory, knownKeys, knownChats } = parts
  if (recipients.hasUnnamed) return false
  const keyIds = [...recipientsBut(ownKeyIds(parts), recipients)]
  const insiders = new Set([fromId, knownChats.personOf(chatId) ?? fromId])
  const hasThird = async (): Promise<boolean> => {
    const owners = await knownKeys.ownersOf(keyIds)
    return [...owners.values()].some((people) => !haveCommon(people, insiders))
  }
  if (keyIds.length === 0 || !(await hasThird())) return false
  // A third person may list an insider's subkey, whose own certificate was never asked for.
  insiders.delete(parts.botId() ?? Number.NaN)
  for (const userId of insiders) {
    if (!directory.mayAskAgain(userId, chatId)) continue
    await directory.signer(userId, chatId, receivedAtMs)
    directory.askedInVain(userId, chatId)
  }
  return await hasThird()
}

async function isForOtherGroup(message: SentByPerson, parts: AudienceParts): Promise<boolean> {
  const { chatId, fromId, receivedAtMs } = message
  const { directory } = parts
  const known = await directory.keyList(chatId, monotonicNow() - LIST_MAX_AGE_MS)
  if (!(await isStrangeTo(known, message, parts))) return false
  if (!directory.mayAskAgain(fromId, chatId)) return true
  const fresh = await directory.keyList(chatId, receivedAtMs)
  directory.askedInVain(fromId, chatId)
  return fresh !== known ? await isStrangeTo(fresh, message, parts) : true
}

/** Whether nobody of a group is among the recipients, although others could be. */
async function isStrangeTo(
  list: KeyList,
  message: SentByPerson,
  parts: AudienceParts,
): Promise<boolean> {
  const { fromId, recipients, intended } = message
  const isOther = (userId: number): boolean => userId !== fromId && userId !== parts.botId()
  const others = list.people.filter(({ userId }) => isOther(userId))
  const sender = await senderOf(list, message, parts)
  const taken = new Set([...ownKeyIds(parts), ...(sender?.encryptionKeys ?? []).map(keyIdOf)])
  // Whoever lists a copy of the sender's certificate, or of ours, is no other reader. A subkey of
  // theirs under another primary key is: that it is all she has cannot be told from a private word.
  const copied = new Set([sender?.fingerprint, ...parts.keyring.fingerprints])
  const isReader = ({ unusable, fingerprint }: Person): boolean =>
    unusable === null && !copied.has(fingerprint)
  // of a list that is too long nobody was judged
  if (list.tooMany === null && !others.some(isReader)) return false
  if (intended.length > 0) {
    const own = parts.keyring.unlocked.flatMap(({ fingerprints }) => fingerprints)
    const known = new Set([...own, sender?.fingerprint, ...(sender?.encryptionKeys ?? [])])
    if (intended.every((fingerprint) => known.has(fingerprint))) return true
  }
  if (recipients.hasUnnamed) return false
  const inList = keyIdsOf(list)
  const strange: string[] = []
  for (const keyId of recipientsBut(taken, recipients)) {
    if (inList.has(keyId)) return false
    strange.push(keyId)
  }
  const owners = await parts.knownKeys.ownersOf(strange)
  const people = new Set(others.map(({ userId }) => userId))
  return strange.every((keyId) => {
    const listedWith = owners.get(keyId)
    if (listedWith === undefined) return false
    return listedWith.has(fromId) || !haveCommon(listedWith, people)
  })
}

function haveCommon(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  return [...one].some((userId) => other.has(userId))
}

/** The sender's certificate, by the list or by the person's own record. */
async function senderOf(
  list: KeyList,
  { fromId, chatId }: SentByPerson,
  { directory, botId }: AudienceParts,
): Promise<{ fingerprint: string | null; encryptionKeys: readonly string[] } | null> {
  if (fromId === botId()) return null
  const listed = list.people.find(({ userId }) => userId === fromId)
  const person = listed ?? (await directory.signer(fromId, chatId))
  if (person === null) return null
  return {
    fingerprint: person.fingerprint,
    encryptionKeys: person.certificateStatus.encryptionKeys,
  }
}

function ownKeyIds({ keyring }: AudienceParts): Set<string> {
  return new Set(keyring.unlocked.flatMap(({ keyIds }) => keyIds))
}

/** Key ids of recipients who are not in a set; in a large group the first tells, so one by one. */
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

const listed = new WeakMap<KeyList, ReadonlySet<string>>()

/** Made once for each list. */
function keyIdsOf(list: KeyList): ReadonlySet<string> {
  const known = listed.get(list)
  if (known !== undefined) return known
  const all = list.people.flatMap(({ certificateStatus }) =>
    certificateStatus.encryptionKeys.map(keyIdOf),
  )
  const keyIds = new Set(all)
  listed.set(list, keyIds)
  return keyIds
}
