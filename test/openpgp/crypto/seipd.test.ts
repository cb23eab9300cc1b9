import { createDecipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import { openVersion1, sealVersion1 } from '../../../src/openpgp/crypto/seipd.ts'
import { KEY, openPackets, outcomeOf } from '../../support/openpgp-engine.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { bot } from '../../support/openpgp-people.ts'
import { pkesk, seipd2, seipdBody, sessionKey } from '../../support/openpgp-sealed.ts'

const inner = literal('hello')
const body = seipdBody(inner, KEY)
const aes256 = { algorithm: 'aes256', data: KEY.data }
const openBody = (bytes: Uint8Array): ReturnType<typeof openVersion1> => openVersion1(bytes, aes256)
const openSealed = async (container: Uint8Array): Promise<string> =>
  outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), packet(18, container))))

test.each([
  ['aes128', 7],
  ['aes192', 8],
  ['aes256', 9],
] as const)('%s gives what was put in', (algorithm, cipher) => {
  const key = sessionKey(algorithm, cipher)
  expect(openVersion1(seipdBody(inner, key), { algorithm, data: key.data })).toEqual(inner)
})

test.each([
  ['aes128', 16],
  ['aes192', 24],
  ['aes256', 32],
] as const)(
  '%s seals what it opens, behind a random block that is repeated',
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

test('nothing is sealed, or opened at once, under a cipher whose blocks are shorter', () => {
  const key = { algorithm: 'tripledes', data: sessionKey('tripledes', 2).data }
  expect(openVersion1(seipdBody(inner, sessionKey('tripledes', 2)), key)).toBeNull()
  for (const odd of [key, { algorithm: 'aes256', data: seeded('short', 16) }]) {
    expect(() => sealVersion1(inner, odd)).toThrow(/^cipher$/)
  }
})

test('other ciphers are left to the library', () => {
  for (const name of ['tripledes', 'cast5', 'toString', '']) {
    expect(openVersion1(body, { algorithm: name, data: KEY.data })).toBeNull()
  }
})

test('P14 every single flipped bit is noticed', () => {
  for (let bit = 0; bit < body.length * 8; bit++) {
    const flipped = Buffer.from(body)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(openBody(flipped), `bit ${bit}`).toBeNull()
  }
  expect(openBody(body)).toEqual(inner)
})

test('P14 every truncation and every extension is noticed', () => {
  for (let length = 0; length < body.length; length++) {
    expect(openBody(body.subarray(0, length)), `length ${length}`).toBeNull()
  }
  expect(openBody(concat(body, 0))).toBeNull()
  expect(openBody(concat(body, body))).toBeNull()
})

test.each([
  ['hash of zeros', { hash: Buffer.alloc(20) }],
  ['hash of something else', { hash: seeded('hash', 20) }],
  ['no hash packet', { without: true }],
  ['hash packet with an old header', { header: 'cd14' }],
  ['hash packet of another length', { header: 'd313' }],
  ['hash packet of another tag', { header: 'd214' }],
])('P14 a container with %s does not open, although its hash holds', async (_, spoilt) => {
  const spoiltBody = seipdBody(inner, KEY, spoilt)
  expect(openBody(spoiltBody)).toBeNull()
  expect(await openSealed(spoiltBody)).toBe('damaged: decryption')
})

test('whatever is wrong inside the encryption looks the same from outside', async () => {
  const flipped = (at: number): Buffer => {
    const copy = Buffer.from(body)
    copy[at] = (copy[at] ?? 0) ^ 1
    return copy
  }
  const broken = [
    flipped(1),
    flipped(17),
    flipped(19),
    flipped(body.length - 1),
    body.subarray(0, 30),
  ]
  const answers = await Promise.all(broken.map(openSealed))
  expect(new Set(answers)).toEqual(new Set(['damaged: decryption']))
})

test('the quick-check bytes decide nothing', () => {
  expect(openBody(body)).toEqual(inner)
  const other = { algorithm: 'aes256', data: seeded('another key', 32) }
  expect(openVersion1(body, other)).toBeNull()
})

test('a session key of the wrong length opens nothing', () => {
  for (const length of [0, 16, 24, 31, 33]) {
    expect(openVersion1(body, { algorithm: 'aes256', data: seeded('x', length) })).toBeNull()
  }
})

test('an empty container that is whole opens as nothing, and as a message it is damaged', async () => {
  const empty = seipdBody(Buffer.alloc(0), KEY)
  expect(openBody(empty)).toEqual(Buffer.alloc(0))
  expect(await openSealed(empty)).toBe('damaged: structure')
})

test('a recipient packet whose session key is damaged looks like any other damage', async () => {
  const packetBytes = pkesk(bot.subkey, KEY)
  for (const at of [20, 60, packetBytes.length - 1]) {
    const copy = Buffer.from(packetBytes)
    copy[at] = (copy[at] ?? 0) ^ 1
    expect(outcomeOf(await openPackets(concat(copy, packet(18, body))))).toBe('damaged: decryption')
  }
})

test('a version 2 container notices flipped bits in its header, salt, chunk and last tag', async () => {
  const whole = seipd2(inner, KEY)
  expect(outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), whole)))).toBe('opened')
  for (const at of [3, 4, 5, 6, 20, 40, 60, whole.length - 1]) {
    const copy = Buffer.from(whole)
    copy[at] = (copy[at] ?? 0) ^ 1
    const outcome = outcomeOf(await openPackets(concat(pkesk(bot.subkey, KEY), copy)))
    expect(outcome, `byte ${at}`).toBe('damaged: decryption')
  }
})
