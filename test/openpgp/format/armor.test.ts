import { expect, test } from 'vitest'
import { dearmored, dearmorLines } from '../../../src/openpgp/format/armor-lines.ts'
import { dearmor, plainArmor } from '../../../src/openpgp/format/armor.ts'
import { armorMessage, armoredLength } from '../../../src/openpgp/format/armor-writer.ts'
import { looksEncrypted } from '../../../src/openpgp/format/encrypted-message.ts'
import { ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import { FramingError } from '../../../src/openpgp/format/packets.ts'
import { readerOf } from '../../support/memory-room.ts'
import { openArmored, outcomeOf, hello } from '../../support/openpgp-engine.ts'
import { armor, crc24 } from '../../support/openpgp-framing.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { runs, isUsual, seeds } from '../../support/chance.ts'
import { fc } from '../../support/property.ts'
import { randomFrom } from '../../support/openpgp-mutate.ts'

const BYTES = seeded('armor', 100)
const good = armor(BYTES)
const read = (text: string): Uint8Array | null => dearmor(text, 'MESSAGE')

/** The bytes of a text that arrives in pieces; null where its armor is refused. */
async function streamed(text: string, pieces: number): Promise<Buffer | null> {
  try {
    const found: Uint8Array[] = []
    for await (const piece of dearmored(readerOf(Buffer.from(text, 'latin1'), pieces))) {
      found.push(piece)
    }
    return concat(...found)
  } catch (error) {
    expect(error).toEqual(new FramingError('armor'))
    return null
  }
}

const unchecked = armor(BYTES, { checksum: false })
const checksum = `=${crc24(BYTES).toString('base64')}`
const [, , firstLine = ''] = good.split('\n')

test.each([
  ['as most programs write it', good],
  ['without a checksum', unchecked],
  ['with CRLF', armor(BYTES, { endOfLine: '\r\n' })],
  ['with headers', armor(BYTES, { headers: ['Version: X 1.0', 'Comment: a: b', 'Comment:'] })],
  ['with trailing spaces and tabs', good.replaceAll('\n', ' \t\n')],
  ['in lines of 4', armor(BYTES, { lineChars: 4 })],
  ['in lines of 76', armor(BYTES, { lineChars: 76 })],
  ['in one line', armor(BYTES, { lineChars: 4096 })],
  ['with an empty line before its end', unchecked.replace('\n-----END', '\n\n-----END')],
  ['with empty lines behind its checksum', good.replace('\n-----END', '\n\n \n-----END')],
  ['with empty lines around it', `\n \r\n${good}\n\n \t\n`],
  ['without a last line end', good.trimEnd()],
  ['with header keys of any words', armor(BYTES, { headers: ['Two Words: x', 'Größe 1/2: x'] })],
  ['with a header of 100,000 characters', armor(BYTES, { headers: [`X: ${'x'.repeat(100_000)}`] })],
  ['with several empty lines before its data', good.replace('\n\n', '\n\n \n\n')],
  ['with an empty line in the middle', good.replace(`${firstLine}\n`, `${firstLine}\n\n`)],
  ['with an empty line before its checksum', good.replace('\n=', '\n\n=')],
  [
    'with blanks inside a line',
    good.replace(firstLine, firstLine.replace(/^(.{8})(.)/, '$1 \t$2 ')),
  ],
  ['with indented lines', good.replaceAll(/^/gm, ' \t')],
  ['without headers and the empty line', good.replace('\n\n', '\n')],
  ['with its checksum on the last line of data', good.replace(`\n${checksum}`, checksum)],
  ['with a wrong checksum', good.replace(checksum, '=AAAA')],
  ['with a checksum of three characters', good.replace(checksum, checksum.slice(0, -1))],
  ['with a checksum that is no base64', good.replace(checksum, '=!!!!')],
])('an armored block %s is decoded, whole and in pieces', async (_, text) => {
  expect(read(text)).toEqual(BYTES)
  for (const pieces of [1, 5, 64, 65_536]) expect(await streamed(text, pieces)).toEqual(BYTES)
})

test.each([6, 7])('an armored block in lines of %i is decoded in pieces', async (lineChars) => {
  for (const pieces of [1, 64]) {
    expect(await streamed(armor(BYTES, { lineChars }), pieces)).toEqual(BYTES)
  }
})

test('own armor has lines of 76, no headers, and a checksum', () => {
  for (const length of [...Array.from({ length: 59 }, (_, at) => at + 1), 1000, 1001, 1002]) {
    const bytes = seeded('lines', length)
    const lines = armorMessage(bytes).split('\n')
    expect(lines.slice(0, 2)).toEqual(['-----BEGIN PGP MESSAGE-----', ''])
    expect(lines.slice(-2)).toEqual(['-----END PGP MESSAGE-----', ''])
    if (length >= 1000) expect(Math.max(...lines.map((line) => line.length))).toBe(76)
    expect(lines.at(-3)).toBe(`=${crc24(bytes).toString('base64')}`)
  }
})

const padded = armor(seeded('x', 4), { checksum: false })

test.each([
  ['two checksums', good.replace(checksum, `${checksum}\n${checksum}`)],
  ['a byte-order mark before BEGIN', `\ufeff${good}`],
  ['a quotation mark before each line', good.replaceAll(/^/gm, '> ')],
  [
    'no empty line after BEGIN and one in its data',
    good.replace('\n\n', '\n').replace(`${firstLine}\n`, `${firstLine}\n\n`),
  ],
  ['no empty line after a header', good.replace('\n\n', '\nComment: x\n')],
  ['BEGIN alone', '-----BEGIN PGP MESSAGE-----'],
  ['no data', '-----BEGIN PGP MESSAGE-----\n\n-----END PGP MESSAGE-----'],
  ['a checksum alone', `-----BEGIN PGP MESSAGE-----\n\n=AAAA\n-----END PGP MESSAGE-----`],
  ['data behind its checksum', good.replace(checksum, `${checksum}\nAAAA`)],
  ['words behind its checksum', good.replace(checksum, `${checksum}\nhello`)],
  ['one character too many', good.replace(firstLine, `${firstLine}A`)],
  ['base64 behind padding', padded.replace('==\n', '==\nAAAA\n')],
  ['missing padding', padded.replace('==', '')],
  ['spare bits that are set', armor(Buffer.alloc(1), { checksum: false }).replace('A==', 'B==')],
  ['a header without a name', armor(BYTES, { headers: [': x'] })],
  ['a line of words among its headers', armor(BYTES, { headers: ['Comment: x', 'hello'] })],
  ['dash-escaped lines', good.replaceAll('-----', '- -----')],
  ['no characters', ''],
])('an armored block with %s is rejected, whole and in pieces (P1, P3, P4)', async (_, text) => {
  expect(read(text)).toBeNull()
  expect(outcomeOf(await openArmored(text))).toBe('damaged: armor')
  expect(looksEncrypted(text)).toBe(false)
  for (const pieces of [3, 65_536]) expect(await streamed(text, pieces)).toBeNull()
})

test.each([
  'SIGNED MESSAGE',
  'SIGNATURE',
  'PUBLIC KEY BLOCK',
  'PRIVATE KEY BLOCK',
  'MESSAGE, PART 1/2',
])('an armored block of type %s is not read as a message', (type) => {
  expect(read(armor(BYTES, { type }))).toBeNull()
})

/** Lines that are shifted off an array make each of these take seconds. */
test.each([
  ['line ends', '\n'.repeat(131_072)],
  ['headers', `-----BEGIN PGP MESSAGE-----\n${'A:\n'.repeat(43_000)}\n-----END PGP MESSAGE-----`],
  ['line ends before a block', `${'\n'.repeat(130_000)}-----END PGP MESSAGE-----`],
  ['spaces', `-----BEGIN PGP MESSAGE-----\n\nAAAA${' '.repeat(131_000)}x`],
])('a message of %s without data is rejected ten times', (_, text) => {
  for (let round = 0; round < 10; round++) expect(read(text)).toBeNull()
})

test('an armor line that arrives in pieces may have 131,072 characters, and not one more', async () => {
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

test('armor with any one character changed is decoded in pieces as it is whole', async () => {
  const text = armor(seeded('short', 90))
  for (let at = 0; at < text.length; at++) {
    for (const other of ['A', '=', '\n', ' ', '!']) {
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      const whole = read(changed)
      const expected = whole === null ? null : Buffer.from(whole)
      expect(await streamed(changed, 50), `${at} ${other}`).toEqual(expected)
    }
  }
})

const ROOM = Buffer.alloc(6000, 'left from before')

/** Whether `plainArmor` decodes a text, and then to the bytes of `dearmorLines`. */
function agrees(text: string): 'read' | 'left' {
  const bytes = plainArmor(text, 'MESSAGE')
  expect(plainArmor(text, 'MESSAGE', ROOM)).toEqual(bytes)
  if (bytes === null) return 'left'
  expect(dearmorLines(text, 'MESSAGE')).toEqual(bytes)
  return 'read'
}

test.each([1, 2, 3, 47, 48, 49, 56, 57, 58, 500, 501, 5000])(
  '`plainArmor` reads the usual forms of armor of %i bytes',
  (length) => {
    const bytes = seeded('armor', length)
    expect(agrees(armorMessage(bytes))).toBe('read')
    expect(agrees(armor(bytes))).toBe('read')
    expect(agrees(armor(bytes, { checksum: false, lineChars: 76 }))).toBe('read')
    expect(agrees(armor(bytes, { headers: ['Version: x 1.0', 'Comment:'] }))).toBe('read')
    expect(agrees(armor(bytes).trimEnd())).toBe('read')
  },
)

test('`plainArmor` reads nothing into a buffer that is too small', () => {
  const text = armorMessage(seeded('armor', 100))
  expect(plainArmor(text, 'MESSAGE', Buffer.alloc(100))).toEqual(seeded('armor', 100))
  expect(plainArmor(text, 'MESSAGE', Buffer.alloc(99))).toBeNull()
  expect(plainArmor(text, 'MESSAGE', Buffer.alloc(0))).toBeNull()
})

test('`plainArmor` reads armor headers of up to 1024 characters and leaves malformed ones to `dearmorLines`', () => {
  const bytes = seeded('armor', 50)
  const of = (...headers: string[]): string => armor(bytes, { headers })
  // A header ends in a line break, all but the last of which count.
  expect(agrees(of(`Comment: ${'x'.repeat(1024 - 9)}`))).toBe('read')
  expect(agrees(of(`Comment: ${'x'.repeat(1024 - 8)}`))).toBe('left')
  expect(agrees(of('Version: 1', 'Comment: x'))).toBe('read')
  expect(agrees(of('Version: 1', 'no header'))).toBe('left')
  expect(agrees(of('no header', 'Version: 1'))).toBe('left')
})

/** Characters that decoders take for others, or leave out. */
const TELLING = ['-', '_', '=', ' ', '\t', '\r', '\n', '+', '/', '\0', '.', 'Ł', '\u00c1', '\u2028']

test('`plainArmor` decodes a mutated text to the bytes of `dearmorLines`, or not at all', () => {
  const tally = { read: 0, left: 0 }
  for (const seed of seeds(1500)) {
    const random = randomFrom(seed)
    const bytes = seeded(`armor ${seed}`, 1 + random(200))
    let text = armor(bytes, {
      checksum: random(2) === 0,
      lineChars: [4, 64, 76, 6][random(4)] ?? 64,
    })
    for (let count = random(3); count > 0; count--) {
      const at = random(text.length)
      const char = random(2) === 0 ? (TELLING[random(TELLING.length)] ?? '') : 'Az9+'[random(4)]
      const kept = text.slice(at + random(2))
      text = text.slice(0, at) + (random(4) === 0 ? '' : char) + kept
    }
    tally[agrees(text)]++
  }
  if (!isUsual) return
  expect(tally.read).toBeGreaterThan(300)
  expect(tally.left).toBeGreaterThan(300)
})

const anyBytes = fc.uint8Array({ minLength: 1, maxLength: 3000 })

test('`armorMessage` is read back as the same bytes and is as long as `armoredLength`', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = armorMessage(bytes)
      expect(Buffer.from(dearmor(text, 'MESSAGE') ?? [])).toEqual(Buffer.from(bytes))
      expect(text).toHaveLength(armoredLength(bytes.length))
    }),
    { numRuns: runs(200) },
  )
})

test('armor with any line length, line ends, headers and checksum is read as the same bytes', () => {
  const freedom = fc.record({
    checksum: fc.boolean(),
    lineChars: fc.integer({ min: 1, max: 19 }).map((quads) => quads * 4),
    endOfLine: fc.constantFrom('\n', '\r\n', ' \n', '\t\r\n'),
    headers: fc.array(fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,10}: [ -~]{0,40}$/), {
      maxLength: 4,
    }),
  })
  fc.assert(
    fc.property(anyBytes, freedom, (bytes, options) => {
      expect(Buffer.from(dearmor(armor(bytes, options), 'MESSAGE') ?? [])).toEqual(
        Buffer.from(bytes),
      )
    }),
    { numRuns: runs(200) },
  )
})

test('`dearmor` rejects an arbitrary text or decodes exactly the base64 of its block', () => {
  const pieces = fc.constantFrom(
    '-----BEGIN PGP MESSAGE-----',
    '-----END PGP MESSAGE-----',
    '',
    'AAAA',
    'AA==',
    '=AAAA',
    'Comment: x',
    ' ',
    '\u00a0',
    '\ufeff',
    '\f',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.array(pieces, { maxLength: 12 }).map((lines) => lines.join('\n')),
  )
  fc.assert(
    fc.property(text, (one) => {
      const bytes = dearmor(one, 'MESSAGE')
      if (bytes === null) return
      const body = one.replace(/^[^]*?BEGIN PGP MESSAGE-----[^]*?\n[^\S\n]*\n/, '')
      expect(body.replace(/\s/g, '')).toContain(Buffer.from(bytes).toString('base64'))
    }),
    { numRuns: runs(1000) },
  )
})

test('an armored message with one changed character opens as the same text or not at all', async () => {
  const text = armor(hello())
  const change = fc.tuple(
    fc.nat({ max: text.length - 1 }),
    fc.constantFrom(...Array.from('ABab09+/=-: \n\r\t\0\u2028é')),
  )
  await fc.assert(
    fc.asyncProperty(change, async ([at, character]) => {
      const opened = await openArmored(text.slice(0, at) + character + text.slice(at + 1))
      if (opened.outcome === 'opened') expect(opened.text).toBe('hello')
      else expect(['damaged', 'not-recipient', 'not-encrypted']).toContain(opened.outcome)
    }),
    { numRuns: runs(200) },
  )
})
