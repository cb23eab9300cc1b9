import { describe, expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { no, ok } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()

interface Pass {
  method: string
  path: string
  query?: string
  body?: unknown
}

/** Every call that passes as it came; `{chat}` is a readable chat once and a protected one once. */
const PASSED: Pass[] = [
  { method: 'GET', path: '/commands' },
  { method: 'GET', path: '/commands', query: '?scope=chat:{chat}' },
  {
    method: 'PUT',
    path: '/commands',
    body: { commands: [{ command: '/Start', description: 'a  b' }] },
  },
  { method: 'DELETE', path: '/commands', query: '?scope=private' },
  { method: 'DELETE', path: '/messages/7', query: '?chatId={chat}' },
  { method: 'DELETE', path: '/messages/7', body: { chatId: '{chat}' } },
  { method: 'DELETE', path: '/messages/7' },
  { method: 'POST', path: '/callbacks/press-1/answer', body: { alert: true } },
  { method: 'POST', path: '/callbacks/press-1/answer' },
  { method: 'GET', path: '/chats/{chat}/members' },
  { method: 'GET', path: '/chats/{chat}/members/12' },
  { method: 'POST', path: '/chats/{chat}/leave' },
  { method: 'POST', path: '/chats/{chat}/typing' },
  { method: 'POST', path: '/chats/{chat}/typing', body: { typing: false } },
  { method: 'GET', path: '/resolve/Some_Body' },
  { method: 'GET', path: '/users/12/key' },
]

async function chats(): Promise<[kind: string, chat: DoubleChat][]> {
  return [
    ['a readable chat', stage.openGroup()],
    ['a protected chat', stage.group([await stage.friend()])],
  ]
}

for (const { method, path, query = '', body } of PASSED) {
  const name = `${method} ${path}${query} ${body === undefined ? 'without a body' : 'with a body'}`
  describe(name, () => {
    test('passes as it came, and its answer to the byte', async () => {
      for (const [kind, chat] of await chats()) {
        const fill = (text: string) => text.replace('{chat}', String(chat.id))
        const given =
          body === undefined
            ? undefined
            : JSON.parse(fill(JSON.stringify(body)).replace(/"(\d+)"/, '$1'))
        const answered = ok({ anything: [1, null], 'x-unknown': 'kept' }, 200, {
          'x-request-id': 'kept',
        })
        using _answer = stage.double.script(method, fill(path), answered)
        const since = stage.double.mark()
        const called = await stage.sidecar.call(method, fill(path) + fill(query), given)
        const [asked, ...more] = stage.double.calls(undefined, undefined, since)
        expect(more).toEqual([])
        expect([kind, asked?.method, asked?.path]).toEqual([kind, method, fill(path)])
        expect(asked?.query).toBe(fill(query).slice(1))
        expect(asked?.json).toEqual(given)
        expect([called.status, called.text]).toEqual([200, asked?.answered?.body.toString()])
        expect(called.headers['x-request-id']).toBe('kept')
      }
    })

    test('hands on a refusal with its headers, and does not repeat it', async () => {
      const chat = stage.openGroup()
      const target = path.replace('{chat}', String(chat.id))
      const limited = no(429, 'rate_limited', {
        error: { retryAfter: 60 },
        headers: { 'retry-after': '7' },
      })
      using _answer = stage.double.script(method, target, limited)
      const since = stage.double.mark()
      const given = body === undefined ? undefined : { ...(body as object), chatId: undefined }
      const called = await stage.sidecar.call(
        method,
        target,
        path.includes('7') ? undefined : given,
      )
      const asked = stage.double.calls(undefined, undefined, since)
      expect(asked.length).toBe(1)
      expect([called.status, called.headers['retry-after']]).toEqual([429, '7'])
      expect(called.text).toBe(asked[0]?.answered?.body.toString())
    })
  })
}

test('integers pass in their exact spelling both ways', async () => {
  const big = '9007199254740993'
  const body = `{ "ok":true,"result":{"id":${big},"rights":18446744073709551615,"f":1.50} }`
  using _big = stage.double.script('GET', `/users/${big}/key`, { body })
  expect((await stage.sidecar.call('GET', `/users/${big}/key`)).text).toBe(body)

  using _put = stage.double.script('DELETE', `/messages/${big}`, ok({ deleted: true }))
  const called = await stage.sidecar.call('DELETE', `/messages/${big}`, '{"chatId": 12 }')
  expect(called.status).toBe(200)
  expect(stage.double.calls('DELETE', `/messages/${big}`)[0]?.body).toBe('{"chatId":12}')
})

test('only the token, what is asked for and what can be read are said to the service', async () => {
  const headers = { 'x-own': 'secret', cookie: 'a=b', 'x-forwarded-for': '1.2.3.4' }
  await stage.sidecar.call('GET', '/commands', undefined, { headers })
  const { headers: sent = {} } = stage.double.calls('GET', '/commands').at(-1) ?? {}
  for (const name of Object.keys(headers)) expect(sent).not.toHaveProperty(name)
  expect(sent['accept-encoding']).toBe('identity')
  expect(sent['user-agent']).toMatch(/^postern\//)
})

const WORDY: Pass[] = [
  { method: 'POST', path: '/chats/{chat}/typing', body: { typing: true, words: 'x' } },
  { method: 'POST', path: '/callbacks/1/answer', body: { text: 'a', words: 'x' } },
  { method: 'DELETE', path: '/messages/7', body: { chatId: 0, words: 'x' } },
]
for (const { method, path, body } of WORDY) {
  test(`${method} ${path} with words in an unknown field: only into a readable chat that it names`, async () => {
    for (const [kind, { id }] of await chats()) {
      const target = path.replace('{chat}', String(id))
      const given = Object.assign({}, body, method === 'DELETE' ? { chatId: id } : {})
      using _answer = stage.double.script(method, target, ok({}))
      const since = stage.double.mark()
      const called = await stage.sidecar.call(method, target, given)
      const left = stage.double.calls(method, target, since).map(({ json }) => json)
      if (kind === 'a readable chat' && !path.startsWith('/callbacks')) {
        expect([called.status, left]).toEqual([200, [given]])
        continue
      }
      expect([called.status, called.json.error.code, left]).toEqual([400, 'bad_request', []])
      expect(called.json.error.message).toContain('words')
    }
  })
}
