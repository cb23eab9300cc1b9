import { expect, test } from 'vitest'
import { dearmor, dearmored } from '../../../src/openpgp/format/armor.ts'
import { ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import { FramingError } from '../../../src/openpgp/format/packets.ts'
import { readerOf } from '../../support/memory-room.ts'
import { armor, crc24 } from '../../support/openpgp-framing.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { runs } from '../../support/chance.ts'
import { fc } from '../../support/property.ts'

const BYTES = seeded('armor', 1000)
const good = armor(BYTES)

async function read(text: string, size = 65_536): Promise<Buffer | null> {
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of dearmored(readerOf(Buffer.from(text, 'latin1'), size))) {
      pieces.push(piece)
    }
    return concat(...pieces)
  } catch (error) {
    expect(error).toBeInstanceOf(FramingError)
    expect(error).toMatchObject({ reason: 'armor' })
    return null
  }
}

test.each([
  ['as most programs write it', good],
  ['without a checksum', armor(BYTES, { checksum: false })],
  ['with CRLF', armor(BYTES, { endOfLine: '\r\n' })],
  ['with headers', armor(BYTES, { headers: ['Version: X 1.0', 'Comment: a: b', 'Comment:'] })],
  ['with trailing spaces and tabs', good.replaceAll('\n', ' \t\n')],
  ['in lines of 4', armor(BYTES, { lineChars: 4 })],
  ['in lines of 6', armor(BYTES, { lineChars: 6 })],
  ['in lines of 7', armor(BYTES, { lineChars: 7 })],
  ['in one line', armor(BYTES, { lineChars: 4096 })],
  [
    'with an empty line before its end',
    armor(BYTES, { checksum: false }).replace('\n-----END', '\n\n-----END'),
  ],
  ['with empty lines behind its checksum', good.replace('\n-----END', '\n\n \n-----END')],
  ['with empty lines around it', `\n \r\n${good}\n\n \t\n`],
  ['without a last line end', good.trimEnd()],
])('a block %s gives its bytes, however it arrives', async (_, text) => {
  for (const size of [1, 5, 64, 65_536]) expect(await read(text, size)).toEqual(BYTES)
})

const checksum = `=${crc24(BYTES).toString('base64')}`
const firstLine = good.split('\n')[2] ?? ''

test.each([
  ['wrong checksum', good.replace(checksum, '=AAAA')],
  ['two checksums', good.replace(checksum, `${checksum}\n${checksum}`)],
  ['text before BEGIN', `hello\n${good}`],
  ['text after END', `${good}hello\n`],
  ['two blocks', good + good],
  ['END of another type', good.replace('END PGP MESSAGE', 'END PGP SIGNATURE')],
  ['no empty line after BEGIN', good.replace('\n\n', '\n')],
  ['no END', good.replace(/-----END.*\n/, '')],
  ['nothing', ''],
  ['nothing between', '-----BEGIN PGP MESSAGE-----\n\n-----END PGP MESSAGE-----'],
  ['only a checksum', `-----BEGIN PGP MESSAGE-----\n\n=AAAA\n-----END PGP MESSAGE-----`],
  ['an empty line in the middle', good.replace(`${firstLine}\n`, `${firstLine}\n\n`)],
  ['an empty line before the checksum', good.replace('\n=', '\n\n=')],
  ['a foreign character', good.replace(firstLine, `${firstLine.slice(0, -1)}!`)],
  ['one character too many', good.replace(firstLine, `${firstLine}A`)],
  ['padding in the middle', good.replace(firstLine, `${firstLine.slice(0, -1)}=`)],
  ['base64 behind padding', armor(seeded('x', 4)).replace('==\n', '==\nAAAA\n')],
  [
    'bits behind the last byte',
    armor(Buffer.alloc(1), { checksum: false }).replace('AA==', 'AB=='),
  ],
  ['padding missing', armor(seeded('x', 4), { checksum: false }).replace('==', '')],
  ['a line without end', `-----BEGIN PGP MESSAGE-----\n\n${'A'.repeat(300_000)}`],
])('a block with %s is refused', async (_, text) => {
  for (const size of [3, 65_536]) expect(await read(text, size)).toBeNull()
})

test('a line may be as long as a message, and not one character longer', async () => {
  const begin = '-----BEGIN PGP MESSAGE-----\n\n'
  const line = 'A'.repeat(131_072)
  const arriving = async (...pieces: string[]): Promise<number> => {
    async function* source(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece))
    }
    let bytes = 0
    for await (const piece of dearmored(new ByteReader(source()))) bytes += piece.length
    return bytes
  }
  const end = '-----END PGP MESSAGE-----'
  expect(await arriving(begin, line, `\n${end}`)).toBe(98_304)
  await expect(arriving(begin, line, 'A', `AAA\n${end}`)).rejects.toThrow('armor')
})

test('every single changed character is judged as the whole text would be', async () => {
  const text = armor(seeded('short', 90))
  for (let at = 0; at < text.length; at++) {
    for (const other of ['A', '=', '\n', ' ', '!']) {
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      const expected = dearmor(changed, 'MESSAGE')
      const given = await read(changed, 50)
      expect(given, `${at} ${other}`).toEqual(expected === null ? null : Buffer.from(expected))
    }
  }
})

test('any bytes survive', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 400 }),
      fc.integer({ min: 1, max: 90 }),
      async (bytes, size) => {
        expect(await read(armor(bytes), size)).toEqual(Buffer.from(bytes))
      },
    ),
    { numRuns: runs(300) },
  )
})
