import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, still } from './support.ts'

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
