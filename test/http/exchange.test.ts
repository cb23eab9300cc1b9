/** What a development tool may watch at the bot's door. */
import { setTimeout as pause } from 'node:timers/promises'
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

test('the traffic list shows updates as they were opened, with the verdict, and how long a poll lasted', async () => {
  const { home, control } = stage.sandbox
  const before = stage.traffic.last
  const polling = stage.call('GET', '/updates?timeout=5')
  await pause(500)
  await control.write({ userId: home.alice.id, chatId: home.privateChat, text: 'good morning' })
  await polling
  const [exchange] = await exchangesAfter(before, 1)
  expect(JSON.parse(exchange?.answer ?? '')).toMatchObject({
    result: [{ message: { text: 'good morning', postern: { verdict: 'verified' } } }],
  })
  expect(exchange?.ms).toBeGreaterThanOrEqual(400)
})

test('the traffic list shows a call whose bot hung up with status 0', async () => {
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

test('the traffic list shows accepted and refused deliveries to the bot’s webhook', async () => {
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
