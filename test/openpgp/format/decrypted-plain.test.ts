/** The packets inside a message are read synchronously where that costs next to nothing. */
import { expect, test } from 'vitest'
import { readDecrypted, readUncompressed } from '../../../src/openpgp/format/decrypted-message.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { NOW_MS, alice } from '../../support/openpgp-people.ts'
import { notation, onePass, signature } from '../../support/openpgp-signature.ts'

const by = { signer: alice.primary, atMs: NOW_MS }
const document = Buffer.from('hello')
const never = (): Promise<never> => Promise.reject(new Error('not asked for'))

test.each([
  ['a document', literal('hello')],
  ['a signed document', signedLiteral('hello', by)],
  ['a signature before a document', concat(signature({ ...by, over: document }), literal('hello'))],
  ['no document', packet(13, document)],
  ['no bytes', Buffer.alloc(0)],
  ['a one-pass packet without a signature', concat(onePass(by), literal('hello'))],
  ['bytes that are no packet', document],
  ['a truncated packet', literal('hello').subarray(0, -1)],
])('`readUncompressed` reads %s with the result of `readDecrypted`', async (_, bytes) => {
  const read = readUncompressed(bytes)
  expect(read).not.toBeNull()
  expect(read).toEqual(await readDecrypted(bytes, never))
})

test.each([
  ['alone', [compressed(literal('hello'), 2)]],
  [
    'among others',
    [onePass(by), compressed(literal('hello'), 2), signature({ ...by, over: document })],
  ],
])('`readUncompressed` leaves a compressed packet %s to `readDecrypted`', (_, packets) => {
  expect(readUncompressed(concat(...packets))).toBeNull()
})

test('`readUncompressed` reads a signature packet of 512 bytes and leaves one of 513 to `readDecrypted`', () => {
  const filled = (bytes: number): Buffer =>
    signature({ ...by, over: document, hashed: [notation('a@b', 'x'.repeat(bytes))] })
  const bodyBytes = (one: Buffer): number => one.length - 3
  const least = bodyBytes(filled(200))
  const of = (bytes: number): Buffer => filled(200 + bytes - least)
  expect([bodyBytes(of(512)), bodyBytes(of(513))]).toEqual([512, 513])
  expect(readUncompressed(concat(of(512), literal('hello')))).toMatchObject({ outcome: 'document' })
  expect(readUncompressed(concat(of(513), literal('hello')))).toBeNull()
  expect(readUncompressed(literal('x'.repeat(600)))).toMatchObject({ outcome: 'document' })
})
