/** The steps of opening a file, with the work of the library replaced. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import type { NotOpened, OpenedFile } from '../../../src/openpgp/engine.ts'
import { ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import { UNREAD_CIPHER } from '../../../src/openpgp/format/recipient-scan.ts'
import type { FoundKey, OwnIds } from '../../../src/openpgp/format/recipient-scan.ts'
import * as native from '../../../src/openpgp/native/container.ts'
import { openFileStream, type FileOpeningOptions } from '../../../src/openpgp/stream/open-file.ts'
import { MemoryRoom, contentOf, inPieces } from '../../support/memory-room.ts'
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  seipd,
  sessionKey,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'

const own: OwnIds = {
  keyIds: new Set(bot.unlocked.keyIds),
  fingerprints: new Set(bot.unlocked.fingerprints),
  attemptCost: 1,
}
const KEY = sessionKey('steps')
const OTHER = sessionKey('another')
const ours = pkesk(bot.subkey, KEY)
const by = { signer: alice.primary, atMs: NOW_MS }
const TEXT = Buffer.from('words '.repeat(500))
const found = ({ data }: { data: Uint8Array }, algorithm: string | null = 'aes256'): FoundKey => ({
  algorithm,
  data,
  fingerprint: bot.unlocked.fingerprint,
})

interface Came {
  opened: OpenedFile | NotOpened
  room: MemoryRoom
  /** Containers that the library had to open. */
  whole: Uint8Array[]
  /** Compressed packets that the library had to unpack. */
  packed: Buffer[]
  /** How many bytes of the file were read. */
  read: number
}

async function open(
  bytes: Uint8Array,
  { keys = [found(KEY)], ...more }: Partial<FileOpeningOptions> & { keys?: FoundKey[] } = {},
): Promise<Came> {
  const came: Omit<Came, 'opened'> = { room: new MemoryRoom(), whole: [], packed: [], read: 0 }
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of inPieces(bytes, 5000)) {
      came.read += piece.length
      yield piece
    }
  }
  const opened = await openFileStream(new ByteReader(counted()), {
    form: 'binary',
    own,
    room: came.room,
    native,
    unwrap: () => Promise.resolve(keys),
    ...more,
    openWhole: async (container) => {
      came.whole.push(container)
      return (await more.openWhole?.(container, [])) ?? null
    },
    unpackWhole: async (one) => {
      came.packed.push(Buffer.from(one))
      return (await more.unpackWhole?.(one)) ?? null
    },
  })
  return { opened, ...came }
}

/** The outcome in one line; a file that does not open must leave nothing. */
function outcomeOf({ opened, room }: Came): string {
  expect(room.open).toBe(opened.outcome === 'opened' ? 1 : 0)
  return 'reason' in opened ? `${opened.outcome}: ${opened.reason}` : opened.outcome
}

const contentIn = async ({ opened }: Came): Promise<string> =>
  opened.outcome === 'opened' ? (await contentOf(opened.file)).toString() : opened.outcome

const file = (inner: Uint8Array): Buffer => concat(ours, seipd(inner, KEY))

test('an armored file opens, and one with damaged armor is damaged as `armor`', async () => {
  const form = 'armored'
  const text = Buffer.from(armor(file(literal(TEXT))))
  expect(await contentIn(await open(text, { form }))).toBe(TEXT.toString())
  const spoilt = Buffer.from(text).fill('!', 300, 301)
  expect(outcomeOf(await open(spoilt, { form }))).toBe('damaged: armor')
  expect(outcomeOf(await open(file(literal(TEXT)), { form }))).toBe('damaged: armor')
})

test('a file without a fitting key is damaged if it names an own key, and else `not-recipient`', async () => {
  const keys: FoundKey[] = []
  expect(outcomeOf(await open(file(literal(TEXT)), { keys }))).toBe('damaged: decryption')
  const anonymous = concat(anonymousPkesk(bot.subkey, KEY), seipd(literal(TEXT), KEY))
  expect(outcomeOf(await open(anonymous, { keys }))).toBe('not-recipient')
  const others = concat(strangerPkesk('a'), seipd(literal(TEXT), KEY))
  expect((await open(others)).opened).toEqual({ outcome: 'not-recipient' })
})

test.each([
  ['no bytes', Buffer.alloc(0), 'not-encrypted'],
  ['an empty container', concat(ours, packet(18, Buffer.alloc(0))), 'damaged: length'],
  ['a truncated container', file(literal(TEXT)).subarray(0, -1), 'damaged: decryption'],
  [
    'a PKESK packet that is too long',
    concat(0xc1, 255, u32(17_000), Buffer.alloc(17_000)),
    'damaged: packet-length',
  ],
  [
    'too many anonymous PKESK packets',
    concat(
      ...Array.from({ length: 200 }, () => anonymousPkesk(bot.subkey, KEY)),
      seipd(literal(TEXT), KEY),
    ),
    'not-recipient: too-many-anonymous',
  ],
  [
    'more PKESK packets than the bound',
    concat(...Array.from({ length: 4097 }, () => packet(1, Buffer.of(3))), seipd(TEXT, KEY)),
    'too-large: recipients',
  ],
])('a file with %s does not open', async (_, bytes, outcome) => {
  expect(outcomeOf(await open(bytes))).toBe(outcome)
})

test.each([
  [
    'a critical packet behind a marker',
    concat(packet(10, TEXT), packet(12, TEXT)),
    'damaged: trailing-data',
  ],
  ['another message', file(literal(TEXT)), 'damaged: trailing-data'],
  ['a byte', Buffer.of(0), 'damaged: header'],
])('a file with %s behind its container does not open', async (_, behind, outcome) => {
  expect(outcomeOf(await open(concat(file(literal(TEXT)), behind)))).toBe(outcome)
  const version2 = concat(ours, packet(18, concat(2, TEXT)), behind)
  const openWhole = () => Promise.resolve({ packets: literal(TEXT), fingerprint: 'f' })
  const came = await open(version2, { openWhole })
  expect(outcomeOf(came)).toBe(outcome)
  expect(came.whole).toEqual([])
})

test('a file opens with padding, markers and private packets behind its container', async () => {
  const behind = concat(packet(21, seeded('behind', 10)), packet(10, TEXT), packet(60, TEXT))
  expect(await contentIn(await open(concat(file(literal(TEXT)), behind)))).toBe(TEXT.toString())
})

test('a file whose cipher is none that is read is damaged as `cipher`', async () => {
  for (const keys of [[found(KEY, UNREAD_CIPHER)], [found(KEY, UNREAD_CIPHER), found(OTHER)]]) {
    const reason = keys.length === 1 ? 'cipher' : 'decryption'
    expect(outcomeOf(await open(file(literal(TEXT)), { keys }))).toBe(`damaged: ${reason}`)
  }
})

test.each([
  ['a signed document', signedLiteral(TEXT, by)],
  ['no document', packet(13, TEXT)],
  ['an unknown compression', compressedOf(9, TEXT)],
  ['bzip2 data', compressedOf(3, TEXT)],
])('a changed file with %s is damaged as `decryption`', async (_, inner) => {
  const bytes = file(inner)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  const unpackWhole = () => Promise.resolve(literal(TEXT))
  const came = await open(bytes, { unpackWhole })
  expect(outcomeOf(came)).toBe('damaged: decryption')
  expect(came.packed).toEqual([])
})

test('a file without a document is read to its end and not kept', async () => {
  const bytes = file(concat(packet(13, TEXT), literal(seeded('long', 2_000_000))))
  const came = await open(bytes)
  expect(outcomeOf(came)).toBe('damaged: structure')
  expect(came.read).toBe(bytes.length)
  expect(came.room.bytesOnDisk.length).toBeLessThan(1_000_000)
})

test('a file opens with the session key that fits the prefix of its container', async () => {
  const bytes = file(literal(TEXT))
  for (const keys of [
    [found(OTHER), found(KEY)],
    [found(KEY), found(OTHER)],
  ]) {
    expect(await contentIn(await open(bytes, { keys }))).toBe(TEXT.toString())
  }
  const wrong = [found(OTHER), found(sessionKey('third'))]
  const came = await open(bytes, { keys: wrong })
  expect(outcomeOf(came)).toBe('damaged: decryption')
  expect(came.whole).toEqual([])
})

test.each([
  ['a cipher that Node lacks', [found(KEY, 'cast5')]],
  ['a session key without a cipher', [found(KEY, null)]],
  ['a session key of a wrong length', [found(KEY, 'aes128')]],
  ['a CAST5 key among others', [found(KEY), found(OTHER, 'cast5')]],
])('a file with %s is left to openpgp.js', async (_, keys) => {
  const bytes = file(literal(TEXT))
  const openWhole = () => Promise.resolve({ packets: literal('by the library'), fingerprint: 'f' })
  const came = await open(bytes, { keys, openWhole })
  expect(await contentIn(came)).toBe('by the library')
  expect(came.whole).toHaveLength(1)
})

test('a version 2 container is passed to openpgp.js unchanged', async () => {
  const body = concat(2, seeded('version 2', 3000))
  const inside = { packets: signedLiteral(TEXT, by), fingerprint: 'by the library' }
  const bytes = concat(strangerPkesk('a'), ours, packet(18, body))
  const came = await open(bytes, { openWhole: () => Promise.resolve(inside) })
  expect(await contentIn(came)).toBe(TEXT.toString())
  expect(came.opened).toMatchObject({
    dataDigest: createHash('sha256').update(body).digest('hex'),
    openedWith: 'by the library',
    signatures: [{ issuerKeyId: alice.primary.keyId }],
  })
  expect(came.whole.map((one) => Buffer.from(one))).toEqual([body])
})

test('a version 2 container that openpgp.js does not open is damaged as `decryption`', async () => {
  const bytes = concat(ours, packet(18, concat(2, TEXT)))
  expect(outcomeOf(await open(bytes))).toBe('damaged: decryption')
})

test('a version 2 container above `BOUNDS.libraryAttachmentBytes` is too large', async () => {
  const most = BOUNDS.libraryAttachmentBytes
  const bytes = (length: number): Buffer =>
    concat(ours, 0xd2, 255, u32(length + 1), 2, Buffer.alloc(length))
  const openWhole = () => Promise.resolve({ packets: literal(TEXT), fingerprint: 'f' })
  expect(outcomeOf(await open(bytes(most), { openWhole }))).toBe('opened')
  const came = await open(bytes(most + 1), { openWhole })
  expect(outcomeOf(came)).toBe('too-large: form')
  expect(came.whole).toEqual([])
  const cut = concat(ours, 0xd2, 255, u32(5000), 2, TEXT)
  expect(outcomeOf(await open(cut, { openWhole }))).toBe('damaged: length')
})

test('bzip2 data are passed to openpgp.js once the container is intact', async () => {
  const signed = signedLiteral(TEXT, by)
  const unpackWhole = () => Promise.resolve(signed)
  const came = await open(file(compressedOf(3, TEXT)), { unpackWhole })
  expect(await contentIn(came)).toBe(TEXT.toString())
  expect(came.opened).toMatchObject({ signatures: [{ issuerKeyId: alice.primary.keyId }] })
  expect(came.packed).toEqual([compressedOf(3, TEXT)])
})

test('signatures around and inside bzip2 data do not count', async () => {
  const closing = signature({ ...by, over: TEXT })
  const inner = concat(onePass(by), compressedOf(3, TEXT), closing)
  const unpackWhole = () => Promise.resolve(signedLiteral(TEXT, by))
  const came = await open(file(inner), { unpackWhole })
  expect(await contentIn(came)).toBe(TEXT.toString())
  expect(came.opened).toMatchObject({ signatures: [], signed: { digests: [], signatures: [] } })
})

test.each([
  ['nothing', null, 'damaged: compression'],
  ['too much data', 'too-large' as const, 'too-large: decompressed'],
  ['zlib data of another document', compressed(packet(13, TEXT), 2), 'damaged: structure'],
  ['bzip2 data for ever', compressedOf(3, TEXT), 'damaged: structure'],
  ['packets without a document', packet(13, TEXT), 'damaged: structure'],
])('a file whose bzip2 data unpack as %s does not open', async (_, unpacked, outcome) => {
  const unpackWhole = () => Promise.resolve(unpacked)
  expect(outcomeOf(await open(file(compressedOf(3, TEXT)), { unpackWhole }))).toBe(outcome)
})

test('an error of the room or the source is thrown unchanged and leaves no file', async () => {
  const room = new MemoryRoom()
  const full = new Error('no room')
  const none = { file: () => Promise.reject(full) }
  await expect(open(file(literal(TEXT)), { room: none })).rejects.toBe(full)
  async function* source(bytes: number): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(file(literal(TEXT)).subarray(0, bytes))
    throw new TypeError('gone')
  }
  for (const bytes of [20, 300]) {
    const opening = openFileStream(new ByteReader(source(bytes)), {
      form: 'binary',
      own,
      room,
      native,
      unwrap: () => Promise.resolve([found(KEY)]),
      openWhole: () => Promise.resolve(null),
      unpackWhole: () => Promise.resolve(null),
    })
    await expect(opening).rejects.toThrow('gone')
  }
  expect([room.files.length, room.open]).toEqual([1, 0])
})
