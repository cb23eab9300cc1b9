import { Refusal } from '../../errors.ts'
import type { CertificateStatus, CipherSizes } from '../../openpgp/index.ts'
import type { KeyList } from '../lookups.ts'
import { listsKeyOf } from './own-key-listings.ts'
import type { Pair } from './people.ts'
import type { Person, Unusable } from './person.ts'
import type { Distrust } from './trust.ts'

/** Who gets a message, and who could not. */
export interface Recipients {
  /**
   * Armored certificates, one for each key that is sealed to; the bot's own is not among them. The
   * very same array while the same are chosen from the same list.
   */
  certificates: readonly string[]
  /** Most bytes that the recipient packets of `certificates` take. */
  recipientBytes: CipherSizes
  skipped: Skipped[]
}

/** Somebody who gets nothing, and why. */
export interface Skipped {
  userId: number
  reason: Unusable | Distrust | NotTheirs
}

/** A certificate that the service lists for somebody, and that is the bot's or another person's. */
type NotTheirs = 'own-key' | 'other-person'

export interface RecipientRules {
  isPrivate: boolean
  /** Whose private chat it is; null while that is not known, and for any other chat. */
  personId: number | null
  /** `skip` sends to the others; `refuse` sends to nobody (setting `seal.unusableRecipient`). */
  unusable: 'skip' | 'refuse'
  botId: number | null
  /** Fingerprints of all keys that ever were the bot's, primary keys and subkeys. */
  own: ReadonlySet<string>
  /** Whether the operator has named somebody else as a certificate's owner. */
  isOthers: (pair: Pair) => boolean
  /** Changes whenever an answer of `isOthers` or `distrust` may have changed. */
  epoch: number
  /**
   * Why somebody's certificate awaits the operator's decision in this chat; null when it does not.
   */
  distrust: (userId: number, fingerprint: string | null) => Distrust | null
}

/**
 * Chooses the recipients of one message from a chat's key list, person by person: what one
 * publishes harms nobody else (DESIGN: Sealing). Who lists a key of the bot's, or a certificate
 * that the operator knows as another's, has none of their own: they are left out and named whatever
 * `unusable` says, or any member could silence a group.
 * @throws Refusal `postern_seal_too_large` when nobody was judged because no message fits so many,
 *   `postern_recipients_inconsistent` when the list says what no honest service can,
 *   `postern_no_recipient` when it is empty; when nobody is left, or somebody must not be left out,
 *   `postern_trust_required` where the operator's decision would help, else
 *   `postern_recipient_unusable`
 */
export function chooseRecipients(list: KeyList, rules: RecipientRules): Recipients {
  const before = chosenFrom.get(list)
  const depends = dependenciesOf(list, rules)
  if (before?.depends.every((one, index) => one === depends[index]) === true) {
    return before.recipients
  }
  const recipients = choose(list, rules, before?.recipients.certificates)
  chosenFrom.set(list, { depends, recipients })
  return recipients
}

/** What was last chosen from a list, and by what: a thousand people are not judged at each send. */
const chosenFrom = new WeakMap<KeyList, { depends: unknown[]; recipients: Recipients }>()

function dependenciesOf({ people }: KeyList, rules: RecipientRules): unknown[] {
  const { isPrivate, personId, unusable, botId, own, epoch } = rules
  return [people, isPrivate, personId, unusable, botId, own, epoch]
}

function choose(
  list: KeyList,
  rules: RecipientRules,
  before: readonly string[] | undefined,
): Recipients {
  const { people, tooMany } = list
  if (tooMany !== null) {
    const count = `${tooMany + 1} recipients are more than fit into any message`
    throw new Refusal('postern_seal_too_large', count)
  }
  const contradiction = contradictionIn(list, rules)
  if (contradiction !== null) throw new Refusal('postern_recipients_inconsistent', contradiction)
  if (people.length === 0) throw new Refusal('postern_no_recipient')
  const usable: Person[] = []
  const skipped: Skipped[] = []
  for (const person of people) {
    const reason = whyNot(person, rules)
    if (reason === null) usable.push(person)
    else skipped.push({ userId: person.userId, reason })
  }
  const missed = usable.length === 0 ? skipped : skipped.filter(({ reason }) => isOwnFault(reason))
  if (usable.length === 0 || (rules.unusable === 'refuse' && missed.length > 0)) {
    const waiting = missed.filter(({ reason }) => isForOperator(reason))
    if (waiting.length > 0) throw new Refusal('postern_trust_required', describeSkipped(waiting))
    throw new Refusal('postern_recipient_unusable', describeSkipped(missed))
  }
  const certificates = oncePerSubkey(usable)
  return {
    certificates: asBefore(
      certificates.map(({ armored }) => armored),
      before,
    ),
    recipientBytes: {
      aes256: certificates.reduce((sum, { recipientBytes }) => sum + recipientBytes.aes256, 0),
      aes128: certificates.reduce((sum, { recipientBytes }) => sum + recipientBytes.aes128, 0),
    },
    skipped,
  }
}

/**
 * The one person whom a list names, from which a private chat learns whose it is; null when the
 * list names nobody or several, or contradicts itself.
 */
export function solePersonOf(list: KeyList, botId: number | null): number | null {
  const [first] = list.people
  const rules = { isPrivate: true, personId: null, botId }
  const isPlain = list.tooMany === null && contradictionIn(list, rules) === null
  return first !== undefined && isPlain ? first.userId : null
}

/** Why a person would be left out of a message; null when it is sealed to them. */
export function whyNot(
  person: Person,
  { own, isOthers, distrust }: Pick<RecipientRules, 'own' | 'isOthers' | 'distrust'>,
): Skipped['reason'] | null {
  const { userId, fingerprint, unusable } = person
  if (fingerprint !== null) {
    if (listsKeyOf(person, own)) return 'own-key'
    if (isOthers({ fingerprint, userId })) return 'other-person'
  }
  return unusable ?? distrust(userId, fingerprint)
}

const isOwnFault = (reason: Skipped['reason']): boolean =>
  reason !== 'own-key' && reason !== 'other-person'

const FOR_OPERATOR = new Set<string>([
  'blocked',
  'key-changed',
  'not-accepted',
  'other-person',
] satisfies (Distrust | NotTheirs)[])

const isForOperator = (reason: Skipped['reason']): boolean => FOR_OPERATOR.has(reason)

/**
 * One certificate for each key that is sealed to, however many list it: a subkey can be put under
 * anybody's primary key. A certificate with no other key can only be sealed to that one; where none
 * is so plain, each is sealed to, lest somebody's own certificate goes elsewhere later.
 */
function oncePerSubkey(usable: readonly Person[]): CertificateStatus[] {
  const bySubkey = new Map<string, Person>()
  const beside: CertificateStatus[] = []
  for (const person of usable) {
    const { certificateStatus, fingerprint } = person
    const subkey = certificateStatus.encryptionKeys[0] ?? fingerprint ?? ''
    const known = bySubkey.get(subkey)
    if (known === undefined) bySubkey.set(subkey, person)
    else if (
      known.fingerprint === fingerprint ||
      known.certificateStatus.encryptionKeys.length === 1
    )
      continue
    else if (certificateStatus.encryptionKeys.length === 1) bySubkey.set(subkey, person)
    else beside.push(certificateStatus)
  }
  return [...Array.from(bySubkey.values(), ({ certificateStatus }) => certificateStatus), ...beside]
}

function asBefore(
  certificates: string[],
  before: readonly string[] | undefined,
): readonly string[] {
  const isSame =
    before?.length === certificates.length &&
    certificates.every((armored, index) => armored === before[index])
  return isSame ? before : certificates
}

/** Why no honest service can give this key list, without anybody's words; null when it can. */
function contradictionIn(
  list: KeyList,
  rules: Pick<RecipientRules, 'isPrivate' | 'personId' | 'botId'>,
): string | null {
  const { people, memberCount = Infinity, nameless } = list
  const { botId, isPrivate, personId } = rules
  if (nameless > 0) return 'a key that belongs to nobody'
  const fingerprintOf = new Map<number, string | null>()
  for (const { userId, fingerprint } of people) {
    if (userId === botId) return 'it names the bot'
    if (isPrivate && personId !== null && userId !== personId) {
      return `it names ${userId}, and the private chat is person ${personId}’s`
    }
    const other = fingerprintOf.get(userId)
    if (other !== undefined && other !== fingerprint) return `two keys for person ${userId}`
    fingerprintOf.set(userId, fingerprint)
  }
  const count = fingerprintOf.size
  if (isPrivate && count > 1) return 'more than one person in a private chat'
  // the bot is a member too, and is not on the list
  if (count > 0 && count > memberCount - 1) {
    return `${count} keys for ${memberCount} members, one of which is the bot`
  }
  return null
}

/** Names at most ten people; ids only. */
function describeSkipped(skipped: readonly Skipped[]): string {
  const shown = skipped.slice(0, 10).map(({ userId, reason }) => `${userId} (${reason})`)
  const more = skipped.length > 10 ? ` and ${skipped.length - 10} more` : ''
  return `${shown.join(', ')}${more}`
}
