/** The recipients of a message into a chat. */
import { Refusal } from '../../errors.ts'
import type { CertificateStatus, CipherSizes } from '../../openpgp/index.ts'
import { ALLOWED, denied, type Decision } from '../decision.ts'
import type { KeyList } from '../lookups.ts'
import type { OwnKeys } from '../own-key/own-key.ts'
import type { KnownChats } from '../wall/known-chats.ts'
import type { KeyListHistory } from './key-list-history.ts'
import type { People } from './people.ts'
import { decisionAgainst, listsKeyOf } from './person.ts'
import type { DecisionAgainst, Person, Unusable } from './person.ts'
import type { Trust } from './trust.ts'

/** The recipients of a message, and the people left out. */
export interface Recipients {
  /** Armored, of others, one for each key; the same array while the same are chosen from a list. */
  certificates: readonly string[]
  /** The most bytes of the recipient packets of `certificates`. */
  recipientBytes: CipherSizes
  skipped: Skipped[]
}

export interface Skipped {
  userId: number
  reason: Unusable | DecisionAgainst | 'own-key'
}

export interface RecipientRules {
  isPrivate: boolean
  /** Whose private chat it is; null while unknown, and for any other chat. */
  personId: number | null
  /** `skip` sends to the others; `refuse` sends to nobody (setting `seal.unusableRecipient`). */
  unusable: 'skip' | 'refuse'
  botId: number | null
  /** Fingerprints of all keys that ever were the bot's, primary keys and subkeys. */
  own: ReadonlySet<string>
  /** Changes whenever an answer of `decisionAgainst` may have changed. */
  epoch: number
  /** The decision against a person's certificate in this chat; null where there is none. */
  decisionAgainst: (person: Person) => DecisionAgainst | null
}

export interface RecipientParts {
  knownChats: KnownChats
  keyring: OwnKeys
  people: People
  trust: Trust
  keyListHistory: KeyListHistory
  botId: () => number | null
  /** Setting `seal.unusableRecipient`. */
  unusableRecipient: 'skip' | 'refuse'
}

/**
 * The recipients of a message by a chat's key list. The first person of a private chat is recorded
 * before anything is sealed to them.
 * @throws as `chooseRecipients` does; Refusal `postern_store_unwritable`
 */
export async function recipientsOf(
  chatId: number,
  list: KeyList,
  parts: RecipientParts,
): Promise<Recipients> {
  const { knownChats, keyListHistory, botId } = parts
  if (knownChats.isPrivate(chatId) && knownChats.personOf(chatId) === null) {
    const userId = solePersonOf(list, botId())
    if (userId !== null) await knownChats.saw([{ chatId, userId }])
  }
  try {
    // without an await from here on: of two sends with different lists, one is refused
    return chooseRecipients(list, recipientRules(chatId, parts))
  } catch (error) {
    if (error instanceof Refusal && error.code === 'postern_recipients_inconsistent') {
      const stranger = strangerIn(list, [knownChats.personOf(chatId), botId()])
      await keyListHistory.contradicts(chatId, {
        why: error.message,
        ...(stranger !== undefined && { stranger }),
      })
    }
    throw error
  }
}

export const recipientRules = (
  chatId: number,
  { knownChats, keyring, people, trust, unusableRecipient, botId }: RecipientParts,
): RecipientRules => ({
  isPrivate: knownChats.isPrivate(chatId),
  personId: knownChats.personOf(chatId),
  unusable: unusableRecipient,
  botId: botId(),
  own: keyring.fingerprints,
  epoch: trust.epoch.value,
  decisionAgainst: (person) => decisionAgainst(person, chatId, { people, trust }),
})

/** Somebody on the list of a private chat beside its person and the bot. */
function strangerIn(
  { people }: KeyList,
  [personId, botId]: [number | null, number | null],
): number | undefined {
  if (personId === null) return undefined
  return people.find(({ userId }) => userId !== personId && userId !== botId)?.userId
}

/**
 * Chooses the recipients of one message from a chat's key list, person by person. A
 * person with a key of the bot's, or with a certificate that the operator knows as another's, is
 * always left out, for any value of `unusable`: else any member could silence a group.
 * @throws Refusal `postern_seal_too_large` for a list that fits no message,
 *   `postern_recipients_inconsistent` for a contradiction, `postern_no_recipient` for nobody; when all
 *   are left out, or one must not be: `postern_trust_required`, `postern_recipient_unusable`
 */
export function chooseRecipients(list: KeyList, rules: RecipientRules): Recipients {
  const before = chosenFrom.get(list)
  const { isPrivate, personId, unusable, botId, own, epoch } = rules
  const depends = [list.people, isPrivate, personId, unusable, botId, own, epoch]
  if (before?.depends.every((one, index) => one === depends[index]) === true) {
    return before.recipients
  }
  const recipients = choose(list, rules, before?.recipients.certificates)
  chosenFrom.set(list, { depends, recipients })
  return recipients
}

/** The last choice from each list with its rules: a thousand people are not judged at each send. */
const chosenFrom = new WeakMap<KeyList, { depends: unknown[]; recipients: Recipients }>()

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
    const decision = mayReceive(person, rules)
    if (decision.allowed) usable.push(person)
    else skipped.push({ userId: person.userId, reason: decision.reason })
  }
  const missed = usable.length === 0 ? skipped : skipped.filter(isOwnFault)
  if (usable.length === 0 || (rules.unusable === 'refuse' && missed.length > 0)) {
    const waiting = missed.filter(isForOperator)
    if (waiting.length > 0) throw new Refusal('postern_trust_required', describeSkipped(waiting))
    throw new Refusal('postern_recipient_unusable', describeSkipped(missed))
  }
  const chosen = oncePerSubkey(usable)
  const armored = chosen.map((one) => one.armored)
  return {
    certificates: asBefore(armored, before),
    recipientBytes: {
      aes256: chosen.reduce((sum, { recipientBytes }) => sum + recipientBytes.aes256, 0),
      aes128: chosen.reduce((sum, { recipientBytes }) => sum + recipientBytes.aes128, 0),
    },
    skipped,
  }
}

/** The only person on a list, hence of a private chat; null for nobody, several or a contradiction. */
export function solePersonOf(list: KeyList, botId: number | null): number | null {
  const [first] = list.people
  const rules = { isPrivate: true, personId: null, botId }
  const isPlain = list.tooMany === null && contradictionIn(list, rules) === null
  return first !== undefined && isPlain ? first.userId : null
}

/**
 * Whether a person may receive a message: first by the owner of the certificate, then by its own
 * state, then by trust.
 */
export function mayReceive(
  person: Person,
  rules: Pick<RecipientRules, 'own' | 'decisionAgainst'>,
): Decision<Skipped['reason']> {
  if (listsKeyOf(person, rules.own)) return denied('own-key')
  const against = rules.decisionAgainst(person)
  const reason = against === 'other-person' ? against : (person.unusable ?? against)
  return reason === null ? ALLOWED : denied(reason)
}

const isOwnFault = ({ reason }: Skipped): boolean =>
  reason !== 'own-key' && reason !== 'other-person'

const DECISIONS: DecisionAgainst[] = ['blocked', 'key-changed', 'not-accepted', 'other-person']

const isForOperator = ({ reason }: Skipped): boolean => DECISIONS.some((one) => one === reason)

/**
 * One certificate for each key, since anybody can put a subkey under their own primary key: preferably
 * one with no other key. Where there is none, each is sealed to.
 */
function oncePerSubkey(usable: readonly Person[]): CertificateStatus[] {
  const bySubkey = Map.groupBy(
    usable,
    ({ certificateStatus, fingerprint }) => certificateStatus.encryptionKeys[0] ?? fingerprint,
  )
  return [...bySubkey.values()].flatMap((people) => {
    const statuses = people.map(({ certificateStatus }) => certificateStatus)
    const plain = statuses.find(({ encryptionKeys }) => encryptionKeys.length === 1)
    if (plain !== undefined) return [plain]
    return [...new Map(statuses.map((one) => [one.fingerprint, one])).values()]
  })
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

/** Why no honest service can give this key list; null when it can. */
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
    return `keys: ${count}, members with the bot: ${memberCount}`
  }
  return null
}

/** Names at most ten people; ids only. */
function describeSkipped(skipped: readonly Skipped[]): string {
  const shown = skipped.slice(0, 10).map(({ userId, reason }) => `${userId} (${reason})`)
  const more = skipped.length > 10 ? ` and ${skipped.length - 10} more` : ''
  return `${shown.join(', ')}${more}`
}
