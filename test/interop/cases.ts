/** The cells of the matrix: what one program and our engine must agree on. */
import { randomBytes } from 'node:crypto'
import { unarmor } from 'openpgp'
import { MOST_NAMED } from '../../src/openpgp/size.ts'
import { MemoryRoom, contentOf, readerOf } from '../support/memory-room.ts'
import { testPerson } from '../support/openpgp-people.ts'
import type { Engine, OwnKey, UnlockedKey } from '../../src/openpgp/engine.ts'
import { FEATURES, KEY_KINDS } from '../support/peers/index.ts'
import type { Feature, KeyKind, Peer, PeerKey, PeerWriter } from '../support/peers/index.ts'

/** Our side: an engine and the bot's key. */
export interface Ours {
  engine: Engine
  key: OwnKey
  unlocked: UnlockedKey
}

export interface Case {
  /** Heads the column. */
  name: string
  offered(writer: PeerWriter): boolean
  /** @throws Error that says what did not agree */
  check(row: Row): Promise<void>
}

/** A program at work, with the keys that it has made so far. */
export class Row {
  readonly peer: Peer
  readonly writer: PeerWriter
  readonly ours: Ours
  readonly #keys = new Map<string, Promise<PeerKey>>()

  constructor(peer: Peer, ours: Ours) {
    if (!peer.writer) throw new Error(`${peer.version} makes no messages`)
    this.peer = peer
    this.writer = peer.writer
    this.ours = ours
  }

  key(kind: KeyKind = this.writer.kinds[0] ?? 'cv25519', which = 1): Promise<PeerKey> {
    const name = `${kind} ${which}`
    const made = this.#keys.get(name) ?? this.writer.makeKey(kind, name)
    this.#keys.set(name, made)
    return made
  }

  /** Whether one signature of a message of ours is good by a certificate, and the text. */
  async open(message: string, { secret }: PeerKey, certificate: string) {
    const question = { message, secrets: [secret], certificate, atMs: Date.now() }
    const { text, valid } = await this.peer.open(question)
    return { text: text?.toString(), isVerified: valid === 1 }
  }
}

const WORDS = 'hello, grüße, 世界 🌍\nsecond line\n'
const LONG = 'Lorem ipsum dolor sit amet, consetetur. '.repeat(103).slice(0, 4096)
/** Longer than what programs hold back to know a length beforehand. */
const PIPED = LONG.repeat(12)
const WIDE = 'ä世🌍e\u0301\u202eא'.repeat(500)

/** The program seals and signs; we open and verify. */
async function inward(
  row: Row,
  o: { kind?: KeyKind; text?: string; feature?: Feature } = {},
): Promise<void> {
  const { writer, ours } = row
  const { kind, text = WORDS, feature } = o
  const signers = [await row.key(kind)]
  if (feature === 'two signers') signers.push(await row.key(kind, 2))
  const armored = await writer.seal({ text, to: [ours.key.certificate], signers, feature })
  const opened = await ours.engine.open(armored, [ours.unlocked])
  if (opened.outcome !== 'opened')
    throw new Error(`we say ${opened.outcome} ${'reason' in opened ? opened.reason : ''}`)
  if (shape(opened.text) !== shape(text)) throw new Error('the text differs')
  if (opened.signatures.length !== signers.length)
    throw new Error(`${opened.signatures.length} signatures`)
  for (const { certificate } of signers) {
    const results = await ours.engine.verify(opened.signed, certificate, Date.now())
    if (results.filter((result) => result === 'valid').length !== 1)
      throw new Error(`signature ${results.join(' ')}`)
  }
}

/** The program seals and signs a file; we open it, armored and not, and verify. */
async function fileIn(row: Row, content: Buffer, feature?: Feature): Promise<void> {
  const { writer, ours } = row
  const signers = [await row.key()]
  const { certificate } = signers[0] ?? (await row.key())
  const armored = await writer.seal({ text: content, to: [ours.key.certificate], signers, feature })
  const forms = { armored: Buffer.from(armored), binary: (await unarmor(armored)).data }
  for (const [form, bytes] of Object.entries(forms) as ['armored' | 'binary', Uint8Array][]) {
    const options = { form, room: new MemoryRoom(), keys: [ours.unlocked] }
    const opened = await ours.engine.openFile(readerOf(bytes, 10_000), options)
    if (opened.outcome !== 'opened') throw new Error(`we say ${JSON.stringify(opened)}`)
    const came = await contentOf(opened.file)
    const isSame =
      feature === 'text mode'
        ? shape(came.toString()) === shape(content.toString())
        : came.equals(content)
    if (!isSame) throw new Error('the content differs')
    const results = await ours.engine.verify(opened.signed, certificate, Date.now())
    if (results.join(' ') !== 'valid') throw new Error(`signature ${results.join(' ')}`)
  }
}

/** Half of it is noise, which does not compress. */
const noisy = (): Buffer => Buffer.concat([randomBytes(100_000), Buffer.alloc(100_000, 'x')])
/** At the edges of framing and blocks. */
const EDGES = [0, 1, 16, 191, 192, 8383, 8384, 65_536]
/** Line ends of both kinds, also at the edges of pieces. */
const LINE_ENDS = ['one', 'two\r', '', '\r', 'x'.repeat(19_000), 'last'].join('\n')

/** We seal and sign; the program opens and verifies. */
async function outward(
  row: Row,
  o: { kind?: KeyKind; text?: string; others?: string[] } = {},
): Promise<void> {
  const { ours } = row
  const { kind, text = WORDS, others = [] } = o
  const reader = await row.key(kind)
  const certificateStatus = await ours.engine.judge(reader.certificate)
  if (certificateStatus.unusable !== null)
    throw new Error(`we call its key ${certificateStatus.unusable}`)
  for (const cipher of ['aes256', 'aes128'] as const) {
    const certificates = [reader.certificate, ...others]
    const request = { text, certificates, signer: ours.unlocked, cipher }
    const armored = await ours.engine.seal(request)
    const opened = await row.open(armored, reader, ours.key.certificate)
    if (opened.text !== text) throw new Error(`the text differs (${cipher})`)
    if (!opened.isVerified) throw new Error(`our signature is not good to it (${cipher})`)
  }
}

/** With the reader and the bot as many as our signature ever names. */
const crowd = (): string[] =>
  Array.from({ length: MOST_NAMED - 2 }, (_, index) => testPerson(`crowd ${index}`).certificate)

/** What we signed is not good when it is somebody else's that the program looks for. */
async function stranger(row: Row): Promise<void> {
  const { ours } = row
  const passphrase = 'stranger'
  const createdMs = Date.now() - 300_000
  const signer = await ours.engine.generate({ userId: 'stranger', createdMs, passphrase })
  const reader = await row.key()
  const request = { text: WORDS, certificates: [reader.certificate], signer: ours.unlocked }
  const armored = await ours.engine.seal({ ...request, cipher: 'aes256' })
  const opened = await row.open(armored, reader, signer.certificate)
  if (opened.isVerified) throw new Error('our signature passes for somebody else’s')
}

/** Text mode may change line ends, which are ours to shape. */
const shape = (text: string): string => text.replaceAll('\r\n', '\n')

const always = (): boolean => true
const byKind = (kind: KeyKind) => (writer: PeerWriter) => writer.kinds.includes(kind)
const byFeature = (feature: Feature) => (writer: PeerWriter) => writer.features.includes(feature)
const kinds = Object.keys(KEY_KINDS) as KeyKind[]

const named = (name: string, offered: Case['offered'], check: Case['check']): Case => ({
  name,
  offered,
  check,
})

/** Tables of the matrix, each with its columns. */
export const TABLES: { id: string; title: string; cases: Case[] }[] = [
  {
    id: 'key-in',
    title: 'they seal and sign, we open and verify: by key',
    cases: kinds.map((kind) => named(kind, byKind(kind), (row) => inward(row, { kind }))),
  },
  {
    id: 'key-out',
    title: 'we seal and sign, they open and verify: by key',
    cases: kinds.map((kind) => named(kind, byKind(kind), (row) => outward(row, { kind }))),
  },
  {
    id: 'manner-in',
    title: 'they seal and sign, we open and verify: by manner',
    cases: [
      ...FEATURES.map((feature) =>
        named(feature, byFeature(feature), (row) =>
          inward(row, { feature, text: feature === 'by pipe' ? PIPED : WORDS }),
        ),
      ),
      named('4096', always, (row) => inward(row, { text: LONG })),
      named('unicode', always, (row) => inward(row, { text: WIDE })),
    ],
  },
  {
    id: 'file-in',
    title: 'they seal and sign a file, we open and verify: by manner',
    cases: [
      ...FEATURES.filter((feature) => !['text mode', 'two signers'].includes(feature)).map(
        (feature) => named(feature, byFeature(feature), (row) => fileIn(row, noisy(), feature)),
      ),
      named('lengths', always, async (row) => {
        for (const length of EDGES) await fileIn(row, randomBytes(length))
      }),
      named('text mode', byFeature('text mode'), (row) =>
        fileIn(row, Buffer.from(`${LINE_ENDS}\r\n`.repeat(30)), 'text mode'),
      ),
    ],
  },
  {
    id: 'text-out',
    title: 'we seal and sign, they open and verify: by text',
    cases: [
      named('4096', always, (row) => outward(row, { text: LONG })),
      named('unicode', always, (row) => outward(row, { text: WIDE })),
      named('short', always, (row) => outward(row, { text: 'x' })),
      named('lengths', always, async (row) => {
        for (const length of [2, 3]) await outward(row, { text: 'x'.repeat(length) })
      }),
      named('names', always, (row) => outward(row, { others: crowd() })),
      named('stranger', always, stranger),
    ],
  },
]
