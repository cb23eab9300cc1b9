/** Metrics of threads, connections and caches, of a sidecar in traffic. */
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { startOnSandbox } from '../support/sidecar-on-sandbox.ts'

test('the metrics of a sidecar show its threads, its connections and the hits of its caches', async () => {
  await using sandbox = await createSandbox({ rates: 'off' })
  const { admin, call } = await startOnSandbox(sandbox)
  const { alice, privateChat } = sandbox.home
  await sandbox.phone(alice.id)
  const shown = async () => {
    const text = await (await fetch(`${admin}/metrics`)).text()
    return (name: string) => {
      const line = text.split('\n').find((one) => one.startsWith(`postern_${name} `))
      return Number(line?.split(' ').at(-1))
    }
  }
  const send = async () =>
    (await call('POST', '/messages', { chatId: privateChat, text: 'hello' })).status
  const lists = (outcome: string) => `cache_lookups_total{cache="key-lists",outcome="${outcome}"}`
  const certificates = (outcome: string) =>
    `cache_lookups_total{cache="certificates",outcome="${outcome}"}`

  expect(await send()).toBe(201)
  const first = await shown()
  expect([first(lists('hit')), first(lists('miss'))]).toEqual([0, 1])
  expect(first(certificates('miss'))).toBeGreaterThan(0)
  expect(await send()).toBe(201)
  const second = await shown()
  expect([second(lists('hit')), second(lists('miss'))]).toEqual([1, 1])
  expect(second(certificates('hit'))).toBeGreaterThan(0)
  for (const pool of ['messages', 'certificates', 'ours', 'attachments', 'native']) {
    expect(second(`threads_busy{pool="${pool}"}`)).toBeGreaterThanOrEqual(0)
    expect(second(`threads_waiting{pool="${pool}"}`)).toBeGreaterThanOrEqual(0)
  }

  const polls = 'upstream_connections_busy{pool="polls"}'
  expect(second(polls)).toBe(0)
  const poll = call('GET', '/updates?timeout=50')
  await expect.poll(async () => (await shown())(polls)).toBe(1)
  await sandbox.control.write({ userId: alice.id, chatId: privateChat, text: 'good day' })
  expect((await poll).status).toBe(200)
  await expect.poll(async () => (await shown())(polls)).toBe(0)
})
