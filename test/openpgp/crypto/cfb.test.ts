import { createCipheriv } from 'node:crypto'
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

  test(`\`CfbDecipher\` decrypts ${algorithm} in pieces at any memory offset, empty pieces among them`, () => {
    const plain = seeded('plain', 64 * block + 5)
    for (const shift of [0, 1, 2, 3, 4, 7]) {
      const sealed = concat(seeded('before', shift), encrypt(plain)).subarray(shift)
      const cipher = new CfbDecipher(key)
      const cuts = [0, 0, block, block, 4 * block, 60 * block, sealed.length]
      const pieces = cuts.slice(1).map((end, at) => {
        return Buffer.from(cipher.update(sealed.subarray(cuts[at], end)))
      })
      expect(concat(...pieces)).toEqual(plain)
    }
  })

  test(`\`CfbDecipher\` decrypts ${algorithm} from any block on, given the block before it`, () => {
    const plain = seeded('plain', 9 * block + 3)
    const sealed = encrypt(plain)
    for (let at = block; at < sealed.length; at += block) {
      const cipher = new CfbDecipher(key, sealed.subarray(at - block, at))
      expect(cipher.update(sealed.subarray(at))).toEqual(plain.subarray(at))
    }
  })
}

test.each([
  ['cast5', 16],
  ['blowfish', 16],
  ['twofish', 32],
  ['toString', 16],
  ['', 16],
  ['aes256', 16],
  ['aes128', 32],
  ['aes256', 0],
])('`CfbDecipher` rejects a key for "%s" of %i bytes', (algorithm, length) => {
  const key = { algorithm, data: seeded('key', length) }
  expect(cipherOf(key)).toBeNull()
  expect(() => new CfbDecipher(key)).toThrow(/^cipher$/)
})

test('`CfbDecipher` rejects a piece that follows an incomplete block', () => {
  const cipher = new CfbDecipher({ algorithm: 'aes128', data: seeded('key', 16) })
  cipher.update(seeded('sealed', 17))
  expect(() => cipher.update(seeded('sealed', 16))).toThrow('a piece after the last')
})
