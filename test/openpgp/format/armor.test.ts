import { expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { armorMessage, armoredLength } from '../../../src/openpgp/format/armor-writer.ts'
import { looksEncrypted } from '../../../src/openpgp/format/encrypted-message.ts'
import { hello, openArmored, outcomeOf } from '../../support/openpgp-engine.ts'
import { armor, crc24 } from '../../support/openpgp-framing.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import { bot } from '../../support/openpgp-people.ts'

const BYTES = seeded('armor', 100)
const good = armor(BYTES)
const read = (text: string): Uint8Array | null => dearmor(text, 'MESSAGE')

test.each([
  ['as most programs write it', good],
  ['without a checksum', armor(BYTES, { checksum: false })],
  ['with CRLF', armor(BYTES, { endOfLine: '\r\n' })],
  ['with headers', armor(BYTES, { headers: ['Version: X 1.0', 'Comment: a: b', 'Comment:'] })],
  ['with trailing spaces and tabs', good.replaceAll('\n', ' \t\n')],
  ['in lines of 76', armor(BYTES, { lineChars: 76 })],
  ['in lines of 4', armor(BYTES, { lineChars: 4 })],
  ['in one line', armor(BYTES, { lineChars: 4096 })],
  ['with empty lines around it', `\n \r\n${good}\n\n \t\n`],
  ['without a last line end', good.trimEnd()],
])('a block %s gives its bytes', (_, text) => {
  expect(read(text)).toEqual(BYTES)
})

test.each([1, 2, 3, 47, 48, 49, 57, 58])('%i bytes survive our own armor', (length) => {
  const bytes = seeded('own armor', length)
  const text = armorMessage(bytes)
  expect(read(text)).toEqual(bytes)
  expect(text).toHaveLength(armoredLength(length))
})

test.each([1000, 1001, 1002])(
  'our own armor of %i bytes has no headers and no line over 76',
  (length) => {
    const lines = armorMessage(seeded('lines', length)).split('\n')
    expect(lines.slice(0, 2)).toEqual(['-----BEGIN PGP MESSAGE-----', ''])
    expect(lines.slice(-2)).toEqual(['-----END PGP MESSAGE-----', ''])
    expect(Math.max(...lines.map((line) => line.length))).toBe(76)
  },
)

test('our own armor has a checksum only where no padding tells old GnuPG that the base64 ends', () => {
  for (let length = 1; length < 60; length++) {
    const bytes = seeded('lines', length)
    const last = armorMessage(bytes).split('\n').at(-3) ?? ''
    if (length % 3 === 0) expect(last).toBe(`=${crc24(bytes).toString('base64')}`)
    else expect(last.endsWith('=')).toBe(true)
  }
})

const checksum = `=${crc24(BYTES).toString('base64')}`
const firstLine = good.split('\n')[2] ?? ''

test.each([
  ['P1 wrong checksum', good.replace(checksum, '=AAAA')],
  ['P1 checksum of three characters', good.replace(checksum, checksum.slice(0, -1))],
  ['P1 two checksums', good.replace(checksum, `${checksum}\n${checksum}`)],
  ['P3 text before BEGIN', `hello\n${good}`],
  ['P3 text after END', `${good}hello\n`],
  ['P3 two blocks', good + good],
  ['P3 END of another type', good.replace('END PGP MESSAGE', 'END PGP SIGNATURE')],
  ['P3 indented BEGIN', ` ${good}`],
  ['P4 no empty line after BEGIN', good.replace('\n\n', '\n')],
  ['P4 no empty line after a header', good.replace('\n\n', '\nComment: x\n')],
  ['P4 no END', good.replace(/-----END.*\n/, '')],
  ['P4 only BEGIN', '-----BEGIN PGP MESSAGE-----'],
  ['P4 nothing between', '-----BEGIN PGP MESSAGE-----\n\n-----END PGP MESSAGE-----'],
  ['P4 only a checksum', `-----BEGIN PGP MESSAGE-----\n\n=AAAA\n-----END PGP MESSAGE-----`],
  ['P4 a line missing', good.replace(`${firstLine}\n`, '')],
  ['P4 an empty line in the middle', good.replace(`${firstLine}\n`, `${firstLine}\n\n`)],
  ['P4 an empty line before the checksum', good.replace('\n=', '\n\n=')],
  ['P4 a foreign character', good.replace(firstLine, `${firstLine.slice(0, -1)}!`)],
  ['P4 url-safe base64', good.replace(firstLine, `${firstLine.slice(0, -1)}_`)],
  ['P4 space inside a line', good.replace(firstLine, firstLine.replace(/^(.{8})/, '$1 '))],
  ['P4 one character too many', good.replace(firstLine, `${firstLine}A`)],
  ['P4 padding in the middle', good.replace(firstLine, `${firstLine.slice(0, -1)}=`)],
  ['P4 padding missing', armor(seeded('x', 4), { checksum: false }).replace('==', '')],
  [
    'P4 spare bits that are not zero',
    armor(Buffer.from([0]), { checksum: false }).replace('AA==', 'AB=='),
  ],
  ['a header without a name', armor(BYTES, { headers: [': x'] })],
  ['a header without a space', armor(BYTES, { headers: ['Comment:x'] })],
  ['a dash-escaped block', good.replaceAll('-----', '- -----')],
  ['lone carriage returns as line ends', armor(BYTES, { endOfLine: '\r' })],
  ['only line ends', '\n'.repeat(100)],
  ['nothing', ''],
])('%s is no block', async (_, text) => {
  expect(read(text)).toBeNull()
  expect(outcomeOf(await openArmored(text))).toBe('damaged: armor')
  expect(looksEncrypted(text)).toBe(false)
})

test.each([
  'SIGNED MESSAGE',
  'SIGNATURE',
  'PUBLIC KEY BLOCK',
  'PRIVATE KEY BLOCK',
  'MESSAGE, PART 1/2',
])('a block of type %s is no message', (type) => {
  expect(read(armor(BYTES, { type }))).toBeNull()
})

test('P2 a message in CRLF armor with headers and a checksum opens', async () => {
  const text = armor(hello(), { endOfLine: '\r\n', headers: ['Version: X', 'Comment: y'] })
  expect(await openArmored(text)).toMatchObject({ outcome: 'opened', text: 'hello' })
})

test('P5 a message of exactly 131072 characters opens, of one more is too large', async () => {
  const text = armor(hello())
  const filled = text.padEnd(131_072, '\n')
  expect(await openArmored(filled)).toMatchObject({ outcome: 'opened', text: 'hello' })
  expect(outcomeOf(await openArmored(`${filled}\n`))).toBe('too-large: armor')
  expect(outcomeOf(await openArmored('-'.repeat(5_000_000)))).toBe('too-large: armor')
})

/** Each took a second or five when lines were shifted off an array, and the parser runs unthreaded. */
test.each([
  ['line ends', '\n'.repeat(131_072)],
  ['headers', `-----BEGIN PGP MESSAGE-----\n${'A:\n'.repeat(43_000)}\n-----END PGP MESSAGE-----`],
  ['line ends before a block', `${'\n'.repeat(130_000)}-----END PGP MESSAGE-----`],
  ['spaces', `-----BEGIN PGP MESSAGE-----\n\nAAAA${' '.repeat(131_000)}x`],
])('a flood of %s is refused forty times over', { timeout: 15_000 }, (_, text) => {
  for (let round = 0; round < 40; round++) expect(read(text)).toBeNull()
})

test('a certificate is not read as a message, nor a message as a certificate', () => {
  expect(dearmor(bot.certificate, 'PUBLIC KEY BLOCK')).not.toBeNull()
  expect(dearmor(bot.certificate, 'MESSAGE')).toBeNull()
  expect(dearmor(good, 'PUBLIC KEY BLOCK')).toBeNull()
})
