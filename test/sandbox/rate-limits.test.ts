import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

const send = (sandbox: Sandbox, chatId: number) =>
  ask<{ id: number }>(sandbox, 'POST /messages', { body: { chatId, text: 'x' } })
const edit = (sandbox: Sandbox, chatId: number, id: number) =>
  ask(sandbox, `PATCH /messages/${id}`, { body: { chatId, text: 'y' } })

test('600 calls a minute fit; then the header says what is really left and the body 60', async () => {
  await using sandbox = await still()
  for (let n = 0; n < 600; n++) await ask(sandbox, 'GET /me')
  await sandbox.advance(14_500)
  const refused = await ask(sandbox, 'GET /me')
  expect(refused.error).toMatchObject({ code: 'rate_limited', status: 429, retryAfter: 60 })
  expect(refused.headers.get('retry-after')).toBe('46')
  await sandbox.advance(45_500)
  expect(await outcome(sandbox, 'GET /me')).toBe(200)
})

test('what is refused does not count', async () => {
  await using sandbox = await still()
  for (let n = 0; n < 700; n++) await ask(sandbox, 'GET /me')
  await sandbox.advance(60_000)
  for (let n = 0; n < 600; n++) expect(await outcome(sandbox, 'GET /me')).toBe(200)
  expect(await outcome(sandbox, 'GET /me')).toBe('rate_limited')
})

test('an address has 1200 calls a minute, whoever’s token it shows', async () => {
  await using sandbox = await still()
  const { token } = await sandbox.control.addBot({ username: 'other_bot' })
  for (let n = 0; n < 600; n++) await ask(sandbox, 'GET /me')
  for (let n = 0; n < 600; n++) await ask(sandbox, 'GET /me', { token: null })
  const refused = await ask(sandbox, 'GET /me', { token })
  expect(refused.error).toMatchObject({ code: 'rate_limited', retryAfter: 60 })
  await sandbox.advance(60_000)
  expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
})

test('one send a second fits into a private chat', async () => {
  await using sandbox = await still()
  const { privateChat } = sandbox.home
  expect((await send(sandbox, privateChat)).status).toBe(201)
  const refused = await send(sandbox, privateChat)
  expect(refused.error).toMatchObject({ code: 'flood_wait', status: 429, retryAfter: 1 })
  expect(refused.headers.get('retry-after')).toBe('1')
  await sandbox.advance(1000)
  expect((await send(sandbox, privateChat)).status).toBe(201)
})

test('20 sends a minute fit into a group', async () => {
  await using sandbox = await still()
  const { readableGroup } = sandbox.home
  for (let n = 0; n < 20; n++) expect((await send(sandbox, readableGroup)).status).toBe(201)
  await sandbox.advance(20_000)
  expect((await send(sandbox, readableGroup)).error).toMatchObject({
    code: 'flood_wait',
    retryAfter: 40,
  })
  await sandbox.advance(40_000)
  expect((await send(sandbox, readableGroup)).status).toBe(201)
})

test('30 sends a second fit overall', async () => {
  await using sandbox = await still()
  const { bot, readableGroup } = sandbox.home
  for (let n = 0; n < 20; n++) await send(sandbox, readableGroup)
  for (let n = 0; n < 10; n++) {
    const { id } = await sandbox.control.addPerson({ username: `person${n}` })
    const chat = await sandbox.control.addPrivateChat({ userId: id, botId: bot.id })
    expect((await send(sandbox, chat.id)).status).toBe(201)
  }
  const { privateChat } = sandbox.home
  expect((await send(sandbox, privateChat)).error).toMatchObject({
    code: 'flood_wait',
    retryAfter: 1,
  })
  await sandbox.advance(1000)
  expect((await send(sandbox, privateChat)).status).toBe(201)
})

test('edits count in windows of their own', async () => {
  await using sandbox = await still()
  const { privateChat } = sandbox.home
  const { id } = (await send(sandbox, privateChat)).result
  expect((await edit(sandbox, privateChat, id)).status).toBe(200)
  expect((await edit(sandbox, privateChat, id)).error).toMatchObject({
    code: 'flood_wait',
    retryAfter: 1,
  })
  await sandbox.advance(1000)
  expect((await edit(sandbox, privateChat, id)).status).toBe(200)
  expect((await send(sandbox, privateChat)).status).toBe(201)
})

test('a repeated sendId and a refused body cost nothing', async () => {
  await using sandbox = await still()
  const { privateChat: chatId } = sandbox.home
  const sendId = '5f0c2d0e-8d4f-4d0e-9f43-2f6d7d1a0b11'
  const body = { chatId, text: 'x', sendId }
  expect(await outcome(sandbox, 'POST /messages', { body: { chatId, text: ' ' } })).toBe(
    'bad_request',
  )
  expect(await outcome(sandbox, 'POST /messages', { body })).toBe(201)
  expect(await outcome(sandbox, 'POST /messages', { body })).toBe(200)
})

test('slow mode holds sends apart, but not edits, nor administrators', async () => {
  await using sandbox = await still()
  const { bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.changeChat({ chatId, slowModeSeconds: 30 })
  const { id } = (await send(sandbox, chatId)).result
  await sandbox.advance(10_500)
  const refused = await send(sandbox, chatId)
  expect(refused.error).toMatchObject({ code: 'slow_mode', status: 429, retryAfter: 20 })
  expect(refused.headers.get('retry-after')).toBe('20')
  expect((await edit(sandbox, chatId, id)).status).toBe(200)
  await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'admin' })
  expect((await send(sandbox, chatId)).status).toBe(201)
  await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'member' })
  await sandbox.advance(30_000)
  expect((await send(sandbox, chatId)).status).toBe(201)
})
