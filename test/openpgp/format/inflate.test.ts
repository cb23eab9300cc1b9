import { deflateRawSync, deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  ByteReader,
  nextPacket,
  type StreamedPacket,
} from '../../../src/openpgp/format/packet-stream.ts'
import { inflated } from '../../../src/openpgp/format/decrypted-stream.ts'
import { FramingError } from '../../../src/openpgp/format/packets.ts'
import { readerOf } from '../../support/memory-room.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'

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
  ['none', 0, text],
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
    for (const padding of [1, 100, 500_000]) {
      const pieces = await piecesOf(
        await arriving(concat(body, seeded('padding', padding))),
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
