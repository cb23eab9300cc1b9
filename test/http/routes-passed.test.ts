import { expect, test } from 'vitest'
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

/** Calls that pass as they came; `{chat}` is a readable chat once and a protected one once. */
const PASSED: Pass[] = [
  { method: 'GET', path: '/commands', query: '?scope=chat:{chat}' },
  { method: 'DELETE', path: '/messages/7', body: { chatId: '{chat}' } },
  { method: 'POST', path: '/chats/{chat}/typing', body: { typing: false } },
  { method: 'POST', path: '/chats/{chat}/leave' },
]

async function chats(): Promise<[kind: string, chat: DoubleChat][]> {
  return [
    ['a readable chat', stage.openGroup()],
    ['a protected chat', stage.group([await stage.friend()])],
  ]
}

test.each(PASSED)(
  'the call $method $path passes unchanged, and its answer returns to the byte',
  async (pass) => {
    const { method, path, query = '', body } = pass
    for (const [kind, chat] of await chats()) {
      const fill = (text: string) => text.replace('{chat}', String(chat.id))
      const given =
        body === undefined
          ? undefined
          : JSON.parse(fill(JSON.stringify(body)).replace(/"(\d+)"/, '$1'))
      const limited = no(429, 'rate_limited', { headers: { 'retry-after': '7' } })
      for (const answer of [ok({ anything: [1, null], 'x-unknown': 'kept' }), limited]) {
        using _answer = stage.double.script(method, fill(path), answer)
        const since = stage.double.mark()
        const called = await stage.sidecar.call(method, fill(path) + fill(query), given)
        const [asked, ...more] = stage.double.calls(undefined, undefined, since)
        expect([kind, asked?.method, asked?.path, more]).toEqual([kind, method, fill(path), []])
        expect([asked?.query, asked?.json]).toEqual([fill(query).slice(1), given])
        const { status, headers, text } = called
        expect([status, text]).toEqual([answer.status ?? 200, asked?.answered?.body.toString()])
        expect(headers['retry-after']).toBe(answer.headers?.['retry-after'])
      }
    }
  },
)

test('integers keep their exact spelling to the service and back', async () => {
  const big = '9007199254740993'
  const body = `{ "ok":true,"result":{"id":${big},"rights":18446744073709551615,"f":1.50} }`
  using _big = stage.double.script('GET', `/users/${big}/key`, { body })
  expect((await stage.sidecar.call('GET', `/users/${big}/key`)).text).toBe(body)

  using _put = stage.double.script('DELETE', `/messages/${big}`, ok({ deleted: true }))
  const called = await stage.sidecar.call('DELETE', `/messages/${big}`, '{"chatId": 12 }')
  expect(called.status).toBe(200)
  expect(stage.double.calls('DELETE', `/messages/${big}`)[0]?.body).toBe('{"chatId":12}')
})

test('a call to the service has the sidecar’s own headers only', async () => {
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
  test(`the call ${method} ${path} with text in an unknown field passes into a readable chat only`, async () => {
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
