import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, homeScene, still } from './support.ts'

const POLL = 'GET /updates?timeout=50'

/** Waits until the service holds so many calls: it has received them, and answered a later one. */
async function calls(sandbox: Sandbox, count: number): Promise<void> {
  while (sandbox.transcript.list().length < count) await pause(1)
  await ask(sandbox, 'GET /me')
}

test('an update that arrives after an aborted poll is delivered to the next poll', async () => {
  const { sandbox, alice, privateChat: chatId } = await homeScene()
  const gone = new AbortController()
  const first = ask(sandbox, POLL, { signal: gone.signal }).catch(() => 'gone')
  await calls(sandbox, 1)
  gone.abort()
  expect(await first).toBe('gone')
  while (sandbox.transcript.list()[0]?.status !== 200) await pause(1)
  await sandbox.control.post({ userId: alice.id, chatId, text: 'still here' })
  expect((await ask(sandbox, 'GET /updates')).result).toHaveLength(1)
})

test('a poll in progress ends empty when the sandbox closes', async () => {
  const sandbox = await still()
  const waiting = ask(sandbox, POLL)
  await calls(sandbox, 1)
  await sandbox[Symbol.asyncDispose]()
  expect((await waiting).result).toEqual([])
})

test('a pause, a revoke and a new token each end the poll in progress', async () => {
  await using sandbox = await still()
  const botId = sandbox.home.bot.id
  const { control } = sandbox
  const ends = [control.pause, control.revokeToken, control.issueToken]
  for (const end of ends) {
    const { token } = await control.issueToken({ botId })
    await control.resume({ botId })
    const seen = sandbox.transcript.list().length
    const waiting = ask(sandbox, POLL, { token })
    await calls(sandbox, seen + 1)
    await end({ botId })
    expect((await waiting).result).toEqual([])
  }
})
