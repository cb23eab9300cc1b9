import { expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { armorMessage, armoredLength } from '../../../src/openpgp/format/armor-writer.ts'
import { hello, openArmored } from '../../support/openpgp-engine.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { runs } from '../../support/chance.ts'
import { fc } from '../../support/property.ts'

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
