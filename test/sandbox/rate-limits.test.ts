import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, still } from './support.ts'

const send = (sandbox: Sandbox, chatId: number) =>
  ask<{ id: number }>(sandbox, 'POST /messages', { body: { chatId, text: 'x' } })
const edit = (sandbox: Sandbox, chatId: number, id: number) =>
  ask(sandbox, `PATCH /messages/${id}`, { body: { chatId, text: 'y' } })

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
