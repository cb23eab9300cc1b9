import { expect, test } from 'vitest'
import { armorMessage } from '../../../src/openpgp/format/armor-writer.ts'
import { dearmorLines, plainArmor } from '../../../src/openpgp/format/armor.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { isUsual, seeds } from '../../support/chance.ts'
import { randomFrom } from '../../support/openpgp-mutate.ts'
import { seeded } from '../../support/openpgp-bytes.ts'

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

test('`plainArmor` leaves CRLF and uneven lines to `dearmorLines`', () => {
  const bytes = seeded('armor', 200)
  expect(agrees(armor(bytes, { endOfLine: '\r\n' }))).toBe('left')
  const [first, second, ...rest] = armor(bytes, { checksum: false }).split('\n')
  const uneven = [first, second, 'AAAA', ...rest].join('\n')
  expect(agrees(uneven)).toBe('left')
  expect(dearmorLines(uneven, 'MESSAGE')).not.toBeNull()
})

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

test.each(['\u00c1', ' ', '.', '\0', '=', '\t'])(
  '`plainArmor` leaves a text with the character %j inside its base64 to `dearmorLines`',
  (char) => {
    const text = armor(Buffer.alloc(96), { checksum: false })
    const at = text.indexOf('\n\n') + 20
    expect(agrees(text)).toBe('read')
    expect(agrees(text.slice(0, at) + char + text.slice(at + 1))).toBe('left')
    expect(agrees(text.slice(0, at) + char.repeat(4) + text.slice(at + 4))).toBe('left')
  },
)

const begin = '-----BEGIN PGP MESSAGE-----\n'
const end = '-----END PGP MESSAGE-----\n'

test.each([
  ['no data', `${begin}\n${end}`],
  ['an empty line', `${begin}\n\n${end}`],
  ['empty lines', `${begin}\n\n\n\n${end}`],
  ['a checksum and no data', `${begin}\n=twTO\n${end}`],
  ['no empty line before its data', `${begin}AAAA\n${end}`],
  ['five characters', `${begin}\nAAAAA\n${end}`],
  ['uneven lines of four in all', `${begin}\nAA\nA\nA\n${end}`],
])('`plainArmor` leaves a block with %s to `dearmorLines`', (_, text) => {
  expect(agrees(text)).toBe('left')
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
