import { expect, test } from 'vitest'
import { LIMITS } from '../../src/api/limits.ts'
import { A_KEY, ask, protect, still } from './support.ts'

test('a bot sees itself: open at first, with every limit as an integer', async () => {
  await using sandbox = await still()
  const { result } = await ask<{ limits: Record<string, number> }>(sandbox, 'GET /me')
  expect(result).toMatchObject({
    id: sandbox.home.bot.id,
    username: 'echo_bot',
    mode: 'open',
    fingerprint: null,
    privacyMode: true,
    allowGroups: true,
    status: 'active',
    webhook: { url: null, hasSecret: false, failures: 0, lastError: null },
    queued: 0,
  })
  expect(result.limits).toMatchObject(LIMITS)
  expect(Object.values(result.limits).every(Number.isInteger)).toBe(true)
})

test('with a key the bot is protected and the fingerprint stands as it was given', async () => {
  await using sandbox = await still()
  await protect(sandbox)
  const { result } = await ask(sandbox, 'GET /me')
  expect(result).toMatchObject({ mode: 'protected', fingerprint: A_KEY.fingerprint })
})

test('queued counts what waits', async () => {
  await using sandbox = await still()
  const { alice, privateChat } = sandbox.home
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'one' })
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'two' })
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ queued: 2 })
})
