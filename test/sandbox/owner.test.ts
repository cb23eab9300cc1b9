import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { ask, outcome, still } from './support.ts'

test('a paused bot answers bot_paused but for its four exceptions', async () => {
  await using sandbox = await still()
  const { bot, alice, privateChat } = sandbox.home
  await sandbox.control.pause({ botId: bot.id })
  for (const endpoint of ENDPOINTS) {
    if (endpoint.name === 'revokeToken') continue
    const path = endpoint.path.replace(/:\w+/g, '1')
    const response = await outcome(sandbox, `${endpoint.method} ${path}`)
    expect(response, path).toBe('whilePaused' in endpoint ? 200 : 'bot_paused')
  }
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ status: 'paused' })
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'meanwhile' })
  await sandbox.control.resume({ botId: bot.id })
  expect((await ask(sandbox, 'GET /updates')).result).toHaveLength(1)
})

test('a paused bot can still burn its token', async () => {
  await using sandbox = await still()
  await sandbox.control.pause({ botId: sandbox.home.bot.id })
  expect((await ask(sandbox, 'POST /token/revoke')).result).toEqual({ revoked: true })
})

test('a revoked token answers unauthorized to every call, the revoke included', async () => {
  await using sandbox = await still()
  const { bot } = sandbox.home
  expect(await outcome(sandbox, 'POST /token/revoke')).toBe(200)
  for (const call of ['POST /token/revoke', 'GET /me', 'GET /webhook', 'GET /updates']) {
    expect(await outcome(sandbox, call)).toBe('unauthorized')
  }
  const { ownerNotices } = await sandbox.control.bot({ botId: bot.id })
  expect(ownerNotices).toMatchObject([{ kind: 'token_revoked' }])
  const { token } = await sandbox.control.issueToken({ botId: bot.id })
  expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
})

test('a replaced token is as good as none', async () => {
  await using sandbox = await still()
  const { token } = await sandbox.control.issueToken({ botId: sandbox.home.bot.id })
  expect(await outcome(sandbox, 'GET /me')).toBe('unauthorized')
  expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
})

test('a bot that allows no groups cannot be added to one', async () => {
  await using sandbox = await still()
  const { alice } = sandbox.home
  const bot = await sandbox.control.addBot({ username: 'shy_bot', allowGroups: false })
  const added = sandbox.control.addRoom({ kind: 'group', members: [alice.id, bot.id] })
  await expect(added).rejects.toThrow('may not be added')
  expect(sandbox.chats).toHaveLength(3)
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
    const waiting = ask(sandbox, 'GET /updates?timeout=50', { token })
    while (sandbox.transcript.list().length === seen) await new Promise((r) => setTimeout(r, 1))
    await new Promise((resolve) => setTimeout(resolve, 10))
    await end({ botId })
    expect((await waiting).result).toEqual([])
  }
})
