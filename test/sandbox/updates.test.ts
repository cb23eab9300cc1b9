import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

interface Got {
  updateId: number
  kind: string
  message: { text: string }
}

const poll = (sandbox: Sandbox, query = '', signal?: AbortSignal) =>
  ask<Got[]>(sandbox, `GET /updates${query}`, signal === undefined ? {} : { signal })

/** Alice writes a readable text into her private chat. */
function write(sandbox: Sandbox, text: string): Promise<{ messageId: number }> {
  const { alice, privateChat } = sandbox.home
  return sandbox.control.post({ userId: alice.id, chatId: privateChat, text })
}

/** Waits until the service holds as many calls as that. */
async function calls(sandbox: Sandbox, count: number): Promise<void> {
  while (sandbox.transcript.list().length < count) {
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await new Promise((resolve) => setTimeout(resolve, 5))
}

test('updates come oldest first under growing ids, at most limit of them', async () => {
  await using sandbox = await still()
  for (const text of ['one', 'two', 'three']) await write(sandbox, text)
  const { result } = await poll(sandbox, '?limit=2')
  expect(result.map(({ message }) => message.text)).toEqual(['one', 'two'])
  expect(result[1]?.updateId).toBeGreaterThan(result[0]?.updateId ?? Infinity)
})

test('without offset everything comes again; offset deletes what is below it for good', async () => {
  await using sandbox = await still()
  for (const text of ['one', 'two']) await write(sandbox, text)
  const first = (await poll(sandbox)).result
  expect((await poll(sandbox)).result).toEqual(first)
  const second = first[1]?.updateId ?? 0
  expect((await poll(sandbox, `?offset=${second}`)).result).toEqual([first[1]])
  expect((await poll(sandbox, '?offset=0')).result).toEqual([first[1]])
  expect((await poll(sandbox, `?offset=${second + 1}`)).result).toEqual([])
})

test('a poll waits for the next update', async () => {
  await using sandbox = await still()
  const waiting = poll(sandbox, '?timeout=50')
  await calls(sandbox, 1)
  await write(sandbox, 'at last')
  expect((await waiting).result).toMatchObject([{ kind: 'message', message: { text: 'at last' } }])
})

test('a poll ends empty when its time runs out', async () => {
  await using sandbox = await still()
  const waiting = poll(sandbox, '?timeout=50')
  await calls(sandbox, 1)
  await sandbox.advance(49_999)
  await sandbox.advance(1)
  expect((await waiting).result).toEqual([])
})

test('a second poll ends the first at once with an empty list', async () => {
  await using sandbox = await still()
  const first = poll(sandbox, '?timeout=50')
  await calls(sandbox, 1)
  const second = poll(sandbox, '?timeout=50')
  expect((await first).result).toEqual([])
  await write(sandbox, 'for the second')
  expect((await second).result).toHaveLength(1)
})

test('a caller that hangs up takes no update with it', async () => {
  await using sandbox = await still()
  const gone = new AbortController()
  const first = poll(sandbox, '?timeout=50', gone.signal).catch(() => 'gone')
  await calls(sandbox, 1)
  gone.abort()
  expect(await first).toBe('gone')
  while (sandbox.transcript.list()[0]?.status !== 200) await new Promise((r) => setTimeout(r, 1))
  await write(sandbox, 'still here')
  expect((await poll(sandbox)).result).toHaveLength(1)
})

test('a poll in progress ends empty when the sandbox closes', async () => {
  const sandbox = await still()
  const waiting = poll(sandbox, '?timeout=50').catch(() => 'closed')
  await calls(sandbox, 1)
  await sandbox[Symbol.asyncDispose]()
  expect(await waiting).toBeDefined()
})

test('updates over 72 hours old are dropped', async () => {
  await using sandbox = await still()
  await write(sandbox, 'old')
  await sandbox.advance(72 * 3_600_000)
  await write(sandbox, 'new')
  expect((await poll(sandbox)).result).toHaveLength(2)
  await sandbox.advance(1)
  expect((await poll(sandbox)).result).toMatchObject([{ message: { text: 'new' } }])
})

test('of more than 10 000 unread the oldest go', async () => {
  await using sandbox = await still()
  for (let n = 1; n <= 10_001; n++) await write(sandbox, String(n))
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ queued: 10_000 })
  expect((await poll(sandbox, '?limit=1')).result).toMatchObject([{ message: { text: '2' } }])
})

test('wrong queries are refused', async () => {
  await using sandbox = await still()
  const wrong = ['offset=-1', 'limit=0', 'limit=101', 'timeout=51', 'timeout=x', 'offset=1.5']
  for (const query of [...wrong, 'limit=', 'offset=1&offset=2', 'limit=0x10']) {
    expect(await outcome(sandbox, `GET /updates?${query}`), query).toBe('bad_request')
  }
})
