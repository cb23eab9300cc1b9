import { expect, it } from 'vitest'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { Refusal } from '../../src/errors.ts'
import type { Guard, Rule } from '../../src/kernel/wall/guard.ts'
import { call, expectRefused, NO_CLIENTS, openDoor, say } from './support.ts'

type Asked = Parameters<typeof expectRefused>[1]

/** A guard that rules every chat alike. */
const ruling = (body: Rule['body'], holds = true) => {
  const asked: number[] = []
  const rule = (chatId: number) => {
    asked.push(chatId)
    const require = (): void => {
      if (!holds) throw new Refusal('postern_downgrade_refused')
    }
    return Promise.resolve({ chatId, body, require } as Rule)
  }
  return { asked, guard: { rule } satisfies Pick<Guard, 'rule'> }
}

it.each([
  ['GET', '/commands?scope=chat:-100', undefined],
  ['PUT', '/commands', { scope: 'default', commands: [{ command: 'a', description: 'b' }] }],
  ['DELETE', '/commands?scope=private', undefined],
  ['DELETE', '/messages/5', undefined],
  ['PUT', '/commands', { commands: [{ command: 'a', description: 'b', x: 'later' }], y: ['z'] }],
  ['DELETE', '/messages/5', { chatId: -7, forAll: true, count: 3, reason: null }],
  ['POST', '/callbacks/abc/answer', undefined],
  ['POST', '/callbacks/abc/answer', { text: 'hi', alert: true, url: 'https://example.org' }],
  ['GET', '/chats/-5/members', undefined],
  ['POST', '/chats/-5/leave', undefined],
  ['POST', '/chats/-5/typing', undefined],
  ['POST', '/chats/-5/typing', { typing: true, seconds: 5 }],
  ['GET', '/resolve/Alice_1', undefined],
  ['GET', '/users/7/key', undefined],
  ['POST', '/token/revoke', undefined],
  ['GET', '/something/new?a=1&a=2', undefined],
])(
  'the call %s %s with body %j reaches the service unchanged, and its answer returns to the byte',
  async (method, path, body) => {
    const world = await openDoor({
      answering: (_seen, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'yes' })
        response.end('{ "ok":true,  "result":{"n":12345678901234567890} }')
      },
    })
    const { status, text, headers } = await call(
      world,
      method,
      `/bot/v1${path}`,
      body === undefined ? {} : { body },
    )
    expect(status).toBe(200)
    expect(text).toBe('{ "ok":true,  "result":{"n":12345678901234567890} }')
    expect(headers.get('x-request-id')).toBe('yes')
    expect(headers.get('content-type')).toBe('application/json')
    expect(world.seen).toMatchObject([
      { method, path: `/bot/v1${path}`, body: body === undefined ? '' : JSON.stringify(body) },
    ])
  },
)

it('numbers in body and path keep their digits on the way to the service', async () => {
  const world = await openDoor()
  const body = '{"commands":[11.0, 1.1e1, 1.10], "scope":9007199254740993.10}'
  await call(world, 'PUT', '/bot/v1/commands', { body })
  expect(world.seen[0]?.body).toBe('{"commands":[11,11,1.10],"scope":9007199254740993.10}')
  await call(world, 'GET', '/bot/v1/users/9007199254740993/key')
  expect(world.seen[1]?.path).toBe('/bot/v1/users/9007199254740993/key')
})

it('a text in a path is encoded again for the service', async () => {
  const world = await openDoor()
  await call(world, 'POST', '/bot/v1/callbacks/%61%3Fb%20c:d/answer')
  expect(world.seen[0]?.path).toBe('/bot/v1/callbacks/a%3Fb%20c%3Ad/answer')
})

it('`onTokenRevoked` is called after a successful `POST /token/revoke` only', async () => {
  let burnt = 0
  const onTokenRevoked = () => void burnt++
  const yes = await openDoor({ parts: { onTokenRevoked } })
  await call(yes, 'POST', '/bot/v1/token/revoke')
  expect(burnt).toBe(1)
  const no = await openDoor({
    parts: { onTokenRevoked },
    answering: (_seen, response) =>
      void response
        .writeHead(401)
        .end('{"ok":false,"error":{"status":401,"code":"unauthorized","message":"m"}}'),
  })
  expect((await call(no, 'POST', '/bot/v1/token/revoke')).status).toBe(401)
  expect(burnt).toBe(1)
})

const answered = async (taken: object) => {
  const asked: unknown[] = []
  const clearFields = {
    ofCallback: async (id: string, body: unknown) => {
      asked.push([id, body])
      return ['text' as const]
    },
    taken: (clear: readonly string[]) => (asked.push(clear), taken),
  }
  const world = await openDoor({ parts: { clearFields } })
  const body = { text: 'hi' }
  const { json } = await call(world, 'POST', '/bot/v1/callbacks/a%20b/answer', { body })
  return { asked, result: json.result, path: world.seen[0]?.path }
}

it('the answer to a press names the fields that left unsealed', async () => {
  const named = await answered({ clear: ['text'] })
  expect(named.asked).toEqual([['a b', { text: 'hi' }], ['text']])
  expect(named.result).toEqual({ postern: { clear: ['text'] } })
  expect(named.path).toBe('/bot/v1/callbacks/a%20b/answer')
  expect((await answered({})).result).toEqual({})
})

it('a press is not answered where `clearFields` refuses a field', async () => {
  const clearFields = {
    ofCallback: () => Promise.reject(new Refusal('postern_downgrade_refused')),
    taken: () => ({}),
  }
  const world = await openDoor({ parts: { clearFields } })
  const asked: Asked = ['POST', '/bot/v1/callbacks/1/answer', { body: { text: 'hi' } }]
  await expectRefused(world, asked, [409, 'postern_downgrade_refused'])
})

const WORDS = { note: 'words', list: ['words'], more: { words: 'w' } }
const INTO = [
  ['POST', '/chats/-5/typing', { typing: true, ...WORDS }],
  ['DELETE', '/messages/7', { chatId: -5, ...WORDS }],
] as const

it.each(INTO)(
  'an unlisted field without text passes without a lookup of the chat: %s %s',
  async (method, path) => {
    const { asked, guard } = ruling('sealed')
    const world = await openDoor({ parts: { guard } })
    const body = { ...(method === 'DELETE' && { chatId: -5 }), count: 3, all: true, none: null }
    expect((await call(world, method, `/bot/v1${path}`, { body })).status).toBe(200)
    expect(asked).toEqual([])
  },
)

it.each(INTO)(
  'an unlisted text field is refused when the chat becomes protected: %s %s',
  async (method, path, body) => {
    const world = await openDoor({ parts: { guard: ruling('readable', false).guard } })
    const asked: Asked = [method, `/bot/v1${path}`, { body }]
    await expectRefused(world, asked, [409, 'postern_downgrade_refused'])
  },
)

it.each(INTO)(
  'an unlisted text field is refused when the mode of the chat is unknown: %s %s',
  async (method, path, body) => {
    const rule = () => Promise.reject(new Refusal('postern_store_unwritable'))
    const world = await openDoor({ parts: { guard: { rule } } })
    const asked: Asked = [method, `/bot/v1${path}`, { body }]
    await expectRefused(world, asked, [503, 'postern_store_unwritable'])
  },
)

it.each([
  ['DELETE', '/messages/7', { note: 'words' }],
  ['DELETE', '/messages/7?chatId=-6', { chatId: -5, note: 'words' }],
  ['POST', '/chats/-5/typing?chatId=-6', { note: 'words' }],
  ['POST', '/chats/-5/typing', { chatId: -6, note: 'words' }],
  ['POST', '/chats/9007199254740993/typing', { note: 'words' }],
  ['POST', '/callbacks/abc/answer', { note: 'words' }],
])(
  'an unlisted text field is refused when the call has no unambiguous chat: %s %s %j',
  async (method, path, body) => {
    const world = await openDoor({ parts: { guard: ruling('readable').guard } })
    expect((await call(world, method, `/bot/v1${path}`, { body })).status).toBe(400)
    expect(world.seen).toEqual([])
  },
)

it('values of listed fields reach the service unchecked', async () => {
  const world = await openDoor()
  const body = { text: 'x'.repeat(500), alert: 'yes' }
  await call(world, 'POST', '/bot/v1/callbacks/1/answer', { body })
  expect(world.seen[0]?.body).toBe(JSON.stringify(body))
})

it.each([
  ['POST', '/chats/5/leave'],
  ['POST', '/token/revoke'],
  ['DELETE', '/commands'],
])('a body of any type of %s %s, a call without one, is dropped', async (method, path) => {
  const world = await openDoor()
  const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
  const bodies = [{ words: 'secret' }, 'no JSON', '{"a":1,"a":2}'].map((body) => ({ body }))
  for (const sent of [...bodies, { body: 'x', headers }]) {
    expect((await call(world, method, `/bot/v1${path}`, sent)).status).toBe(200)
  }
  expect(world.seen.map(({ body }) => body)).toEqual(['', '', '', ''])
})

it('`PUT /key` is refused while the sidecar manages the key, and passes otherwise', async () => {
  const body = { publicKey: '-----BEGIN PGP PUBLIC KEY BLOCK-----', fingerprint: 'a'.repeat(40) }
  const managed = await openDoor()
  const put: Asked = ['PUT', '/bot/v1/key', { body }]
  const error = await expectRefused(managed, put, [403, 'postern_key_managed'])
  expect(error?.message).toContain('postern key')

  const free = await openDoor({ parts: { managesKey: false } })
  expect((await call(free, 'PUT', '/bot/v1/key', { body })).status).toBe(200)
  expect(free.seen[0]?.body).toBe(JSON.stringify(body))
  const odd = { key: 'of a later version', extra: ['x'] }
  expect((await call(free, 'PUT', '/bot/v1/key', { body: odd })).status).toBe(200)
  expect(free.seen[1]?.body).toBe(JSON.stringify(odd))
})

it.each([
  ['POST', '/bot/v1/nowhere'],
  ['POST', '/bot/v1/me'],
  ['DELETE', '/bot/v1/chats/5'],
  ['PATCH', '/bot/v1/chats/5/typing'],
])('the unknown call %s %s is refused with a body and passes without one', async (method, path) => {
  const world = await openDoor()
  const words = { body: { words: 'secret' } }
  await expectRefused(world, [method, path, words], [403, 'postern_route_refused'])
  expect((await call(world, method, path)).status).toBe(200)
  expect(world.seen).toMatchObject([{ method, path, body: '' }])
})

it('a translated route has precedence over the pass-through', async () => {
  const world = await openDoor({
    answering: (_seen, response) => say(response, 'service'),
    parts: { routes: [(app) => void app.get('/me', () => ({ ok: true, result: 'ours' }))] },
  })
  expect((await call(world, 'GET', '/bot/v1/me')).json.result).toBe('ours')
  expect((await call(world, 'GET', '/bot/v1/me/')).json.result).toBe('service')
})

it('a member list of any length passes to the byte, and one that ends in words of ours has no end', async () => {
  const member = JSON.stringify({ userId: 5, status: 'member', rights: 'r'.repeat(150) })
  const all = `{"ok":true,"result":{"members":[${Array(8000).fill(member).join()}],"memberCount":8000}}`
  const lie = `${all.slice(0, -2)},"postern":{"verdict":"verified"}}}`
  const world = await openDoor({
    answering: ({ path }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(path.includes('/-6/') ? lie : all)
    },
  })
  const { status, text, headers } = await call(world, 'GET', '/bot/v1/chats/-5/members')
  expect([status, text === all]).toEqual([200, true])
  expect(headers.get('cache-control')).toBe('no-store')
  await expect(call(world, 'GET', '/bot/v1/chats/-6/members')).rejects.toThrow('terminated')
  await expect
    .poll(() => world.lines.at(-1))
    .toMatchObject({ status: 0, code: 'postern_upstream_invalid' })
})

it('a caller whose right ended meanwhile receives nothing of a long answer, whose connection is closed', async () => {
  let isOver = false
  const ask = (): Promise<never> => Promise.reject(new Refusal('unauthorized'))
  const ended = { ...OWN_CALL, ask }
  const world = await openDoor({
    answering: (_seen, response) => {
      response.on('close', () => (isOver = !response.writableFinished))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"ok":true,"result":["${'x'.repeat(3 * 2 ** 20)}`)
    },
    parts: { clients: { ...NO_CLIENTS, of: { ...NO_CLIENTS.of, admit: async () => ended } } },
  })
  const { status } = await call(world, 'GET', '/bot/v1/chats/-5/members')
  expect(status).toBe(401)
  await expect.poll(() => isOver).toBe(true)
})
