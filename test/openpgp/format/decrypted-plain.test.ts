/** What stands inside a message is read at once where that costs next to nothing. */
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
  ['a signed one', signedLiteral('hello', by)],
  ['a signature before it', concat(signature({ ...by, over: document }), literal('hello'))],
  ['no document', packet(13, document)],
  ['nothing', Buffer.alloc(0)],
  ['a one-pass packet alone', concat(onePass(by), literal('hello'))],
  ['something that is no packet', document],
  ['a packet that is cut', literal('hello').subarray(0, -1)],
])('%s is read as it is read otherwise', async (_, bytes) => {
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
])('what is compressed %s is left to others', (_, packets) => {
  expect(readUncompressed(concat(...packets))).toBeNull()
})

test('a signature packet of 512 bytes is read at once, one of 513 is left to others', () => {
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
