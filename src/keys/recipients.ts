import { Refusal } from '../errors.ts'
import type { CipherSizes } from '../pgp/engine.ts'
import type { KeyList } from './directory.ts'
import type { Person, Unusable } from './person.ts'
import type { Distrust } from './trust.ts'

/** Who gets a message, and who could not. */
export interface Recipients {
  /**
   * Armored certificates, one a person; the bot's own is not among them. The very same array while
   * the same are chosen from the same list.
   */
  certificates: readonly string[]
  /** Greatest octets that the recipient packets of `certificates` take. */
  recipientBytes: CipherSizes
  skipped: Skipped[]
}

/** Somebody who gets nothing, and why. */
export interface Skipped {
  userId: number
  reason: Unusable | Distrust
}

export interface RecipientRules {
  isPrivate: boolean
  /** `skip` sends to the others; `refuse` sends to nobody (setting `seal.unusableRecipient`). */
  unusable: 'skip' | 'refuse'
  botId: number | null
  /** Fingerprints of the bot's own keys. */
  own: ReadonlySet<string>
  /** Why somebody's certificate waits for the operator's word in this chat; null when it does not. */
  distrust: (userId: number, fingerprint: string | null) => Distrust | null
}

/**
 * Chooses the recipients of one message from a chat's key list (DESIGN: Sealing).
 * @throws Refusal `postern_seal_too_large` when nobody was judged because no message fits so many,
 *   `postern_recipients_inconsistent` when the list contradicts itself,
 *   `postern_no_recipient` when it is empty; when nobody is left, or somebody must not be left out,
 *   `postern_trust_required` where the operator's word would help, else `postern_recipient_unusable`
 */
export function chooseRecipients(list: KeyList, rules: RecipientRules): Recipients {
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
  const waiting: Skipped[] = []
  for (const person of people) {
    const { userId, fingerprint, unusable } = person
    const distrust = unusable === null ? rules.distrust(userId, fingerprint) : null
    const reason = unusable ?? distrust
    if (reason === null) usable.push(person)
    else skipped.push({ userId, reason })
    if (distrust !== null) waiting.push({ userId, reason: distrust })
  }
  if (usable.length === 0 || (rules.unusable === 'refuse' && skipped.length > 0)) {
    if (waiting.length > 0) throw new Refusal('postern_trust_required', named(waiting))
    throw new Refusal('postern_recipient_unusable', named(skipped))
  }
  const byFingerprint = new Map(usable.map((person) => [person.fingerprint, person.judgement]))
  const judgements = [...byFingerprint.values()]
  return {
    certificates: asBefore(
      list,
      judgements.map(({ armored }) => armored),
    ),
    recipientBytes: {
      aes256: judgements.reduce((sum, { recipientBytes }) => sum + recipientBytes.aes256, 0),
      aes128: judgements.reduce((sum, { recipientBytes }) => sum + recipientBytes.aes128, 0),
    },
    skipped,
  }
}

/** What was last chosen from a list. */
const chosenFrom = new WeakMap<KeyList, readonly string[]>()

function asBefore(list: KeyList, certificates: string[]): readonly string[] {
  const before = chosenFrom.get(list)
  const isSame =
    before?.length === certificates.length &&
    certificates.every((armored, index) => armored === before[index])
  if (isSame) return before
  chosenFrom.set(list, certificates)
  return certificates
}

/** What a key list says twice or says of the wrong one, in words without anybody's, or null. */
function contradictionIn(list: KeyList, rules: RecipientRules): string | null {
  const { people, memberCount, nameless } = list
  if (nameless > 0) return 'a key that belongs to nobody'
  const fingerprintOf = new Map<number, string | null>()
  const ownerOf = new Map<string, number>()
  for (const { userId, fingerprint, unusable } of people) {
    if (userId === rules.botId) return 'it names the bot'
    if (fingerprint !== null && rules.own.has(fingerprint)) return 'it names the bot’s own key'
    if (fingerprintOf.has(userId) && fingerprintOf.get(userId) !== fingerprint) {
      return `two keys for person ${userId}`
    }
    fingerprintOf.set(userId, fingerprint)
    if (fingerprint === null) continue
    const owner = ownerOf.get(fingerprint) ?? userId
    if (owner !== userId || unusable === 'other-person') {
      return `the key of person ${userId} is somebody else’s`
    }
    ownerOf.set(fingerprint, userId)
  }
  if (rules.isPrivate && fingerprintOf.size > 1) return 'more than one person in a private chat'
  if (memberCount !== undefined && fingerprintOf.size > memberCount) return 'more keys than members'
  return null
}

/** Names at most ten people; ids only. */
export function named(skipped: readonly Skipped[]): string {
  const shown = skipped.slice(0, 10).map(({ userId, reason }) => `${userId} (${reason})`)
  const more = skipped.length > 10 ? ` and ${skipped.length - 10} more` : ''
  return `${shown.join(', ')}${more}`
}
