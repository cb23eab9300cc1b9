/** A file's container while it arrives, and its document at rest. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { CfbDecipher } from '../../../src/openpgp/crypto/seipd-stream.ts'
import { nextPacket } from '../../../src/openpgp/format/packet-stream.ts'
import { Container } from '../../../src/openpgp/native/container.ts'
import { RestingSink } from '../../../src/openpgp/stream/open-file.ts'
import { MemoryFile, MemoryRoom, contentOf, readerOf } from '../../support/memory-room.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { seipdBody, sessionKey } from '../../support/openpgp-sealed.ts'

const KIB = 1024
const sealedBy = sessionKey('container')
const key = { algorithm: 'aes256', data: sealedBy.data }

interface Arriving {
  container: Container
  raw: MemoryFile
  body: Buffer
}

/** A container of so many bytes of packets, of which the version is read. */
async function arriving(
  bytes: number,
  { raw = new MemoryFile(), change = -1 } = {},
): Promise<Arriving> {
  const body = seipdBody(seeded('packets', bytes), sealedBy)
  if (change >= 0) body[change] = (body[change] ?? 0) ^ 1
  const found = await nextPacket(readerOf(packet(18, body), 50_000))
  if (found === null) throw new Error('no packet')
  await found.exactly(1)
  return { container: new Container(found, { raw, key }), raw, body }
}

async function packetsOf(container: Container): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of container.packets()) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** Bytes of packets with which a container has so many bytes: prefix and hash are the rest. */
const packetsIn = (bytes: number): number => bytes - 18 - 22

test.each([
  ['a few bytes of packets', 100],
  ['one block of packets', packetsIn(256 * KIB)],
  ['a block and a byte of packets', packetsIn(256 * KIB) + 1],
  ['more blocks of packets than are held in memory', 1200 * KIB],
])('%s are decrypted unchanged and kept as the ciphertext that arrived', async (_, bytes) => {
  const { container, raw, body } = await arriving(bytes)
  expect(container.isIntact).toBe(false)
  expect((await packetsOf(container)).equals(seeded('packets', bytes))).toBe(true)
  expect(container.isIntact).toBe(true)
  expect(raw.content.equals(body.subarray(1))).toBe(true)
})

test.each([1, 20, 400 * KIB])(
  'a container with a flipped bit in byte %i is not intact',
  async (change) => {
    const { container } = await arriving(500 * KIB, { change })
    await packetsOf(container)
    expect(container.isIntact).toBe(false)
  },
)

test('a container after `forget` keeps nothing and stays intact', async () => {
  const { container, raw } = await arriving(1200 * KIB)
  container.forget()
  expect(await packetsOf(container)).toHaveLength(1200 * KIB)
  expect(container.isIntact).toBe(true)
  expect(raw.bytes).toBe(0)
})

test('a document begins behind the 18 bytes of the random prefix', async () => {
  const { container } = await arriving(10)
  expect([container.restingOffset, container.blockBytes]).toEqual([18, 16])
})

const most = packetsIn(BOUNDS.messageChars)

test.each([10, most])(
  'a container with %i bytes of packets has the digest of its body',
  async (bytes) => {
    const { container, body } = await arriving(bytes)
    await packetsOf(container)
    expect(container.digest).toBe(createHash('sha256').update(body).digest('hex'))
    expect(container.digest).toBe(createHash('sha256').update(body).digest('hex'))
  },
)

test('a container longer than a message has the digest of its session key and hash', async () => {
  const { container, body } = await arriving(most + 1)
  const packets = await packetsOf(container)
  const prefix = prefixOf(body)
  const hash = createHash('sha1').update(prefix).update(packets).update(Buffer.of(0xd3, 0x14))
  const digest = createHash('sha256').update('version 1').update(key.data).update(hash.digest())
  expect(container.digest).toBe(digest.digest('hex'))
})

/** The random block of a container in the clear. */
const prefixOf = (body: Buffer): Buffer =>
  Buffer.from(new CfbDecipher(key).update(body.subarray(1, 19)))

/** A file whose writes end when the test ends them. */
class SlowFile extends MemoryFile {
  readonly waiting: (() => void)[] = []
  readonly #seen: Uint8Array[] = []

  override append(bytes: Uint8Array): Promise<void> {
    this.#seen.push(bytes)
    return new Promise((resolve) => {
      this.waiting.push(() => resolve(super.append(bytes)))
    })
  }

  /** The number of blocks so far. */
  get given(): number {
    return this.#seen.length
  }

  /** The number of buffers that hold them. */
  get places(): number {
    return new Set(this.#seen.map(({ buffer }) => buffer)).size
  }
}

test('a container has at most three blocks under way to the disk, and reuses none before it is written', async () => {
  const raw = new SlowFile()
  const { container, body } = await arriving(2000 * KIB, { raw })
  const all = packetsOf(container)
  await expect.poll(() => raw.given).toBe(3)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(raw.given).toBe(3)
  while (raw.given < 8) {
    const before = raw.given
    raw.waiting.shift()?.()
    await expect.poll(() => raw.given).toBe(before + 1)
  }
  let isOver = false
  void all.then(() => (isOver = true))
  for (const go of raw.waiting.splice(0, 2)) go()
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  for (const go of raw.waiting.splice(0)) go()
  expect(await all).toHaveLength(2000 * KIB)
  expect(raw.places).toBe(3)
  expect(raw.content.equals(body.subarray(1))).toBe(true)
})

test.each([0, 2, 7])('a disk error at block %i rejects the read of the container', async (at) => {
  let count = 0
  const raw = new (class extends MemoryFile {
    override append(bytes: Uint8Array): Promise<void> {
      return count++ === at ? Promise.reject(new Error('full')) : super.append(bytes)
    }
  })()
  const { container } = await arriving(2000 * KIB, { raw })
  await expect(packetsOf(container)).rejects.toThrow('full')
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
})

test('a document rests in its container without another file', async () => {
  const room = new MemoryRoom()
  const { container } = await arriving(1000, { raw: await room.file() })
  const sink = new RestingSink(room, container)
  await packetsOf(container)
  await sink.take(Buffer.alloc(10), 5)
  await sink.take(Buffer.alloc(20), 15)
  await sink.take(Buffer.alloc(5), 100)
  const file = await sink.file()
  const packets = seeded('packets', 1000)
  expect(await contentOf(file)).toEqual(
    Buffer.concat([packets.subarray(5, 35), packets.subarray(100, 105)]),
  )
  expect(room.files).toHaveLength(1)
  expect(room.open).toBe(1)
})

test('`RestingSink.discard` closes its files', async () => {
  const room = new MemoryRoom()
  await new RestingSink(room, null).discard()
  const { container } = await arriving(10, { raw: await room.file() })
  await new RestingSink(room, container).discard()
  expect([room.files.length, room.open]).toEqual([1, 0])
  const written = new RestingSink(room, null)
  await written.take(Buffer.from('words'), null)
  expect(room.open).toBe(1)
  await written.discard()
  expect(room.open).toBe(0)
})
