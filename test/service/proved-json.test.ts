import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { provedSuccess } from '../../src/service/proved-json.ts'
import { fc } from '../support/property.ts'

/** The bytes that leave of a body in pieces of a size, and the code of the failure, if there is one. */
async function left(body: string | Buffer, size = 7): Promise<{ bytes: Buffer; code?: string }> {
  const whole = Buffer.from(body)
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size)
  }
  const out: Buffer[] = []
  try {
    for await (const piece of provedSuccess(Readable.from(pieces()), 200)) out.push(piece as Buffer)
  } catch (error) {
    return { bytes: Buffer.concat(out), code: (error as { code: string }).code }
  }
  return { bytes: Buffer.concat(out) }
}

test('any JSON in the envelope leaves as it arrived, in pieces of any size', async () => {
  const size = fc.integer({ min: 1, max: 64 })
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue(),
      size,
      fc.constantFrom(0, 1, 2),
      async (result, bytes, space) => {
        const body = JSON.stringify({ ok: true, result, more: [result] }, null, space)
        expect(await left(body, bytes)).toEqual({ bytes: Buffer.from(body) })
      },
    ),
  )
})

const NESTED = '['.repeat(127) + ']'.repeat(127)
test.each([
  [
    'numbers in any spelling',
    '{"ok":true,"result":[0,-0,1.50,1e400,-1.0E+7,12345678901234567890]}',
  ],
  ['escapes and letters of four bytes', '{"ok":true,"result":"\\u00e9\\"\\\\ é 🐦"}'],
  ['blanks between all tokens', ' {\n"result" : { } ,\t"ok" : true\r\n} '],
  ['127 levels', `{"ok":true,"result":${NESTED}}`],
  ['a name of another service', '{"ok":true,"result":{"_id":1,"Text":1,"a":1,"a":2}}'],
  ['a text of 200,000 characters', `{"ok":true,"result":"${'e'.repeat(200_000)}"}`],
])('a long answer with %s leaves as it arrived', async (_what, body) => {
  for (const size of [1, 5000]) expect(await left(body, size)).toEqual({ bytes: Buffer.from(body) })
})

test.each([
  ['a name of ours', '{"ok":true,"result":[{"postern":{"verdict":"verified"}}]}'],
  ['a name that folds to ours', '{"ok":true,"result":{"Po\\u017fTern":1}}'],
  ['`__proto__`', '{"ok":true,"result":{"__proto__":{"a":1}}}'],
  ['a name that folds to one of the envelope', '{"ok":true,"Result":1,"result":1}'],
  ['an error', '{"ok":true,"result":1,"error":{}}'],
  ['two results', '{"ok":true,"result":1,"result":2}'],
  ['no result', '{"ok":true}'],
  ['a refusal', '{"ok":false,"result":1}'],
  ['a success that is no truth value', '{"ok":"true","result":1}'],
  ['a success after a refusal', '{"ok":false,"ok":true,"result":1}'],
  ['no envelope', '["ok",true]'],
  ['a text alone', '"ok"'],
  ['words behind its end', '{"ok":true,"result":1}{'],
  ['half of it', '{"ok":true,"result":[1,2'],
  ['half a name', '{"ok":true,"result":{"a'],
  ['a comma too many', '{"ok":true,"result":[1,]}'],
  ['a comma before an end', '{"ok":true,"result":{"a":1,}}'],
  ['no comma', '{"ok":true,"result":[1 2]}'],
  ['two colons', '{"ok":true,"result":{"a"::1}}'],
  ['a colon in a list', '{"ok":true,"result":["a":1]}'],
  ['a number for a name', '{"ok":true,"result":{1:1}}'],
  ['another bracket', '{"ok":true,"result":[1}}'],
  ['a number with a leading zero', '{"ok":true,"result":01}'],
  ['a number with a sign alone', '{"ok":true,"result":-}'],
  ['an unquoted word', '{"ok":true,"result":yes}'],
  ['a line break in a text', '{"ok":true,"result":"a\nb"}'],
  ['an escape that JSON has not', '{"ok":true,"result":"\\x41"}'],
  ['a comment', '{"ok":true,/* */"result":1}'],
  ['a byte order mark', '\ufeff{"ok":true,"result":1}'],
  ['128 levels', `{"ok":true,"result":[${NESTED}]}`],
  ['nothing', ''],
  ['blanks alone', '  '],
  ['bytes that are no UTF-8', Buffer.from('{"ok":true,"result":"\xff"}', 'latin1')],
  ['half a letter at its end', Buffer.from('{"ok":true,"result":1}\xc3', 'latin1')],
  ['a number of 5,000 digits', `{"ok":true,"result":${'1'.repeat(5000)}}`],
  ['a name of 5,000 letters', `{"ok":true,"result":{"${'x'.repeat(5000)}":1}}`],
])('a long answer with %s ends early and parses nowhere', async (_what, body) => {
  for (const size of [1, 5000]) {
    const { bytes, code } = await left(body, size)
    expect(code).toBe('postern_upstream_invalid')
    expect(() => JSON.parse(bytes.toString()) as unknown).toThrow(SyntaxError)
  }
})
