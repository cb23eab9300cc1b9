import { createCipheriv, createDecipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import { CfbDecipher } from '../../../src/openpgp/crypto/seipd-stream.ts'
import { cipherOf } from '../../../src/openpgp/format/ciphers.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'

const CIPHERS = [
  ['aes128', 'aes-128-cfb', 16, 16],
  ['aes192', 'aes-192-cfb', 24, 16],
  ['aes256', 'aes-256-cfb', 32, 16],
  ['tripledes', 'des-ede3-cfb', 24, 8],
] as const

for (const [algorithm, name, keyBytes, block] of CIPHERS) {
  const key = { algorithm, data: seeded(`key ${algorithm}`, keyBytes) }
  const encrypt = (plain: Buffer): Buffer => {
    const cipher = createCipheriv(name, key.data, Buffer.alloc(block))
    return concat(cipher.update(plain), cipher.final())
  }

  test(`${algorithm}: every length up to five blocks decrypts in one piece`, () => {
    for (let length = 0; length <= 5 * block + 1; length++) {
      const plain = seeded('plain', length)
      expect(new CfbDecipher(key).update(encrypt(plain))).toEqual(plain)
    }
  })

  test(`${algorithm}: pieces of whole blocks, wherever they lie in memory, decrypt alike`, () => {
    const plain = seeded('plain', 64 * block + 5)
    for (const shift of [0, 1, 2, 3, 4, 7]) {
      const sealed = concat(seeded('before', shift), encrypt(plain)).subarray(shift)
      const cipher = new CfbDecipher(key)
      const cuts = [0, block, 3 * block, 4 * block, 60 * block, sealed.length]
      const pieces = cuts.slice(1).map((end, at) => {
        return Buffer.from(cipher.update(sealed.subarray(cuts[at], end)))
      })
      expect(concat(...pieces)).toEqual(plain)
    }
  })

  test(`${algorithm}: a piece of nothing changes nothing, wherever it comes`, () => {
    const plain = seeded('plain', 3 * block + 5)
    const sealed = encrypt(plain)
    const cipher = new CfbDecipher(key)
    const pieces = [0, 0, block, 2 * block].flatMap((at, index, all) => {
      const piece = Buffer.from(cipher.update(sealed.subarray(at, all[index + 1])))
      expect(cipher.update(Buffer.alloc(0))).toHaveLength(0)
      return piece
    })
    expect(concat(...pieces)).toEqual(plain)
  })

  test(`${algorithm}: decryption may begin at any block, given the one before it`, () => {
    const plain = seeded('plain', 9 * block + 3)
    const sealed = encrypt(plain)
    for (let at = block; at < sealed.length; at += block) {
      const cipher = new CfbDecipher(key, sealed.subarray(at - block, at))
      expect(cipher.update(sealed.subarray(at))).toEqual(plain.subarray(at))
    }
  })
}

test('large blocks decrypt as the platform’s own CFB does', () => {
  const key = { algorithm: 'aes256', data: seeded('key', 32) }
  const sealed = seeded('sealed', 1_000_003)
  const own = createDecipheriv('aes-256-cfb', key.data, Buffer.alloc(16))
  const expected = concat(own.update(sealed), own.final())
  expect(new CfbDecipher(key).update(sealed).equals(expected)).toBe(true)
})

test.each([
  ['cast5', 16],
  ['blowfish', 16],
  ['twofish', 32],
  ['toString', 16],
  ['', 16],
  ['aes256', 16],
  ['aes128', 32],
  ['aes256', 0],
])('a key for %s of %i bytes is not taken', (algorithm, length) => {
  const key = { algorithm, data: seeded('key', length) }
  expect(cipherOf(key)).toBeNull()
  expect(() => new CfbDecipher(key)).toThrow(/^cipher$/)
})

test('nothing may follow a piece that ends within a block', () => {
  const cipher = new CfbDecipher({ algorithm: 'aes128', data: seeded('key', 16) })
  cipher.update(seeded('sealed', 17))
  expect(() => cipher.update(seeded('sealed', 16))).toThrow('a piece after the last')
})
