import { expect, test } from 'vitest'
import { openInner, openPackets, outcomeOf, toBot } from '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'

test.each(['b', 't', 'u'])('P40 a literal of format %s with UTF-8 opens', async (format) => {
  const text = 'grüße, 世界 🌍'
  expect(await openInner(literal(text, { format }))).toMatchObject({ outcome: 'opened', text })
})

test.each(['z', '1', 'l', 'm', 'B', '\0'])(
  'P40 a literal of format %j is damaged',
  async (format) => {
    expect(outcomeOf(await openInner(literal('hello', { format })))).toBe('damaged: literal')
  },
)

test.each([
  ['a lone continuation byte', concat(0x80)],
  ['an overlong slash', concat('c0af')],
  ['a surrogate', concat('eda080')],
  ['a character beyond the last', concat('f4908080')],
  ['a sequence cut short', concat(Buffer.from('hello'), 'e4b8')],
  ['Latin-1', Buffer.from('grüße', 'latin1')],
  ['UTF-16 with its mark', concat('fffe', Buffer.from('hello', 'utf16le'))],
  ['UTF-16 without its mark', Buffer.from('übel', 'utf16le')],
  ['noise', seeded('noise', 200)],
])('P41 %s is damaged', async (_, data) => {
  for (const format of ['b', 't', 'u']) {
    expect(outcomeOf(await openInner(literal(data, { format })))).toBe('damaged: encoding')
  }
})

test.each([
  ['P41 a byte-order mark is kept', '\ufeffhello'],
  ['P42 CRLF and lone CR are kept for the reader to shape', 'a\r\nb\rc\n'],
  ['P42 NUL, ESC and bidi overrides are kept', 'a\0b\u001b[31mc\u202ed'],
  ['P42 a hundred thousand line ends', '\n'.repeat(80_000)],
  ['noncharacters', 'a\ufffeb\uffffc'],
  ['a replacement character that somebody wrote', 'a\ufffdb'],
  ['P45 JSON', '{"ok":true}'],
  ['P43 nothing', ''],
])('%s', async (_, text) => {
  expect(await openInner(literal(text))).toMatchObject({ outcome: 'opened', text })
})

test('P45 a text that is itself an armored message is not opened again', async () => {
  const text = armor(toBot(literal('inside')))
  expect(await openInner(literal(text))).toMatchObject({ outcome: 'opened', text })
})

test.each([
  ['a path', Buffer.from('../../etc/passwd')],
  ['255 bytes', Buffer.alloc(255, 'x')],
  ['NUL', Buffer.from('a\0b')],
  ['no UTF-8', concat('fffefd')],
  ['the name of old programs for no file', Buffer.from('_CONSOLE')],
])('P44 a file name of %s is passed over', async (_, name) => {
  expect(await openInner(literal('hello', { name }))).toMatchObject({ text: 'hello' })
})

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['a format alone', Buffer.from('u')],
  ['a name longer than the packet', concat(Buffer.from('u'), 200, 'abcd')],
  ['no date', concat(Buffer.from('u'), 0, '000000')],
])('a literal with %s is damaged', async (_, body) => {
  expect(outcomeOf(await openInner(packet(11, body)))).toBe('damaged: literal')
})

test('what a text says is opened as one piece, to the last character', async () => {
  const text = `${'🌍'.repeat(2048)} ${'x'.repeat(4096)}\u0301`
  expect(await openPackets(toBot(literal(text)))).toMatchObject({ outcome: 'opened', text })
})
