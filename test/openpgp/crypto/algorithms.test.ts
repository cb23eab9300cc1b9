import { expect, test } from 'vitest'
import {
  findRecipientAlgorithm,
  findSignatureAlgorithm,
  leastWrappedBytes,
  recipientAlgorithm,
  recipientAlgorithmLike,
  signatureAlgorithm,
  signatureAlgorithmLike,
} from '../../../src/openpgp/crypto/algorithms.ts'
import { isCipher, keyBytesOf } from '../../../src/openpgp/crypto/seipd.ts'

test('a kind of key is found by its number, for sealing or for signing alone', () => {
  for (const id of [18, 25]) {
    expect([recipientAlgorithm(id).id, findRecipientAlgorithm(id)?.id]).toEqual([id, id])
    expect(findSignatureAlgorithm(id)).toBeNull()
    expect(() => signatureAlgorithm(id)).toThrow(/^algorithm$/)
  }
  for (const id of [22, 27]) {
    expect([signatureAlgorithm(id).id, findSignatureAlgorithm(id)?.id]).toEqual([id, id])
    expect(findRecipientAlgorithm(id)).toBeNull()
    expect(() => recipientAlgorithm(id)).toThrow(/^algorithm$/)
  }
  for (const id of [0, 1, undefined]) {
    expect([findRecipientAlgorithm(id), findSignatureAlgorithm(id)]).toEqual([null, null])
  }
})

test.each([
  [{ algorithm: 'ecdh', curve: 'curve25519Legacy' }, 18],
  [{ algorithm: 'x25519' }, 25],
  [{ algorithm: 'x25519', curve: 'curve25519Legacy' }, 25],
  [{ algorithm: 'ecdh', curve: 'nistP256' }, undefined],
  [{ algorithm: 'ecdh' }, undefined],
  [{ algorithm: 'rsaEncryptSign' }, undefined],
])('what the library says of a key that is sealed to, %j, is of kind %s', (info, id) => {
  expect(recipientAlgorithmLike(info)?.id).toBe(id)
  expect(signatureAlgorithmLike(info)).toBeNull()
})

test.each([
  [{ algorithm: 'eddsaLegacy' }, 22],
  [{ algorithm: 'eddsaLegacy', curve: 'ed25519Legacy' }, 22],
  [{ algorithm: 'ed25519' }, 27],
  [{ algorithm: 'ecdsa', curve: 'nistP256' }, undefined],
])('what the library says of a key that signs, %j, is of kind %s', (info, id) => {
  expect(signatureAlgorithmLike(info)?.id).toBe(id)
  expect(recipientAlgorithmLike(info)).toBeNull()
})

test('the smallest recipient packet is the one of X25519', () => {
  expect([leastWrappedBytes(7), leastWrappedBytes(9)]).toEqual([32 + 2 + 24, 32 + 2 + 40])
})

test('session keys are of AES alone, by number and size', () => {
  expect([6, 7, 8, 9, 10].map(isCipher)).toEqual([false, true, true, true, false])
  expect(([7, 8, 9] as const).map(keyBytesOf)).toEqual([16, 24, 32])
})
