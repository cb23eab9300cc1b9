import { createDecipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import { openVersion1, sealVersion1 } from '../../../src/openpgp/crypto/seipd.ts'
import { KEY, openPackets, outcomeOf } from '../../support/openpgp-engine.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { bot } from '../../support/openpgp-people.ts'
import { pkesk, seipd2, seipdBody, sessionKey } from '../../support/openpgp-sealed.ts'
import { flipBit, flipByte } from '../../support/openpgp-flips.ts'

const inner = literal('hello')
const body = seipdBody(inner, KEY)
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
    expect(openVersion1(body, { algorithm: name, data: KEY.data })).toBeNull()
  }
  for (const odd of [key, { algorithm: 'aes256', data: seeded('short', 16) }]) {
    expect(() => sealVersion1(inner, odd)).toThrow(/^cipher$/)
  }
})

test('an SEIPD container with any single bit flipped does not open (P14)', () => {
  for (let bit = 0; bit < body.length * 8; bit++) {
    const flipped = flipBit(body, bit)
    expect(openBody(flipped), `bit ${bit}`).toBeNull()
  }
  expect(openBody(body)).toEqual(inner)
})

test('an SEIPD container that is truncated or extended anywhere does not open (P14)', () => {
  for (let length = 0; length < body.length; length++) {
    expect(openBody(body.subarray(0, length)), `length ${length}`).toBeNull()
  }
  expect(openBody(concat(body, 0))).toBeNull()
  expect(openBody(concat(body, body))).toBeNull()
})

test('another session key, or one of a wrong length, does not open an SEIPD container', () => {
  for (const length of [0, 16, 24, 31, 32, 33]) {
    expect(openVersion1(body, { algorithm: 'aes256', data: seeded('x', length) })).toBeNull()
  }
})

test('an intact SEIPD container without packets is damaged as `structure`', async () => {
  const empty = seipdBody(Buffer.alloc(0), KEY)
  expect(openBody(empty)).toEqual(Buffer.alloc(0))
  expect(await openSealed(empty)).toBe('damaged: structure')
})

test('a version 2 container with a flipped bit in header, salt, chunk or last tag is damaged', async () => {
  const whole = seipd2(inner, KEY)
  expect(outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), whole)))).toBe('opened')
  for (const at of [3, 4, 5, 6, 20, 40, 60, whole.length - 1]) {
    const copy = flipByte(whole, at)
    const outcome = outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), copy)))
    expect(outcome, `byte ${at}`).toBe('damaged: decryption')
  }
})
