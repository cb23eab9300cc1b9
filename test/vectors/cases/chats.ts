/** Vectors of what is judged by what was seen before: people, key lists, words in the clear. */
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
import type { ChatCase, ChatStep, KeyRecord } from './case.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
/** When the bot's key was published. */
export const PUBLISHED_MS = NOW_MS - 24 * HOUR_MS

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

function row(
  name: string,
  about: string,
  covers: string,
  more: Pick<ChatCase, 'outcome'> & { text?: string; steps: ChatStep[] },
): ChatCase {
  return { name, about, covers, publishedMs: PUBLISHED_MS, ...more }
}

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

function* ratchet(): Generator<ChatCase> {
  const [never, once] = [somebody('never signed'), somebody('signed once')]
  yield row('ratchet-not-begun', 'Unsigned, from one who never signed.', 'SECURITY T6', {
    steps: privately(never).says(never, unsigned(never, 'who')).steps,
    outcome: 'unsigned',
    text: 'who',
  })
  const chat = privately(once).says(once, signed(once, 'mine'))
  yield row('ratchet', 'Unsigned, from one who has signed before.', 'SECURITY T6', {
    steps: chat.says(once, unsigned(once, 'not mine')).steps,
    outcome: 'bad-signature',
  })
}

function* signers(): Generator<ChatCase> {
  const [ann, ben] = [somebody('signs'), somebody('signs for another')]
  const chat = group(ann.record, ben.record)
  yield row('signer-other-member', 'Signed by another member of the group.', 'SECURITY P28, T7', {
    steps: chat.says(ann, signed(ben, 'as somebody else')).steps,
    outcome: 'bad-signature',
  })
  const cat = somebody('writes to others')
  const armored = cat.signed('for another', {
    hashed: [intendedRecipient(ann.primary.fingerprint)],
  })
  yield row('signer-for-others', 'Signed for somebody else, sealed to the bot.', 'SECURITY P37', {
    steps: privately(cat).says(cat, { armored }).steps,
    outcome: 'not-recipient',
  })
}

function* replays(): Generator<ChatCase> {
  const [ann, ben, cat] = ['replays', 'is replayed elsewhere', 'is delivered twice'].map(somebody)
  if (ann === undefined || ben === undefined || cat === undefined) return
  const one = signed(ann, 'once')
  yield row('replay', 'The same data as another message.', 'SECURITY P46', {
    steps: privately(ann).says(ann, one).says(ann, one).steps,
    outcome: 'replayed',
  })
  const other = signed(ben, 'once')
  const here = privately(ben).says(ben, other)
  yield row('replay-elsewhere', 'The same data in another chat.', 'SECURITY P46, T8', {
    steps: [...here.steps, ...group(ben.record).says(ben, other).steps],
    outcome: 'replayed',
  })
  const once = privately(cat).says(cat, signed(cat, 'twice'))
  yield row('delivered-again', 'The same update, asked for again.', 'SECURITY P46', {
    steps: [...once.steps, { again: true }],
    outcome: 'verified',
    text: 'twice',
  })
}

function* clocks(): Generator<ChatCase> {
  for (const [name, seconds, outcome] of [
    ['clock-within', 299, 'verified'],
    ['clock-beyond', 301, 'bad-signature'],
  ] as const) {
    const one = somebody(name)
    yield row(name, `Signed ${seconds} seconds ahead of the clock.`, 'SECURITY P33', {
      steps: privately(one).says(one, signed(one, 'ahead', NOW_MS + seconds * SECOND_MS)).steps,
      outcome,
      ...(outcome === 'verified' ? { text: 'ahead' } : {}),
    })
  }
}

function* plain(): Generator<ChatCase> {
  const words = { text: 'in the clear' }
  for (const [name, about, kind, dateMs, outcome] of [
    ['before-key', 'Words from before the key, in private.', 'private', -1, 'before-key'],
    ['plain', 'Words from after it.', 'private', 1, 'plaintext-in-protected'],
    ['plain-in-group', 'Words from before, in a group.', 'group', -1, 'plaintext-in-protected'],
  ] as const) {
    const one = somebody(name)
    const chat = kind === 'private' ? privately(one) : group(one.record)
    yield row(name, about, 'SECURITY P47, T9', {
      steps: chat.says(one, words, PUBLISHED_MS + dateMs * HOUR_MS).steps,
      outcome,
      ...(outcome === 'before-key' ? words : {}),
    })
  }
}

function* lists(): Generator<ChatCase> {
  const [ann, ben, cat] = ['listed twice', 'listed as two', 'listed later'].map(somebody)
  if (ann === undefined || ben === undefined || cat === undefined) return
  const inconsistent = 'postern_recipients_inconsistent'
  const another = { ...somebody('another key of hers').record, userId: ann.id }
  yield row('list-two-keys', 'Two keys for one person.', 'SECURITY C8b', {
    steps: group(ann.record, another).send('to whom').steps,
    outcome: inconsistent,
  })
  yield row('list-two-people', 'One key for two people, who both get it.', 'SECURITY C8', {
    steps: group(ben.record, { ...ben.record, userId: ben.id + 5000 }).send('to whom').steps,
    outcome: 'sent',
  })
  const fine = somebody('listed beside the bot')
  const bots = { userId: 900, fingerprint: bot.primary.fingerprint, publicKey: bot.certificate }
  yield row('list-names-bot', 'The bot itself is listed.', 'SECURITY C8b', {
    steps: group(fine.record, bots).send('to whom').steps,
    outcome: inconsistent,
  })
  const stranger = somebody('stands beside')
  yield row('list-two-in-private', 'Two people in a private chat.', 'SECURITY C8b, T4', {
    steps: new Chat('private').lists(stranger.record, somebody('ghost').record).send('hi').steps,
    outcome: inconsistent,
  })
  const first = group(cat.record).send('hello')
  const claimed = { ...cat.record, userId: cat.id + 5000 }
  yield row('key-of-another', 'A key that somebody else was listed with before.', 'SECURITY C8', {
    steps: [...first.steps, ...new Chat('private').lists(claimed).send('hello').steps],
    outcome: 'sent',
  })
}

function* revocations(): Generator<ChatCase> {
  const one = somebody('revoked')
  const chat = new Chat('group').lists(revoked(one)).send('to nobody')
  yield row('revocation-left-out', 'Once revoked, listed again without it.', 'SECURITY C6, T14', {
    steps: chat.lists(one.record).send('to nobody').steps,
    outcome: 'postern_recipient_unusable',
  })
  const signer = somebody('revoked signer')
  const again = new Chat('private').lists(revoked(signer)).send('x').lists(signer.record)
  yield row(
    'revocation-signer',
    'Signed after a revocation that is left out.',
    'SECURITY P35, C6',
    {
      steps: again.says(signer, signed(signer, 'still me')).steps,
      outcome: 'bad-signature',
    },
  )
}

export const CHATS: ChatCase[] = [
  ...ratchet(),
  ...signers(),
  ...replays(),
  ...clocks(),
  ...plain(),
  ...lists(),
  ...revocations(),
]
