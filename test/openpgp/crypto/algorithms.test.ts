import { expect, test } from 'vitest'
import { framedLength } from '../../../src/openpgp/format/packet-writer.ts'
import { recipientBytes } from '../../../src/openpgp/size.ts'
import { isCipher, keyBytesOf } from '../../../src/openpgp/format/ciphers.ts'
import {
  findRecipientAlgorithm,
  findSignatureAlgorithm,
  recipientAlgorithm,
  signatureAlgorithm,
} from '../../../src/openpgp/crypto/public-key.ts'

test('an algorithm id is found as a recipient algorithm or as a signature algorithm, never as both', () => {
  for (const id of [18, 25, 35]) {
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

test('`recipientBytes` equals the length of the packet that each recipient algorithm writes', () => {
  for (const algorithm of [18, 25, 35].map(recipientAlgorithm)) {
    const framed = (cipher: 7 | 9): number => framedLength(10 + algorithm.wrappedBytes(cipher))
    expect(recipientBytes(algorithm.info)).toEqual({ aes128: framed(7), aes256: framed(9) })
  }
})

test('`isCipher` accepts AES-128, AES-192 and AES-256 alone, with keys of 16, 24 and 32 bytes', () => {
  expect([6, 7, 8, 9, 10].map(isCipher)).toEqual([false, true, true, true, false])
  expect(([7, 8, 9] as const).map(keyBytesOf)).toEqual([16, 24, 32])
})
