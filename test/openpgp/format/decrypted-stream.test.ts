/** The packets inside a file, read as a stream. */
import { createHash } from 'node:crypto'
import { deflateSync, deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { ByteReader, nextPacket } from '../../../src/openpgp/format/packet-stream.ts'
import type { StreamedPacket } from '../../../src/openpgp/format/packet-stream.ts'
import { readDocument, inflated } from '../../../src/openpgp/format/decrypted-stream.ts'
import type { ReadDocument } from '../../../src/openpgp/format/decrypted-stream.ts'
import { readerOf } from '../../support/memory-room.ts'
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { longPacket, oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import { TYPE, onePass, signature } from '../../support/openpgp-signature.ts'
import { FramingError } from '../../../src/openpgp/format/packets.ts'

const MIB = 2 ** 20
const TEXT = seeded('decrypted stream', 2000)
const by = { signer: alice.primary, atMs: NOW_MS }
const closing = signature({ ...by, over: TEXT })
const padding = packet(21, seeded('padding', 300))
const marker = packet(10, Buffer.from('PGP'))
const UNSIGNED: ReadDocument = {
  outcome: 'document',
  bytes: TEXT.length,
  claims: [],
  signaturePackets: [],
  digests: [],
}

interface Came {
  read: ReadDocument
  /** What was taken. */
  taken: Buffer
  /** Bytes of what was read from where they were said to lie; null when they were unpacked. */
  found: Buffer | null
}

async function readAll(inner: Uint8Array, { pieces = 70, depth = 0 } = {}) {
  const taken: Uint8Array[] = []
  const found: Uint8Array[] = []
  let isUnpacked = false
  const sink = {
    take(piece: Uint8Array, position: number | null) {
      taken.push(Buffer.from(piece))
      if (position === null) isUnpacked = true
      else found.push(inner.subarray(position, position + piece.length))
    },
  }
  const result = await readDocument(readerOf(inner, pieces), sink, depth)
  return {
    read: result,
    taken: Buffer.concat(taken),
    found: isUnpacked ? null : Buffer.concat(found),
  }
}

/** The outcome in one line. */
const outcomeOf = ({ read }: Came): string =>
  'reason' in read ? `${read.outcome}: ${read.reason}` : read.outcome

test.each([
  ['alone', [literal(TEXT)]],
  ['with a file name', [literal(TEXT, { format: 'b', name: Buffer.from('a name') })]],
  ['in chunks', [partialPacket(11, literal(TEXT).subarray(3), [9, 9])]],
  ['of indeterminate length', [oldPacket(11, literal(TEXT).subarray(3), 0)]],
  ['among ignorable packets', [marker, padding, literal(TEXT), marker, padding]],
])(
  'a streamed document %s is emitted with the position of each of its bytes',
  async (_, packets) => {
    for (const pieces of [1, 70, 10_000]) {
      const { read, taken, found } = await readAll(concat(...packets), { pieces })
      expect(read).toEqual(UNSIGNED)
      expect(taken).toEqual(TEXT)
      expect(found).toEqual(TEXT)
    }
  },
)

/** What a signature of a document is made over (RFC 9580, 5.2.4). */
function digestOf(signaturePacket: Buffer, name: string, over: Uint8Array): string {
  const body = signaturePacket.subarray((signaturePacket[1] ?? 0) < 192 ? 2 : 3)
  const hashedPart = body.subarray(0, 6 + body.readUInt16BE(4))
  const trailer = concat('04ff', u32(hashedPart.length))
  return createHash(name).update(over).update(hashedPart).update(trailer).digest('hex')
}

test('a streamed document has the digest, claim and packet of each signature, in order', async () => {
  const text = Buffer.from('a\nb\r')
  const signed = Buffer.from('a\r\nb\r')
  const forms = [
    { ...by, hash: 'sha512' as const },
    { ...by, type: TYPE.text, signer: mallory.primary },
  ] as const
  const closings = [
    signature({ ...forms[0], over: text }),
    signature({ ...forms[1], over: signed }),
  ] as const
  const around = concat(onePass(forms[1]), onePass(forms[0]), literal(text), ...closings)
  for (const inner of [around, concat(...closings, literal(text))]) {
    const { read } = await readAll(inner, { pieces: 1 })
    if (read.outcome !== 'document') throw new Error(read.outcome)
    expect(read.digests.map((one) => Buffer.from(one).toString('hex'))).toEqual([
      digestOf(closings[0], 'sha512', text),
      digestOf(closings[1], 'sha256', signed),
    ])
    expect(read.claims.map(({ issuerKeyId }) => issuerKeyId)).toEqual([
      alice.primary.keyId,
      mallory.primary.keyId,
    ])
    expect(read.signaturePackets.map((one) => Buffer.from(one))).toEqual([...closings])
  }
})

test('a signature of an unknown type or version on a streamed document has an empty digest', async () => {
  const unknown = signature({ ...by, type: TYPE.standalone, over: TEXT })
  const old = packet(2, concat(3, closing.subarray(3)))
  for (const odd of [unknown, old]) {
    for (const inner of [concat(odd, literal(TEXT)), concat(onePass(by), literal(TEXT), odd)]) {
      const { read } = await readAll(inner)
      expect(read).toMatchObject({ outcome: 'document', claims: [{ issuerKeyId: null }] })
      expect('digests' in read && read.digests[0]).toHaveLength(0)
    }
  }
})

test.each([0, 1, 2] as const)(
  'a signed document compressed by algorithm %i is unpacked',
  async (algorithm) => {
    const inner = concat(padding, compressed(signedLiteral(TEXT, by), algorithm), marker)
    const { read, taken, found } = await readAll(inner)
    expect(read).toMatchObject({ outcome: 'document', bytes: TEXT.length, claims: [{}] })
    expect(taken).toEqual(TEXT)
    expect(found).toBeNull()
  },
)

test('bzip2 data in a stream are returned as one packet for openpgp.js', async () => {
  const data = seeded('bzip2', 400)
  const { read, taken } = await readAll(compressedOf(3, data))
  expect(read).toEqual({
    outcome: 'compressed',
    packet: compressedOf(3, data),
    depth: 1,
    signedAround: false,
  })
  expect(taken).toHaveLength(0)
  const around = await readAll(concat(onePass(by), compressedOf(3, data), closing))
  expect(around.read).toMatchObject({ outcome: 'compressed', signedAround: true })
})

const closings = Array.from({ length: BOUNDS.signatures }, () => closing)
const userId = packet(13, Buffer.from('x'))
const zlib = deflateSync(literal(Buffer.alloc(2000, 'words ')))
const brokenZlib = Buffer.from(zlib).fill(0xff, 2, 9)

test.each([
  ['a user id before', [userId, literal(TEXT)], 'structure'],
  ['a user id behind what is compressed', [compressed(literal(TEXT), 2), userId], 'structure'],
  ['a long document behind another', [literal(TEXT), literal(Buffer.alloc(70_000))], 'structure'],
  ['a document behind many signatures', [...closings, literal(TEXT), literal(TEXT)], 'structure'],
  ['too many signatures before', [...closings, closing, literal(TEXT)], 'too-many-signatures'],
  [
    'too many signatures behind',
    [...closings.map(() => onePass(by)), literal(TEXT), ...closings, closing],
    'too-many-signatures',
  ],
  ['a literal without a date', [packet(11, Buffer.from('u\0abc'))], 'length'],
  ['a literal without a name', [packet(11, Buffer.from('u'))], 'length'],
  ['compression algorithm 4', [compressedOf(4, TEXT)], 'compression'],
  ['zlib data under algorithm 255', [compressedOf(255, zlib)], 'compression'],
  ['broken zlib data', [compressedOf(2, brokenZlib)], 'compression'],
  ['truncated zlib data', [compressedOf(2, zlib.subarray(0, -5))], 'compression'],
  ['a compressed packet of no bytes', [packet(8, Buffer.alloc(0))], 'length'],
  [
    'a signature longer than its bound',
    [longPacket(2, Buffer.alloc(BOUNDS.signaturePacketBytes + 1)), literal(TEXT)],
    'packet-length',
  ],
])('a stream with %s is damaged', async (_, packets, reason) => {
  expect(outcomeOf(await readAll(concat(...packets), { pieces: 500 }))).toBe(`damaged: ${reason}`)
})

test('a streamed document may have `BOUNDS.signatures` signatures, before it or around it', async () => {
  expect(outcomeOf(await readAll(concat(...closings, literal(TEXT))))).toBe('document')
  const all = signedLiteral(
    TEXT,
    closings.map(() => by),
  )
  expect(outcomeOf(await readAll(all))).toBe('document')
})

const nested = (depth: number): Buffer =>
  depth === 0 ? literal(TEXT) : compressed(nested(depth - 1), 2)

test('a streamed document inside `BOUNDS.nestedCompressions` compressed packets is read, and in one more not', async () => {
  const { read, taken } = await readAll(nested(BOUNDS.nestedCompressions))
  expect([read, taken]).toEqual([UNSIGNED, TEXT])
  expect(outcomeOf(await readAll(nested(BOUNDS.nestedCompressions + 1)))).toBe('damaged: structure')
  const depth = BOUNDS.nestedCompressions - 1
  expect(outcomeOf(await readAll(nested(1), { depth }))).toBe('document')
  expect(outcomeOf(await readAll(nested(2), { depth }))).toBe('damaged: structure')
})

/** Bytes, then so many zeros, which nobody has to hold. */
function long(start: Uint8Array, zeros: number): ByteReader {
  const piece = Buffer.alloc(MIB)
  async function* source(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(start)
    for (let left = zeros; left > 0; left -= MIB) yield piece.subarray(0, left)
  }
  return new ByteReader(source())
}
const ignoring = { take: () => {} }
const toTheEnd = (tag: number, start: Uint8Array): Buffer => concat(0x80 | (tag << 2) | 3, start)
const literalStart = Buffer.from('u\0\0\0\0\0')

test('a streamed document of `BOUNDS.attachmentBytes` is read, and a longer one is too large', async () => {
  const start = toTheEnd(11, literalStart)
  const most = BOUNDS.attachmentBytes
  expect(await readDocument(long(start, most), ignoring)).toMatchObject({
    outcome: 'document',
    bytes: most,
  })
  expect(await readDocument(long(start, most + 1), ignoring)).toEqual({
    outcome: 'too-large',
    reason: 'file',
  })
})

test('unpacked data beyond `BOUNDS.attachmentBytes` are too large, also without a document', async () => {
  const most = BOUNDS.attachmentBytes + BOUNDS.signaturePacketBytes
  const padded = (bytes: number): Buffer => toTheEnd(8, concat(0, 0xc0 | 21, 255, u32(bytes)))
  const read = async (bytes: number): Promise<ReadDocument> =>
    await readDocument(long(padded(bytes), bytes), ignoring)
  expect(await read(most - 6)).toEqual({ outcome: 'damaged', reason: 'structure' })
  expect(await read(most - 5)).toEqual({ outcome: 'too-large', reason: 'decompressed' })
})

test('bzip2 data beyond `BOUNDS.libraryAttachmentBytes` are too large', async () => {
  const most = BOUNDS.libraryAttachmentBytes
  const read = async (bytes: number): Promise<ReadDocument> =>
    await readDocument(long(toTheEnd(8, Buffer.of(3)), bytes), ignoring)
  expect((await read(most)).outcome).toBe('compressed')
  expect(await read(most + 1)).toEqual({ outcome: 'too-large', reason: 'form' })
  const cut = concat(0xc0 | 8, 255, u32(1000), 3, seeded('cut', 500))
  expect(await readDocument(readerOf(cut), ignoring)).toEqual({
    outcome: 'damaged',
    reason: 'length',
  })
})

test.each([
  ['that is not compressed', literal(TEXT)],
  ['that is unpacked', compressed(literal(TEXT), 2)],
])('an error of the sink for a document %s is thrown unchanged', async (_, inner) => {
  const full = Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
  const sink = { take: () => Promise.reject(full) }
  await expect(readDocument(readerOf(inner), sink)).rejects.toBe(full)
})

test.each([
  ['with a code', Object.assign(new Error('gone'), { code: 'ECONNRESET' })],
  ['without a code', new TypeError('gone')],
])('an error of the source %s is thrown unchanged', async (_, gone) => {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(compressed(literal(TEXT), 2).subarray(0, 20))
    throw gone
  }
  await expect(readDocument(new ByteReader(source()), ignoring)).rejects.toBe(gone)
})

const text = Buffer.concat([seeded('inflate', 150_000), Buffer.alloc(150_000, 'words ')])

async function packetIn(reader: ByteReader): Promise<StreamedPacket> {
  const found = await nextPacket(reader)
  if (found === null) throw new Error('no packet')
  return found
}

/** A packet with this body, which arrives in pieces. */
const arriving = async (body: Uint8Array, pieces = 7000): Promise<StreamedPacket> =>
  await packetIn(readerOf(packet(8, body), pieces))

async function piecesOf(arrived: StreamedPacket, algorithm: number): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for await (const piece of inflated(arrived, algorithm)) pieces.push(Buffer.from(piece))
  return pieces
}

const FORMS: [string, number, Buffer][] = [
  ['uncompressed', 0, text],
  ['zip', 1, deflateRawSync(text)],
  ['zlib', 2, deflateSync(text)],
]

test.each(FORMS)('%s data are unpacked in pieces of at most 64 KiB', async (_, algorithm, body) => {
  for (const size of [1000, 1_000_000]) {
    const pieces = await piecesOf(await arriving(body, size), algorithm)
    expect(Buffer.concat(pieces).equals(text)).toBe(true)
    if (algorithm > 0) expect(Math.max(...pieces.map(({ length }) => length))).toBe(65_536)
  }
})

test.each(FORMS.slice(1))(
  'bytes behind the end of %s data are dropped',
  async (_, algorithm, body) => {
    for (const bytes of [1, 100, 500_000]) {
      const pieces = await piecesOf(
        await arriving(concat(body, seeded('padding', bytes))),
        algorithm,
      )
      expect(Buffer.concat(pieces).equals(text)).toBe(true)
    }
  },
)

test.each(FORMS.slice(1))(
  'broken or truncated %s data fail with an error of zlib',
  async (_, algorithm, body) => {
    const broken = Buffer.from(body)
    broken.fill(0xff, 0, 3)
    const zlibs = { code: expect.stringMatching(/^Z_/) as string }
    await expect(piecesOf(await arriving(broken), algorithm)).rejects.toMatchObject(zlibs)
    await expect(piecesOf(await arriving(body.subarray(0, -10)), algorithm)).rejects.toMatchObject(
      zlibs,
    )
  },
)

test.each(FORMS)(
  'a truncated packet of %s data fails with a `FramingError`',
  async (_, algorithm, body) => {
    const cut = packet(8, body).subarray(0, -5)
    const read = piecesOf(await packetIn(readerOf(cut, 1000)), algorithm)
    await expect(read).rejects.toThrow(new FramingError('length'))
  },
)

test.each(FORMS)(
  'a reader that stops inside %s data stops the source',
  async (_, algorithm, body) => {
    let given = 0
    async function* source(): AsyncGenerator<Uint8Array> {
      const bytes = packet(8, concat(body, seeded('padding', 3_000_000)))
      for (let at = 0; at < bytes.length; at += 1000) {
        given++
        yield await Promise.resolve(bytes.subarray(at, at + 1000))
      }
    }
    for await (const piece of inflated(await packetIn(new ByteReader(source())), algorithm)) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    const then = given
    await new Promise((resolve) => setImmediate(resolve))
    expect(given).toBe(then)
    expect(given).toBeLessThan(1000)
  },
)

test.each(FORMS.slice(1))(
  'an error in %s data behind the last piece that was read is not thrown',
  async (_, algorithm, body) => {
    const broken = Buffer.from(body)
    broken.fill(0xff, 120_000, 130_000)
    for await (const piece of inflated(await arriving(broken, 200_000), algorithm)) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  },
)
