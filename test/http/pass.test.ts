import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import type { Guard, Rule } from '../../src/kernel/wall/guard.ts'
import { call, expectRefused, openDoor, say } from './support.ts'

type Asked = Parameters<typeof expectRefused>[1]

/** A guard that rules every chat alike. */
const ruling = (body: Rule['body'], holds = true) => {
  const asked: number[] = []
  const rule = (chatId: number) => {
    asked.push(chatId)
    return Promise.resolve({ chatId, body, holds: () => holds } as Rule)
  }
  return { asked, guard: { rule } satisfies Pick<Guard, 'rule'> }
}

describe('what passes', () => {
  it.each([
    ['GET', '/commands', undefined],
    ['GET', '/commands?scope=chat:-100', undefined],
    ['PUT', '/commands', { scope: 'default', commands: [{ command: 'a', description: 'b' }] }],
    ['DELETE', '/commands?scope=private', undefined],
    ['DELETE', '/messages/5', undefined],
    ['DELETE', '/messages/5?chatId=7', undefined],
    ['DELETE', '/messages/5', { chatId: -7 }],
    ['PUT', '/commands', { commands: [{ command: 'a', description: 'b', x: 'later' }], y: ['z'] }],
    ['DELETE', '/messages/5', { chatId: -7, forAll: true, count: 3, reason: null }],
    ['POST', '/callbacks/abc/answer', undefined],
    ['POST', '/callbacks/abc/answer', { text: 'hi', alert: true, url: 'https://example.org' }],
    ['GET', '/chats/-5/members', undefined],
    ['GET', '/chats/-5/members/7', undefined],
    ['POST', '/chats/-5/leave', undefined],
    ['POST', '/chats/-5/typing', undefined],
    ['POST', '/chats/-5/typing', { typing: false }],
    ['POST', '/chats/-5/typing', { typing: true, seconds: 5 }],
    ['GET', '/resolve/Alice_1', undefined],
    ['GET', '/users/7/key', undefined],
    ['POST', '/token/revoke', undefined],
    ['GET', '/something/new?a=1&a=2', undefined],
    ['GET', '/chats/5/new', undefined],
  ])('%s %s %j', async (method, path, body) => {
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
  })

  it('numbers keep their spelling in both directions', async () => {
    const world = await openDoor()
    const body = '{"commands":[], "scope":9007199254740993.10}'
    await call(world, 'PUT', '/bot/v1/commands', { body })
    expect(world.seen[0]?.body).toBe('{"commands":[],"scope":9007199254740993.10}')
    await call(world, 'GET', '/bot/v1/users/9007199254740993/key')
    expect(world.seen[1]?.path).toBe('/bot/v1/users/9007199254740993/key')
  })

  it('texts in a path are encoded again', async () => {
    const world = await openDoor()
    await call(world, 'POST', '/bot/v1/callbacks/%61%3Fb%20c:d/answer')
    expect(world.seen[0]?.path).toBe('/bot/v1/callbacks/a%3Fb%20c%3Ad/answer')
  })

  it('the service’s no, byte for byte', async () => {
    const no = '{"ok":false,"error":{"status":404,"code":"brand_new","message":"m","x":1}}'
    const world = await openDoor({
      answering: (_seen, response) => void response.writeHead(404).end(no),
    })
    const { status, text } = await call(world, 'GET', '/bot/v1/users/7/key')
    expect({ status, text }).toEqual({ status: 404, text: no })
  })

  it('the news that the token was burnt, but not that it was not', async () => {
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
})

describe('an answer to a press', () => {
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

  it('names the fields that went in clear, where it has to', async () => {
    const named = await answered({ clear: ['text'] })
    expect(named.asked).toEqual([['a b', { text: 'hi' }], ['text']])
    expect(named.result).toEqual({ postern: { clear: ['text'] } })
    expect(named.path).toBe('/bot/v1/callbacks/a%20b/answer')
    expect((await answered({})).result).toEqual({})
  })

  it('is not sent where a field may not go in clear', async () => {
    const clearFields = {
      ofCallback: () => Promise.reject(new Refusal('postern_downgrade_refused')),
      taken: () => ({}),
    }
    const world = await openDoor({ parts: { clearFields } })
    const asked: Asked = ['POST', '/bot/v1/callbacks/1/answer', { body: { text: 'hi' } }]
    await expectRefused(world, asked, [409, 'postern_downgrade_refused'])
  })
})

describe('a field that the specification does not list', () => {
  const WORDS = { note: 'words', list: ['words'], more: { words: 'w' } }
  const INTO = [
    ['POST', '/chats/-5/typing', { typing: true, ...WORDS }],
    ['DELETE', '/messages/7', { chatId: -5, ...WORDS }],
  ] as const

  it.each(INTO)('passes into a readable chat: %s %s', async (method, path, body) => {
    const { asked, guard } = ruling('readable')
    const world = await openDoor({ parts: { guard } })
    expect((await call(world, method, `/bot/v1${path}`, { body })).status).toBe(200)
    expect(world.seen.map((one) => JSON.parse(one.body) as unknown)).toEqual([body])
    expect(asked).toEqual([-5])
  })

  it.each(INTO)('asks nobody when it holds no words: %s %s', async (method, path) => {
    const { asked, guard } = ruling('sealed')
    const world = await openDoor({ parts: { guard } })
    const body = { ...(method === 'DELETE' && { chatId: -5 }), count: 3, all: true, none: null }
    expect((await call(world, method, `/bot/v1${path}`, { body })).status).toBe(200)
    expect(asked).toEqual([])
  })

  it.each(INTO)('stays here when the chat is protected: %s %s', async (method, path, body) => {
    const world = await openDoor({ parts: { guard: ruling('sealed').guard } })
    const asked: Asked = [method, `/bot/v1${path}`, { body }]
    const error = await expectRefused(world, asked, [400, 'bad_request'])
    expect(error?.message).toBe('note: no such field')
  })

  it.each(INTO)('stays here when the chat becomes protected: %s %s', async (method, path, body) => {
    const world = await openDoor({ parts: { guard: ruling('readable', false).guard } })
    const asked: Asked = [method, `/bot/v1${path}`, { body }]
    await expectRefused(world, asked, [409, 'postern_downgrade_refused'])
  })

  it.each(INTO)('stays here when the mode is not known: %s %s', async (method, path, body) => {
    const rule = () => Promise.reject(new Refusal('postern_store_unwritable'))
    const world = await openDoor({ parts: { guard: { rule } } })
    const asked: Asked = [method, `/bot/v1${path}`, { body }]
    await expectRefused(world, asked, [503, 'postern_store_unwritable'])
  })

  it.each([
    ['DELETE', '/messages/7', { note: 'words' }],
    ['DELETE', '/messages/7?chatId=-6', { chatId: -5, note: 'words' }],
    ['POST', '/chats/-5/typing?chatId=-6', { note: 'words' }],
    ['POST', '/chats/-5/typing', { chatId: -6, note: 'words' }],
    ['POST', '/chats/9007199254740993/typing', { note: 'words' }],
    ['POST', '/callbacks/abc/answer', { note: 'words' }],
  ])('stays here when no chat is named for sure: %s %s %j', async (method, path, body) => {
    const world = await openDoor({ parts: { guard: ruling('readable').guard } })
    expect((await call(world, method, `/bot/v1${path}`, { body })).status).toBe(400)
    expect(world.seen).toEqual([])
  })
})

describe('what is a bad request', () => {
  it.each([
    ['words in a typing', 'POST', '/chats/5/typing', { status: 'words' }, 'status: no such field'],
    ['words in a list', 'POST', '/chats/5/typing', { x: ['words'] }, 'x: no such field'],
    ['words in an object', 'POST', '/callbacks/1/answer', { x: { y: 'w' } }, 'x: no such field'],
    ['words in digits', 'POST', '/chats/5/typing', '{"x":9007199254740993}', 'x: no such field'],
    ['toString', 'POST', '/chats/5/typing', { toString: 'w' }, 'toString: no such field'],
    [
      'a wrong value',
      'POST',
      '/callbacks/1/answer',
      { text: 5, words: 'w' },
      'words: no such field',
    ],
    ['words in a delete', 'DELETE', '/messages/5', { chatId: 1, text: 'w' }, 'text: no such field'],
    ['a delete with a text for a number', 'DELETE', '/messages/5', { chatId: '7' }, 'chatId: '],
    ['a typing that is no boolean', 'POST', '/chats/5/typing', { typing: 'words' }, 'typing: '],
    ['a list', 'POST', '/callbacks/1/answer', [], 'must be an object'],
    ['null', 'PUT', '/commands', 'null', 'must be an object'],
  ])('%s', async (_what, method, path, body, expected) => {
    const world = await openDoor({ parts: { guard: ruling('sealed').guard } })
    const asked: Asked = [method, `/bot/v1${path}`, { body }]
    const error = await expectRefused(world, asked, [400, 'bad_request'])
    expect(error?.message).toContain(expected)
  })

  it('a number beyond what the service can mean', async () => {
    const world = await openDoor()
    for (const chatId of ['9007199254740993', '1.5', '1e400', 'true', '1.0', '"12"']) {
      const body = `{"chatId":${chatId}}`
      expect((await call(world, 'DELETE', '/bot/v1/messages/5', { body })).status).toBe(400)
    }
    expect(world.seen).toEqual([])
  })

  it.each([
    ['DELETE', '/messages/abc', 'message_not_found', 'messageId'],
    ['DELETE', '/messages/1.5', 'message_not_found', 'messageId'],
    ['GET', '/chats/@room/members', 'chat_not_found', 'chatId'],
    ['GET', '/chats/5/members/0x10', 'member_not_found', 'userId'],
    ['GET', '/users/12345678901234567890/key', 'user_not_found', 'userId'],
    ['POST', '/chats/%20/leave', 'chat_not_found', 'chatId'],
  ])('%s %s names nothing: %s, naming %s', async (method, path, code, name) => {
    const error = await expectRefused(await openDoor(), [method, `/bot/v1${path}`], [404, code])
    expect(error?.message).toBe(`${name}: is no integer`)
  })

  it('values are otherwise the service’s to judge', async () => {
    const world = await openDoor()
    const body = { text: 'x'.repeat(500), alert: 'yes' }
    await call(world, 'POST', '/bot/v1/callbacks/1/answer', { body })
    expect(world.seen[0]?.body).toBe(JSON.stringify(body))
  })
})

describe('a body where the spec has none', () => {
  it.each([
    ['POST', '/chats/5/leave'],
    ['POST', '/token/revoke'],
    ['DELETE', '/commands'],
  ])('%s %s: it is not handed on, whatever it is', async (method, path) => {
    const world = await openDoor()
    for (const body of [{ words: 'secret' }, 'no JSON', '{"a":1,"a":2}']) {
      expect((await call(world, method, `/bot/v1${path}`, { body })).status).toBe(200)
    }
    expect(world.seen.map(({ body }) => body)).toEqual(['', '', ''])
  })

  it('its type and encoding are not looked at', async () => {
    const world = await openDoor()
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
    const got = await call(world, 'POST', '/bot/v1/chats/5/leave', { body: 'x', headers })
    expect(got.status).toBe(200)
    expect(world.seen.map(({ body }) => body)).toEqual([''])
  })

  it('over 256 KiB it is too large all the same', async () => {
    const world = await openDoor()
    const body = 'x'.repeat(256 * 1024 + 1)
    await expectRefused(world, ['POST', '/bot/v1/chats/5/leave', { body }], [413, 'too_large'])
  })
})

describe('what is refused', () => {
  it('a key of the bot’s own, unless the sidecar manages none', async () => {
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
  ])('%s %s with a body, and passes without one', async (method, path) => {
    const world = await openDoor()
    const words = { body: { words: 'secret' } }
    await expectRefused(world, [method, path, words], [403, 'postern_route_refused'])
    expect((await call(world, method, path)).status).toBe(200)
    expect(world.seen).toMatchObject([{ method, path, body: '' }])
  })

  it.each([
    ['POST', '/bot/v1/webhook'],
    ['DELETE', '/bot/v1/webhook'],
    ['DELETE', '/bot/v1/Webhook/'],
    ['DELETE', '/bot/v1/key'],
    ['POST', '/bot/v1/token/revoke/'],
    ['PUT', '/bot/v1/messages/5'],
  ])('%s %s, with or without a body', async (method, path) => {
    const world = await openDoor()
    for (const more of [{}, { body: { words: 'secret' } }]) {
      await expectRefused(world, [method, path, more], [403, 'postern_route_refused'])
    }
  })
})

describe('with routes.allowUnknown', () => {
  const parts = { allowUnknown: true }

  it('unknown paths pass, written anew', async () => {
    const world = await openDoor({ parts })
    const body = '{ "a" : 1.50 }'
    expect((await call(world, 'POST', '/bot/v1/new/thing?x=1', { body })).status).toBe(200)
    expect((await call(world, 'DELETE', '/bot/v1/me')).status).toBe(200)
    expect(world.seen).toMatchObject([
      { method: 'POST', path: '/bot/v1/new/thing?x=1', body: '{"a":1.50}' },
      { method: 'DELETE', path: '/bot/v1/me', body: '' },
    ])
  })

  it.each([
    '/messages/',
    '/Messages',
    '/MESSAGES/5',
    '/%6dessages/5/x',
    '/messages;x=1',
    '/messages%3Bx',
    '/messages%20',
    '/chats/5/messages',
    '/key/',
    '/Webhook',
    '/Callbacks/abc/answer',
    '/callbacks/abc/answer/',
  ])('%s does not: it may be one of the translated ones to the service', async (path) => {
    const world = await openDoor({ parts })
    const asked: Asked = ['POST', `/bot/v1${path}`, { body: { text: 'secret' } }]
    await expectRefused(world, asked, [403, 'postern_route_refused'])
  })

  it('bodies that two parsers could read differently do not', async () => {
    const world = await openDoor({ parts })
    const asked: Asked = ['POST', '/bot/v1/new', { body: '{"a":1,"a":2}' }]
    await expectRefused(world, asked, [400, 'bad_request'])
  })
})

it('translated routes stand before what passes', async () => {
  const world = await openDoor({
    answering: (_seen, response) => say(response, 'service'),
    parts: { routes: [(app) => void app.get('/me', () => ({ ok: true, result: 'ours' }))] },
  })
  expect((await call(world, 'GET', '/bot/v1/me')).json.result).toBe('ours')
  expect((await call(world, 'GET', '/bot/v1/me/')).json.result).toBe('service')
})
