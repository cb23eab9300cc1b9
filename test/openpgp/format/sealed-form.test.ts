import { deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { FORM_BYTES, sealedForm } from '../../../src/openpgp/format/encrypted-message.ts'
import { KEY, hello } from '../../support/openpgp-engine.ts'
import {
  armor,
  longPacket,
  oldPacket,
  packet,
  partialPacket,
} from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk6, pkeskBody, seipd, seipdBody, strangerPkesk } from '../../support/openpgp-sealed.ts'

const formOf = (content: Uint8Array | string): string | null =>
  sealedForm(Buffer.from(content).subarray(0, FORM_BYTES))

const container = seipdBody(literal(seeded('much', 5000)), KEY)
const recipient = pkeskBody(bot.subkey, KEY, 'x')

test.each([
  ['a message', hello()],
  ['a message for another key', concat(strangerPkesk('x'), packet(18, container))],
  ['a message with old headers', concat(oldPacket(1, recipient, 2), packet(18, container))],
  ['a message with long headers', concat(longPacket(1, recipient), longPacket(18, container))],
  [
    'a message with a version 6 PKESK packet',
    concat(pkesk6(bot.subkey, KEY), packet(18, container)),
  ],
  ['a container in partial chunks', partialPacket(18, container, [9])],
  ['an SKESK packet', packet(3, concat('040900'))],
  ['a message behind a marker', concat(packet(10, Buffer.from('PGP')), hello())],
  ['a message behind padding', concat(packet(21, seeded('padding', 300)), hello())],
  [
    'a message behind a PKESK packet of version 23',
    concat(packet(1, concat(23, seeded('x', 80))), hello()),
  ],
])('`sealedForm` recognizes %s, binary and armored', (_, bytes) => {
  expect(formOf(bytes)).toBe('binary')
  expect(formOf(armor(bytes))).toBe('armored')
  expect(formOf(armor(bytes, { headers: ['Version: X', 'Comment:'], endOfLine: '\r\n' }))).toBe(
    'armored',
  )
  expect(formOf(`\n\n${armor(bytes)}`)).toBe('armored')
})

test.each([
  ['no bytes', ''],
  ['plain text', 'hello'],
  ['text that begins like a packet', 'été à la plage'],
  ['JPEG', concat('ffd8ffe000104a46494600010100000100010000', seeded('jpeg', 500))],
  ['PNG', concat('89504e470d0a1a0a0000000d49484452', seeded('png', 500))],
  ['PDF', '%PDF-1.7\n'],
  ['zlib', deflateSync('x'.repeat(99))],
  ['gzip', gzipSync('x'.repeat(99))],
  ['a literal', literal('hello')],
  ['a signed message', signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })],
  [
    'an armored signed message',
    armor(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })),
  ],
  ['a certificate', alice.certificate],
  ['a secret key', concat(packet(5, alice.primary.secretBody))],
  ['unprotected encrypted data', packet(9, seeded('x', 50))],
  ['a container of version 7', packet(18, concat(7, seeded('x', 50)))],
  ['text that quotes armor', 'see -----BEGIN PGP MESSAGE-----\n\nand'],
  ['a message behind a literal', concat(literal('hello'), hello())],
  ['a message behind text', concat(Buffer.from('hello'), hello())],
  ['a marker alone', packet(10, Buffer.from('PGP'))],
  ['half a header', concat('c1')],
  ['armored text', `-----BEGIN PGP MESSAGE-----\n\n${btoa('hello')}\n`],
])('`sealedForm` rejects %s', (_, content) => {
  expect(formOf(content)).toBeNull()
})

test('`sealedForm` rejects a message whose first `FORM_BYTES` are padding', () => {
  const padding = packet(21, seeded('padding', FORM_BYTES))
  expect(formOf(concat(padding, seipd(literal('hello'), KEY)))).toBeNull()
})

test.each([
  ['public key encrypted session key', 1, [2, 3, 6]],
  ['symmetric key encrypted session key', 3, [4, 5, 6]],
  ['encrypted data', 18, [1, 2]],
])('`sealedForm` recognizes a %s packet in its known versions alone', (_, tag, versions) => {
  const beginning = Array.from({ length: 16 }, (__, version) => version).filter(
    (version) => sealedForm(packet(tag, Buffer.of(version, 0))) === 'binary',
  )
  expect(beginning).toEqual(versions)
})
