import { expect, test } from 'vitest'
import { ask, homeScene, outcome } from './support.ts'

const open = () => homeScene({ rates: 'off' })

test('the fault `lost-answer` handles one request and closes its connection', async () => {
  const { sandbox, privateChat: chatId } = await open()
  sandbox.fault('lost-answer', { route: 'sendMessage', times: 1 })
  const send = () => outcome(sandbox, 'POST /messages', { body: { chatId, text: 'x' } })
  expect(await outcome(sandbox, 'GET /me')).toBe(200)
  await expect(send()).rejects.toThrow()
  expect(await sandbox.control.messages({ chatId })).toHaveLength(1)
  expect(await send()).toBe(201)
})

test.each(['cut', 'error', 'html'] as const)(
  'a send under the fault `%s` stores no message',
  async (name) => {
    const { sandbox, privateChat: chatId } = await open()
    sandbox.fault(name, { times: 1 })
    await outcome(sandbox, 'POST /messages', { body: { chatId, text: 'x' } }).catch(() => null)
    expect(await sandbox.control.messages({ chatId })).toEqual([])
  },
)

test('the fault `hang` leaves a call without an answer until its caller aborts', async () => {
  const { sandbox } = await open()
  sandbox.fault('hang', { route: 'getMe' })
  const call = ask(sandbox, 'GET /me', { signal: AbortSignal.timeout(30) })
  await expect(call).rejects.toThrow()
})

test('the fault `error` answers with its status, code, `Retry-After` and body, by default `internal`', async () => {
  const { sandbox } = await open()
  sandbox.fault('error', {
    status: 429,
    code: 'rate_limited',
    retryAfter: 60,
    retryAfterHeader: '7',
    times: 1,
  })
  const limited = await ask(sandbox, 'GET /me')
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
  expect(limited.error).toMatchObject({ code: 'rate_limited', retryAfter: 60 })
  sandbox.fault('error', { times: 1 })
  expect(await outcome(sandbox, 'GET /me')).toBe('internal')
  expect(await outcome(sandbox, 'GET /me')).toBe(200)
})

test('the faults `html`, `redirect` and `answer` answer with a page, a location and a given body', async () => {
  const { sandbox } = await open()
  const get = async () => {
    const answer = await fetch(`${sandbox.url}/bot/v1/me`, {
      headers: { authorization: `Bearer ${sandbox.token}` },
      redirect: 'manual',
    })
    return { status: answer.status, headers: answer.headers, body: await answer.text() }
  }
  sandbox.fault('html', { times: 1 })
  const page = await get()
  expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html'])
  sandbox.fault('redirect', { times: 1, location: 'http://elsewhere.invalid/' })
  const moved = await get()
  expect([moved.status, moved.headers.get('location')]).toEqual([302, 'http://elsewhere.invalid/'])
  sandbox.fault('answer', { times: 1, status: 200, body: '[1]', headers: { 'x-y': 'z' } })
  const any = await get()
  expect([any.status, any.headers.get('x-y'), any.body]).toEqual([200, 'z', '[1]'])
})

test('the faults `invalid-json`, `half-answer`, `slow-body` and `giant-body` spoil the answer', async () => {
  const { sandbox } = await open()
  sandbox.fault('invalid-json', { times: 1 })
  await expect(ask(sandbox, 'GET /me')).rejects.toThrow(SyntaxError)
  sandbox.fault('half-answer', { times: 1 })
  await expect(ask(sandbox, 'GET /me')).rejects.toThrow()
  sandbox.fault('slow-body', { times: 1, delayMs: 50 })
  const slow = ask(sandbox, 'GET /me', { signal: AbortSignal.timeout(200) })
  await expect(slow).rejects.toThrow()
  sandbox.fault('giant-body', { times: 1, bytes: 1_000_000 })
  const giant = await ask(sandbox, 'GET /me')
  expect(Number(giant.headers.get('content-length'))).toBeGreaterThan(1_000_000)
})

test('a fault with `botId` and `after` strikes only that bot’s later calls, until it is cleared', async () => {
  const { sandbox } = await open()
  const { token, id } = await sandbox.control.addBot({ username: 'other_bot' })
  sandbox.fault('error', { botId: id, after: 1 })
  expect(await outcome(sandbox, 'GET /me')).toBe(200)
  expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
  expect(await outcome(sandbox, 'GET /me', { token })).toBe('internal')
  sandbox.clearFaults()
  expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
})

test('a fault with `oneIn` strikes the same calls for the same seed', async () => {
  const { sandbox } = await open()
  const run = async (seed: number) => {
    const id = sandbox.fault('error', { oneIn: 3, seed })
    const seen: (string | number)[] = []
    for (let n = 0; n < 20; n++) seen.push(await outcome(sandbox, 'GET /me'))
    sandbox.clearFaults(id)
    return seen
  }
  const first = await run(1)
  expect(new Set(first)).toEqual(new Set([200, 'internal']))
  expect(await run(1)).toEqual(first)
  expect(await run(2)).not.toEqual(first)
})

test('the fault `keep-confirmed` ignores an offset, so that updates are delivered again', async () => {
  const { sandbox, alice, privateChat: chatId } = await open()
  await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
  sandbox.fault('keep-confirmed', { times: 1 })
  expect((await ask(sandbox, 'GET /updates?offset=999999')).result).toHaveLength(1)
  expect((await ask(sandbox, 'GET /updates?offset=999999')).result).toEqual([])
})
