import { createDecipheriv, createCipheriv, hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { openVersion1, sealVersion1 } from '../../../src/openpgp/crypto/seipd.ts'
import { KEY, openPackets, outcomeOf } from '../../support/openpgp-engine.ts'
import { CIPHER_NAMES } from '../../../src/openpgp/format/ciphers.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { bot } from '../../support/openpgp-people.ts'
import { pkesk, seipd2, seipdBody, sessionKey } from '../../support/openpgp-sealed.ts'
import type { CipherId, Spoilt } from '../../support/openpgp-sealed.ts'
import { flipBit, flipByte } from '../../support/openpgp-flips.ts'
import { CfbDecipher, Version1 } from '../../../src/openpgp/crypto/seipd-stream.ts'

const inner = literal('hello')
const whole = seipdBody(inner, KEY)
const aes256 = { algorithm: 'aes256', data: KEY.data }
const openBody = (bytes: Uint8Array): ReturnType<typeof openVersion1> => openVersion1(bytes, aes256)
const openSealed = async (container: Uint8Array): Promise<string> =>
  outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), packet(18, container))))

test.each([
  ['aes128', 16],
  ['aes192', 24],
  ['aes256', 32],
] as const)(
  'an SEIPD container under %s has a random prefix, its packets and a hash, and opens again',
  (algorithm, bytes) => {
    const key = { algorithm, data: seeded(algorithm, bytes) }
    const blocks = new Set<string>()
    for (const length of [0, 1, 15, 16, 17, 500]) {
      const packets = seeded('packets', length)
      const sealed = sealVersion1(packets, key)
      expect(openVersion1(sealed, key)).toEqual(packets)
      const name = `aes-${bytes * 8}-cfb`
      const plain = createDecipheriv(name, key.data, Buffer.alloc(16)).update(sealed.subarray(1))
      expect(plain.subarray(16, 18)).toEqual(plain.subarray(14, 16))
      expect(plain.subarray(18, -22)).toEqual(packets)
      expect(plain.subarray(-22, -20)).toEqual(Buffer.from('d314', 'hex'))
      blocks.add(plain.toString('hex', 0, 16))
    }
    expect(blocks.size).toBe(6)
  },
)

test('native SEIPD code neither seals nor opens under ciphers other than AES', () => {
  const key = { algorithm: 'tripledes', data: sessionKey('tripledes', 2).data }
  expect(openVersion1(seipdBody(inner, sessionKey('tripledes', 2)), key)).toBeNull()
  for (const name of ['cast5', 'toString', '']) {
    expect(openVersion1(whole, { algorithm: name, data: KEY.data })).toBeNull()
  }
  for (const odd of [key, { algorithm: 'aes256', data: seeded('short', 16) }]) {
    expect(() => sealVersion1(inner, odd)).toThrow(/^cipher$/)
  }
})

test('another session key, or one of a wrong length, does not open an SEIPD container', () => {
  for (const length of [0, 16, 24, 31, 32, 33]) {
    expect(openVersion1(whole, { algorithm: 'aes256', data: seeded('x', length) })).toBeNull()
  }
})

test('an intact SEIPD container without packets is damaged as `structure`', async () => {
  const empty = seipdBody(Buffer.alloc(0), KEY)
  expect(openBody(empty)).toEqual(Buffer.alloc(0))
  expect(await openSealed(empty)).toBe('damaged: structure')
})

test('a version 2 container with a flipped bit in header, salt, chunk or last tag is damaged', async () => {
  const container = seipd2(inner, KEY)
  expect(outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), container)))).toBe('opened')
  for (const at of [3, 4, 5, 6, 20, 40, 60, container.length - 1]) {
    const copy = flipByte(container, at)
    const outcome = outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), copy)))
    expect(outcome, `byte ${at}`).toBe('damaged: decryption')
  }
})

/** The packets of a container's body, which arrives in pieces of so many blocks; null when not intact. */
function opened(body: Uint8Array, cipher: CipherId, blocks = 1000): Buffer | null {
  const data = sessionKey('usual', cipher).data
  const version1 = new Version1({ algorithm: CIPHER_NAMES.get(cipher) ?? '', data })
  const pieces: Buffer[] = []
  const size = blocks * (version1.prefixBytes - 2)
  for (let at = 1; at < body.length; at += size) {
    const given = version1.update(body.subarray(at, at + size))
    expect(given.every(({ length }) => length > 0)).toBe(true)
    pieces.push(...given.map((piece) => Buffer.from(piece)))
  }
  return version1.end() ? concat(...pieces) : null
}

const sealed = (plain: Uint8Array, cipher: CipherId = 9, spoilt?: Spoilt): Buffer =>
  seipdBody(plain, sessionKey('usual', cipher), spoilt)

test.each([2, 7, 8, 9, 11, 13] as const)(
  'a streamed SEIPD container of any length up to 80 bytes under cipher %i yields its packets',
  (cipher) => {
    for (let length = 0; length < 80; length++) {
      const plain = seeded('inner', length)
      const body = sealed(plain, cipher)
      for (const blocks of [1, 2, 3, 1000]) expect(opened(body, cipher, blocks)).toEqual(plain)
    }
  },
)

test('an SEIPD container with any single bit flipped opens neither streamed nor whole (P14)', () => {
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = flipBit(whole, bit)
    expect(openBody(flipped), `bit ${bit}`).toBeNull()
    // A stream begins behind the version.
    if (bit >= 8) expect(opened(flipped, 9), `bit ${bit}`).toBeNull()
  }
  expect([openBody(whole), opened(whole, 9)]).toEqual([inner, inner])
})

test('an SEIPD container that is truncated or extended opens neither streamed nor whole (P14)', () => {
  const truncated = Array.from(whole.keys(), (length) => whole.subarray(0, length))
  for (const bytes of [...truncated, concat(whole, 0), concat(whole, whole)]) {
    expect(openBody(bytes), `${bytes.length} bytes`).toBeNull()
    if (bytes.length > 0) expect(opened(bytes, 9, 1), `${bytes.length} bytes`).toBeNull()
  }
})

test('a streamed SEIPD container never emits bytes of its final hash', () => {
  const plain = seeded('inner', 100)
  const body = sealed(plain)
  const version1 = new Version1({ algorithm: 'aes256', data: sessionKey('usual').data })
  let given = 0
  for (let at = 1; at < body.length; at += 16) {
    for (const piece of version1.update(body.subarray(at, at + 16))) given += piece.length
    expect(given).toBeLessThanOrEqual(plain.length)
  }
  expect(given).toBe(plain.length)
})

test.each([
  ['a hash of zeros', { hash: Buffer.alloc(20) }],
  ['a hash of other data', { hash: seeded('hash', 20) }],
  ['no hash packet', { without: true }],
  ['an old-format hash header', { header: 'cd14' }],
  ['another hash length', { header: 'd313' }],
  ['another hash tag', { header: 'd214' }],
])('an SEIPD container with %s opens neither streamed nor whole (P14)', (_, spoilt) => {
  const body = sealed(inner, 9, spoilt)
  expect(opened(body, 9)).toBeNull()
  const { data } = sessionKey('usual')
  expect(openVersion1(body, { algorithm: 'aes256', data })).toBeNull()
})

test('a streamed SEIPD container with the right hash under a wrong packet header is not intact (P14)', () => {
  for (const header of ['cd14', 'd313', 'd214', 'd394']) {
    const container = sealed(inner)
    const { data } = sessionKey('usual')
    const opening = new CfbDecipher({ algorithm: 'aes256', data })
    const plain = Buffer.from(opening.update(container.subarray(1)))
    const spoilt = concat(plain.subarray(0, -22), header, plain.subarray(-20))
    const cipher = createCipheriv('aes-256-cfb', data, Buffer.alloc(16))
    expect(opened(concat(1, cipher.update(spoilt)), 9), header).toBeNull()
  }
})

test('a streamed SEIPD container without the final zero byte of its hash is not intact', () => {
  const { data } = sessionKey('usual')
  for (let count = 0; ; count++) {
    const hashed = concat(seeded(`prefix ${count}`, 18), 'd314')
    const digest = hash('sha1', hashed, 'buffer')
    if (digest.at(-1) !== 0) continue
    const opening = (plain: Buffer): boolean => {
      const cipher = createCipheriv('aes-256-cfb', data, Buffer.alloc(16))
      const version1 = new Version1({ algorithm: 'aes256', data })
      version1.update(cipher.update(plain))
      return version1.end()
    }
    expect(opening(concat(hashed, digest))).toBe(true)
    expect(opening(concat(hashed, digest.subarray(0, -1)))).toBe(false)
    return
  }
})

test('an intact streamed SEIPD container exposes its SHA-1 hash as `digest`', () => {
  const body = sealed(inner)
  const { data } = sessionKey('usual')
  const version1 = new Version1({ algorithm: 'aes256', data })
  version1.update(body.subarray(1))
  expect(version1.end()).toBe(true)
  const plain = new CfbDecipher({ algorithm: 'aes256', data }).update(body.subarray(1))
  expect(version1.digest).toEqual(plain.subarray(-20))
})

test('a streamed SEIPD container under another key ends as not intact and has no `digest`', () => {
  const other = new Version1({ algorithm: 'aes256', data: seeded('another', 32) })
  other.update(sealed(inner).subarray(1))
  expect(other.end()).toBe(false)
  expect(() => other.digest).toThrow('not intact')
})
