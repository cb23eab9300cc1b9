/** Steps of vectors of chats, whose outcome depends on earlier steps. */
import { armor } from '../../support/openpgp-framing.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  userId,
} from '../../support/openpgp-certificate.ts'
import { literal, signedLiteral, type SigningOptions } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { NOW_MS, bot, testPerson, type TestPerson } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import { intendedRecipient } from '../../support/openpgp-signature.ts'

/** A record of a chat's key list (`GET /chats/{chatId}/keys`). */
interface KeyRecord {
  userId: number
  fingerprint: string
  publicKey: string
}

/** What happens, in order. Every chat is protected. */
export type ChatStep =
  /** From now on this is the chat's key list. */
  | { keys: KeyRecord[]; chatId: number; kind: 'private' | 'group' }
  /** A Message is delivered to the bot. */
  | { message: Record<string, unknown> }
  /** The bot requests the update of the step before again. */
  | { again: true }
  /** The bot sends words. */
  | { send: { chatId: number; text: string } }

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
/** When the bot's key was published: `published` in the headers. */
const PUBLISHED_MS = NOW_MS - 24 * HOUR_MS

const sealed = (label: string, inner: Uint8Array): string => {
  const key = sessionKey(label)
  return armor(concat(pkesk(bot.subkey, key), seipd(inner, key)))
}

interface Somebody extends TestPerson {
  id: number
  record: KeyRecord
  /** A text that they signed and sealed to the bot. */
  signed(text: string, more?: Partial<SigningOptions>): string
}

let count = 0

/** Another person for every vector, so that all can be run against one reader. */
function somebody(name: string): Somebody {
  const person = testPerson(name)
  const id = 7000 + ++count
  const { fingerprint } = person.primary
  return {
    ...person,
    id,
    record: { userId: id, fingerprint, publicKey: person.certificate },
    signed: (text, more = {}) => {
      const by = { signer: person.primary, atMs: NOW_MS, ...more }
      return sealed(`${name} ${text}`, signedLiteral(text, by))
    },
  }
}

/** A protected chat with steps that are put together in order. */
class Chat {
  readonly steps: ChatStep[] = []
  readonly id: number
  readonly kind: 'private' | 'group'

  constructor(kind: 'private' | 'group') {
    this.kind = kind
    this.id = 70_000 + ++count
  }

  lists(...keys: KeyRecord[]): this {
    this.steps.push({ keys, chatId: this.id, kind: this.kind })
    return this
  }

  says(from: Somebody, body: { armored: string } | { text: string }, dateMs = NOW_MS): this {
    const chat = { id: this.id, kind: this.kind }
    const id = 700_000 + ++count
    this.steps.push({ message: { id, chat, from: { id: from.id }, date: dateMs, ...body } })
    return this
  }

  send(text: string): this {
    this.steps.push({ send: { chatId: this.id, text } })
    return this
  }
}

const privately = (one: Somebody): Chat => new Chat('private').lists(one.record)
const group = (...keys: KeyRecord[]): Chat => new Chat('group').lists(...keys)

const unsigned = (one: Somebody, text: string): { armored: string } => ({
  armored: sealed(`unsigned ${one.name} ${text}`, literal(text)),
})
const signed = (one: Somebody, text: string, atMs = NOW_MS): { armored: string } => ({
  armored: one.signed(text, { atMs }),
})

/** A revoked copy of somebody's certificate (reason 2: the key is compromised). */
function revoked(one: Somebody): KeyRecord {
  const { primary, subkey, name } = one
  const publicKey = armoredCertificate(
    concat(keyPacket(primary), keyRevocation(primary, { atMs: NOW_MS - HOUR_MS, code: 2 })),
    userId(primary, name),
    boundSubkey(primary, subkey),
  )
  return { ...one.record, publicKey }
}

type Row = [name: string, steps: ChatStep[]]

function* ratchet(): Generator<Row> {
  const [never, once] = [somebody('never signed'), somebody('signed once')]
  yield ['ratchet-not-begun', privately(never).says(never, unsigned(never, 'who')).steps]
  const chat = privately(once).says(once, signed(once, 'mine'))
  yield ['ratchet', chat.says(once, unsigned(once, 'not mine')).steps]
}

function* signers(): Generator<Row> {
  const [ann, ben] = [somebody('signs'), somebody('signs for another')]
  const chat = group(ann.record, ben.record)
  yield ['signer-other-member', chat.says(ann, signed(ben, 'as somebody else')).steps]
  const cat = somebody('writes to others')
  const hashed = [intendedRecipient(ann.primary.fingerprint)]
  const armored = cat.signed('for another', { hashed })
  yield ['signer-for-others', privately(cat).says(cat, { armored }).steps]
}

function* replays(): Generator<Row> {
  const ann = somebody('replays')
  const ben = somebody('is replayed elsewhere')
  const cat = somebody('is delivered twice')
  const one = signed(ann, 'once')
  yield ['replay', privately(ann).says(ann, one).says(ann, one).steps]
  const other = signed(ben, 'once')
  const here = privately(ben).says(ben, other)
  yield ['replay-elsewhere', [...here.steps, ...group(ben.record).says(ben, other).steps]]
  const once = privately(cat).says(cat, signed(cat, 'twice'))
  yield ['delivered-again', [...once.steps, { again: true }]]
}

function* clocks(): Generator<Row> {
  for (const [name, seconds] of [
    ['clock-within', 299],
    ['clock-beyond', 301],
  ] as const) {
    const one = somebody(name)
    const message = signed(one, 'ahead', NOW_MS + seconds * SECOND_MS)
    yield [name, privately(one).says(one, message).steps]
  }
}

function* plain(): Generator<Row> {
  for (const [name, kind, dateMs] of [
    ['before-key', 'private', -1],
    ['plain', 'private', 1],
    ['plain-in-group', 'group', -1],
  ] as const) {
    const one = somebody(name)
    const chat = kind === 'private' ? privately(one) : group(one.record)
    yield [name, chat.says(one, { text: 'in the clear' }, PUBLISHED_MS + dateMs * HOUR_MS).steps]
  }
}

function* lists(): Generator<Row> {
  const [ann, ben, cat] = [
    somebody('listed twice'),
    somebody('listed as two'),
    somebody('listed later'),
  ]
  const another = { ...somebody('another key of hers').record, userId: ann.id }
  yield ['list-two-keys', group(ann.record, another).send('to whom').steps]
  const twin = { ...ben.record, userId: ben.id + 5000 }
  yield ['list-two-people', group(ben.record, twin).send('to whom').steps]
  const fine = somebody('listed beside the bot')
  const bots = { userId: 900, fingerprint: bot.primary.fingerprint, publicKey: bot.certificate }
  yield ['list-names-bot', group(fine.record, bots).send('to whom').steps]
  const stranger = somebody('stands beside')
  const two = new Chat('private').lists(stranger.record, somebody('ghost').record)
  yield ['list-two-in-private', two.send('hi').steps]
  const first = group(cat.record).send('hello')
  const claimed = { ...cat.record, userId: cat.id + 5000 }
  const second = new Chat('private').lists(claimed).send('hello')
  yield ['key-of-another', [...first.steps, ...second.steps]]
}

function* revocations(): Generator<Row> {
  const one = somebody('revoked')
  const chat = new Chat('group').lists(revoked(one)).send('to nobody')
  yield ['revocation-left-out', chat.lists(one.record).send('to nobody').steps]
  const signer = somebody('revoked signer')
  const again = new Chat('private').lists(revoked(signer)).send('x').lists(signer.record)
  yield ['revocation-signer', again.says(signer, signed(signer, 'still me')).steps]
}

export const CHATS: Record<string, ChatStep[]> = Object.fromEntries([
  ...ratchet(),
  ...signers(),
  ...replays(),
  ...clocks(),
  ...plain(),
  ...lists(),
  ...revocations(),
])
