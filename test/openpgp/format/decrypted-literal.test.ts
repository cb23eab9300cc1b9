import { expect, test } from 'vitest'
import { openInner, outcomeOf, toBot } from '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'

test.each(['b', 't', 'u'])('a literal of format %s with UTF-8 opens (P40)', async (format) => {
  const text = 'grüße, 世界 🌍'
  expect(await openInner(literal(text, { format }))).toMatchObject({ outcome: 'opened', text })
})

test.each(['z', '1', 'l', 'm', 'B', '\0'])(
  'a literal of format %j is damaged (P40)',
  async (format) => {
    expect(outcomeOf(await openInner(literal('hello', { format })))).toBe('damaged: literal')
  },
)

test.each([
  ['a lone continuation byte', concat(0x80)],
  ['an overlong slash', concat('c0af')],
  ['a character beyond the last', concat('f4908080')],
  ['a sequence cut short', concat(Buffer.from('hello'), 'e4b8')],
  ['Latin-1', Buffer.from('grüße', 'latin1')],
  ['UTF-16 without a byte-order mark', Buffer.from('übel', 'utf16le')],
  ['noise', seeded('noise', 200)],
])('a literal with %s is damaged as `encoding` in every format (P41)', async (_, data) => {
  for (const format of ['b', 't', 'u']) {
    expect(outcomeOf(await openInner(literal(data, { format })))).toBe('damaged: encoding')
  }
})

test.each([
  ['80,000 line ends (P42)', '\n'.repeat(80_000)],
  ['noncharacters', 'a\ufffeb\uffffc'],
  ['a replacement character', 'a\ufffdb'],
  ['JSON (P45)', '{"ok":true}'],
])('a literal with %s keeps its text', async (_, text) => {
  expect(await openInner(literal(text))).toMatchObject({ outcome: 'opened', text })
})

test('a text that is itself an armored message is not opened again (P45)', async () => {
  const text = armor(toBot(literal('inside')))
  expect(await openInner(literal(text))).toMatchObject({ outcome: 'opened', text })
})

test.each([
  ['a NUL byte', Buffer.from('a\0b')],
  ['no UTF-8', concat('fffefd')],
  ['_CONSOLE', Buffer.from('_CONSOLE')],
])('a literal with the file name "%s" opens (P44)', async (_, name) => {
  expect(await openInner(literal('hello', { name }))).toMatchObject({ text: 'hello' })
})

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['a format and no more', Buffer.from('u')],
  ['a name longer than the packet', concat(Buffer.from('u'), 200, 'abcd')],
  ['no date', concat(Buffer.from('u'), 0, '000000')],
])('a literal packet with %s is damaged as `literal`', async (_, body) => {
  expect(outcomeOf(await openInner(packet(11, body)))).toBe('damaged: literal')
})
