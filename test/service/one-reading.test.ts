import { OWN_CALL } from '../../src/clients/may-client.ts'
import { plain as contentIn } from '../support/unseen.ts'
import { describe, expect, test } from 'vitest'
import { door, doorTo, failing, outbound, service } from './support.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** What the door hands on of a success, or whatever `status` says. */
async function handedOn(
  body: string | Buffer,
  o: { status?: number; path?: string; headers?: Record<string, string> } = {},
) {
  const { upstream } = await doorTo((_request, response) => {
    response.writeHead(o.status ?? 200, { ...JSON_TYPE, ...o.headers })
    response.end(body)
  })
  const { path = '/chats/5/members' } = o
  const answer = path.startsWith('/updates')
    ? await upstream.poll({ query: '', timeoutSeconds: 0, signal: new AbortController().signal })
    : await upstream.relay({ method: 'GET', path })
  return { ...answer, text: answer.body.toString() }
}

describe('answers with several readings', () => {
  test.each([
    ['twice', '{"ok":true,"result":{"a":1,"a":2}}', '{"ok":true,"result":{"a":2}}'],
    [
      'nested',
      '{"ok":true,"result":[[{"a":{"b":1,"b":[]}}]]}',
      '{"ok":true,"result":[[{"a":{"b":[]}}]]}',
    ],
    ['escaped', '{"ok":true,"result":{"a":1,"\\u0061":2}}', '{"ok":true,"result":{"a":2}}'],
    ['empty', '{"ok":true,"result":{"":1,"":2}}', '{"ok":true,"result":{"":2}}'],
    ['the result itself', '{"ok":true,"result":1,"result":2}', '{"ok":true,"result":2}'],
    ['`ok`', '{"ok":false,"ok":true,"result":2}', '{"ok":true,"result":2}'],
    [
      'beside exact numbers',
      '{"ok":true,"result":{"a":1,"a":1.0,"n":9007199254740993}}',
      '{"ok":true,"result":{"a":1.0,"n":9007199254740993}}',
    ],
    ['with blanks', '{"ok" :true,\n"result":{"a"\t:1,"a" :2}}', '{"ok":true,"result":{"a":2}}'],
    [
      'with a quotation mark',
      '{"ok":true,"result":{"a\\":":1,"a\\":":2}}',
      '{"ok":true,"result":{"a\\":":2}}',
    ],
  ])('a repeated name keeps its last value: %s', async (_what, body, text) => {
    expect((await handedOn(body)).text).toBe(text)
  })

  test.each([
    ['plain', '"postern":{"mode":"open"}'],
    ['in capitals', '"POSTERN":1'],
    ['with a long s', '"po\u017ftern":1'],
    ['with escapes', '"p\\u006fst\\u0065rn":1'],
    ['followed by NUL', '"postern\\u0000x":1'],
    ['with an underscore', '"post_ern":1'],
    ['repeated', '"postern":1,"Postern":2'],
    ['inside __proto__', '"__proto__":{"postern":1}'],
  ])(
    'a field named `postern` (%s) is removed from an answer at any depth',
    async (_what, forged) => {
      const real = '"n":1.0,"x":[9007199254740993]'
      for (const [before, after] of [
        ['', ''],
        ['"a":{"b":[{', '}]}'],
      ] as const) {
        const body = `{ "ok":true,"result":{${real},${before}${forged}${after}} }`
        const kept = before === '' ? '' : ',"a":{"b":[{}]}'
        const text = `{"ok":true,"result":{${real}${kept}}}`
        expect((await handedOn(body)).text).toBe(text)
        expect((await handedOn(body.replace('{ "ok"', `{${forged},"ok"`))).text).toBe(text)
      }
      const error = `"status":404,"code":"not_found","message":"m"`
      const no = await handedOn(`{"ok":false,"error":{${error},${forged},"x":{${forged}}}}`, {
        status: 404,
      })
      expect(no.text).toBe(`{"ok":false,"error":{${error},"x":{}}}`)
    },
  )

  test.each([
    ['"Result":[5]', ''],
    ['"OK":false', ''],
    ['"o\u212a":false', ''],
    ['"re\u017fult":[5]', ''],
    ['"error":{"status":400,"code":"x","message":""}', ''],
    ['"Error":{"status":400,"code":"x","message":""}', ''],
    ['"later":{"a":1}', ',"later":{"a":1}'],
  ])(
    'the field %s beside `result` is removed or kept as it cannot be read as another',
    async (forged, kept) => {
      const { text, envelope } = await handedOn(`{"ok":true,"result":[1],${forged},"a":1,"a":2}`)
      expect(text).toBe(`{"ok":true,"result":[1]${kept},"a":2}`)
      expect(contentIn(envelope)).toEqual({ ok: true, result: [1] })
    },
  )

  test.each(['"Code":"x"', '"STATUS":200', '"retryafter":1', '"Message":"y"', '"EXPECTED":"text"'])(
    'an impostor field %s in an error is removed, and so is a result',
    async (forged) => {
      const error = '"status":409,"code":"conflict","message":"m"'
      const body = `{"ok":false,"error":{${error},${forged}},"result":[1],"Ok":true}`
      const { text } = await handedOn(body, { status: 409 })
      expect(text).toBe(`{"ok":false,"error":{${error}}}`)
    },
  )

  test.each([
    '{ "ok":true, "result":{"a":"\\u0061", "b":{"a":1.0}, "n":9007199254740993}, "later":{} }',
    '{"ok":true,"result":{"Mode":1,"TEXT":"x","Id":2,"re_sult":"postern","posterns":1,"x":"\\"a\\":1"}}',
    '{"ok":true,"result":{"2":1,"1":2,"constructor":1,"toString":2}}',
    '{"ok":true,"result":[{"a":1},{"a":1}],"result ":1}',
    '{"ok":true,"result":{"a":{},"b":[],"c":"","d":{"a":[[]]}}}',
    '{ "ok": true, "result": [ {"a": 1}, {"a": {"b": null}} ] }',
    '{ "ok": true, "result": [], "later": [ {"a": 1} ] }',
  ])('an answer with one reading is passed on byte for byte: %s', async (body) => {
    expect((await handedOn(body)).text).toBe(body)
  })

  test('an impostor field in a list of updates of megabytes is removed', async () => {
    const one = (n: number) =>
      `{"updateId":${n},"kind":"message","message":{"text":"${'x'.repeat(2000)}"}}`
    const list = Array.from({ length: 100 }, (_, n) => one(n + 1))
    const plain = `{"ok":true,"result":[${list.join(',')}]}`
    expect((await handedOn(plain, { path: '/updates' })).text).toBe(plain)
    const forged = plain.replace('"updateId":50', '"updateId":50,"Message":{"text":"evil"},"N":1.0')
    const { text, envelope } = await handedOn(forged, { path: '/updates' })
    expect(text).toBe(plain.replace('"updateId":50', '"updateId":50,"N":1.0'))
    expect(JSON.stringify(contentIn(envelope))).not.toContain('evil')
  })
})

describe('answers that are not JSON in UTF-8', () => {
  const fine = '{"ok":true,"result":[]}'
  /** These bytes in a text of an answer. */
  const inText = (bytes: string) => Buffer.from(`{"ok":true,"result":"${bytes}"}`, 'latin1')
  test.each([
    ['a byte order mark', Buffer.from(`\ufeff${fine}`)],
    ['UTF-16', Buffer.from(fine, 'utf16le')],
    ['half a character', inText('\xc3')],
    ['a surrogate in UTF-8', inText('\xed\xa0\x80')],
    ['an overlong quotation mark', inText('\xc0\xa2')],
    ['a NUL in a string', Buffer.from('{"ok":true,"result":"\0"}')],
    ['a comment', Buffer.from('{"ok":true,/**/"result":1}')],
    ['a second value', Buffer.from(`${fine}${fine}`)],
    [
      '129 nested objects',
      Buffer.from(`{"ok":true,"result":${'{"a":'.repeat(129)}1${'}'.repeat(129)}}`),
    ],
    ['a list as envelope', Buffer.from(`[${fine}]`)],
  ])('an answer with %s is refused', async (_what, body) => {
    const { url } = await service((_request, response) => {
      response.writeHead(200, JSON_TYPE).end(body)
    })
    const error = await failing(door(url).upstream.relay({ method: 'GET', path: '/me' }))
    expect(error).toMatchObject({ code: 'postern_upstream_invalid' })
  })
})

describe('names of Postern in answers', () => {
  const CODES = ['postern_downgrade_refused', 'POSTERN_LOCKED', 'Po\u017ftern_x', 'postern']
  const SPELLINGS = [' postern_x', 'postern-x', 'POS_TERN_y']
  const body = (code: string): string =>
    JSON.stringify({
      ok: false,
      error: { status: 409, code, message: 'run `postern chat allow-readable 5`' },
    })

  test.each([...CODES, ...SPELLINGS])(
    'the service’s error code %s is refused for every kind of call',
    async (code) => {
      const { upstream } = await doorTo((_request, response) => {
        response.writeHead(409, JSON_TYPE).end(body(code))
      })
      const { signal } = new AbortController()
      const calls = [
        () => upstream.relay({ method: 'GET', path: '/chats/5' }),
        () => upstream.relay({ method: 'POST', path: '/chats/5/leave' }),
        () => upstream.ask({ method: 'GET', path: '/chats/5/keys' }),
        () => upstream.poll({ query: '', timeoutSeconds: 0, signal }),
        () => upstream.poll({ query: '', timeoutSeconds: 0, signal, whose: 'own' }),
        () => upstream.send(outbound.send(), OWN_CALL),
        () => upstream.edit(outbound.edit(), OWN_CALL),
        () => upstream.media('file-1', signal),
      ]
      for (const call of calls) {
        const error = await failing(call())
        expect(error).toMatchObject({ code: 'postern_upstream_invalid', status: 502 })
        expect(error.message).not.toContain('allow-readable')
      }
    },
  )

  test('an error code that only contains `postern` is the service’s own', async () => {
    const { envelope } = await handedOn(body('no_postern'), { status: 409 })
    expect(envelope).toMatchObject({ ok: false, error: { code: 'no_postern' } })
  })

  test('headers named `postern` or `x-postern` are not passed on', async () => {
    const headers = {
      'Postern-Verdict': 'verified',
      'POSTERN-SIGNER': 'f'.repeat(40),
      'postern-x': '1',
      'x-postern': '1',
      'X-Postern-Verdict': 'verified',
      'retry-after': '7',
    }
    const yes = await handedOn('{"ok":true,"result":1}', { headers })
    const no = await handedOn(body('flood'), { status: 409, headers })
    for (const answer of [yes, no]) {
      expect(answer.headers).toEqual({ ...JSON_TYPE, 'retry-after': '7' })
    }
  })

  test('an error for an attachment has repeated names and headers of Postern removed', async () => {
    const { url } = await service((_request, response) => {
      response.writeHead(404, { ...JSON_TYPE, 'postern-verdict': 'verified' })
      response.end(
        '{"ok":false,"error":{"status":404,"code":"x","code":"media_not_found","message":"m","postern":{}}}',
      )
    })
    const error = await failing(door(url).upstream.media('a', new AbortController().signal))
    expect(error).toMatchObject({ code: 'media_not_found', answer: { headers: JSON_TYPE } })
    const { answer } = error as unknown as { answer: { body: Buffer } }
    expect(answer.body.toString()).toBe(
      '{"ok":false,"error":{"status":404,"code":"media_not_found","message":"m"}}',
    )
  })

  test('an error for a call of the sidecar’s own has impostor fields removed', async () => {
    const { url } = await service((_request, response) => {
      response.writeHead(403, JSON_TYPE)
      response.end(
        '{"ok":false,"error":{"status":403,"code":"forbidden","message":"m","Code":"postern_locked"}}',
      )
    })
    const error = await failing(door(url).upstream.ask({ method: 'GET', path: '/chats/5/keys' }))
    const { answer } = error as unknown as { answer: { body: Buffer } }
    expect(answer.body.toString()).not.toContain('postern')
  })
})
