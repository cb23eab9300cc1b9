/** What a development tool may watch at the bot's door. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReceiver } from '../contract/receiver.ts'
import { startPageStage, type PageStage } from '../support/page-stage.ts'

let stage: PageStage
beforeAll(async () => {
  stage = await startPageStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** The exchanges after a number, once there are as many. */
async function exchangesAfter(n: number, count: number) {
  await expect.poll(() => stage.traffic.list(n).length).toBeGreaterThanOrEqual(count)
  return stage.traffic.list(n)
}

test('a call is watched as the bot made it, with the answer that the bot got', async () => {
  const { privateChat } = stage.sandbox.home
  const before = stage.traffic.last
  const { answer } = await stage.call('POST', '/messages', { chatId: privateChat, text: 'hello' })
  const [exchange] = await exchangesAfter(before, 1)
  expect(exchange).toMatchObject({
    kind: 'call',
    method: 'POST',
    path: '/bot/v1/messages',
    request: JSON.stringify({ chatId: privateChat, text: 'hello' }),
    status: 201,
  })
  expect(JSON.parse(exchange?.answer ?? '')).toEqual(answer)
  expect(answer.result).toMatchObject({ postern: { sealed: true, recipients: 1 } })
})

test('updates are watched as they were opened, with the verdict', async () => {
  const { home, control } = stage.sandbox
  const before = stage.traffic.last
  await control.write({ userId: home.alice.id, chatId: home.privateChat, text: 'good morning' })
  await stage.call('GET', '/updates?timeout=5')
  const [exchange] = await exchangesAfter(before, 1)
  expect(JSON.parse(exchange?.answer ?? '')).toMatchObject({
    result: [{ message: { text: 'good morning', postern: { verdict: 'verified' } } }],
  })
})

test('refusals are watched, of the door, of the sidecar and of the service', async () => {
  const before = stage.traffic.last
  await fetch(`${stage.botUrl}/bot/v1/me`)
  await fetch(`${stage.botUrl}/bot/v1/me`, { headers: { origin: 'http://evil.example' } })
  await stage.call('PUT', '/key', {})
  await stage.call('GET', '/chats/1')
  const exchanges = await exchangesAfter(before, 4)
  expect(exchanges.map(({ status, answer }) => [status, codeIn(answer)])).toEqual([
    [401, 'unauthorized'],
    [403, 'postern_browser_refused'],
    [403, 'postern_key_managed'],
    [404, 'chat_not_found'],
  ])
})

test('of a file neither its bytes nor what opens it are watched', async () => {
  const { home, control } = stage.sandbox
  const base64 = Buffer.from('the words in the file').toString('base64')
  await control.sendMedia({ userId: home.alice.id, chatId: home.privateChat, base64 })
  const { answer } = await stage.call('GET', '/updates?timeout=5')
  const { media } = (answer.result as unknown as { message: { media: { url: string }[] } }[]).at(-1)
    ?.message ?? { media: [] }
  const before = stage.traffic.last
  const url = media[0]?.url ?? ''
  const file = await fetch(new URL(url, stage.botUrl))
  expect(await file.text()).toBe('the words in the file')
  const [exchange] = await exchangesAfter(before, 1)
  expect(exchange).toMatchObject({ method: 'GET', status: 200, answer: '', request: '' })
  expect(url).toContain('?')
  expect(exchange?.path).toBe(url.split('?')[0])
})

test('a call whose bot hung up is watched with the status 0', async () => {
  const before = stage.traffic.last
  const stop = new AbortController()
  const { token } = stage.sandbox
  const call = fetch(`${stage.botUrl}/bot/v1/chats/2/keys`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  })
  const fault = stage.sandbox.fault('hang', { route: 'getChat' })
  await call.catch(() => undefined)
  const slow = fetch(`${stage.botUrl}/bot/v1/chats/${stage.sandbox.home.readableGroup}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  })
  await expect
    .poll(() =>
      stage.sandbox.transcript
        .list()
        .some(({ path, status }) => status === 0 && path.includes('/chats/')),
    )
    .toBe(true)
  stop.abort()
  await expect(slow).rejects.toThrow()
  const exchanges = await exchangesAfter(before, 2)
  expect(exchanges.at(-1)).toMatchObject({ method: 'GET', status: 0, answer: '' })
  stage.sandbox.clearFaults(fault)
})

test('deliveries to the bot’s webhook are watched, taken or not', async () => {
  await using receiver = await createReceiver([500])
  const { home, control } = stage.sandbox
  await stage.call('POST', '/webhook', { url: receiver.url })
  const before = stage.traffic.last
  await control.write({ userId: home.alice.id, chatId: home.privateChat, text: 'by webhook' })
  const deliveries = () =>
    stage.traffic
      .list(before)
      .filter(({ kind }) => kind === 'delivery')
      .map(({ status, answer, request }) => [status, answer, request.includes('by webhook')])
  await expect.poll(deliveries).toContainEqual([200, '', true])
  expect(deliveries()[0]?.slice(0, 2)).toEqual([0, 'the bot answered 500'])
  await stage.call('DELETE', '/webhook')
})

function codeIn(answer: string): string {
  return (JSON.parse(answer) as { error: { code: string } }).error.code
}
