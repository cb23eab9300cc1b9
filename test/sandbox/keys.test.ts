import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { A_KEY, ask, outcome, protect, still } from './support.ts'

interface Keys {
  keys: { userId: number; fingerprint: string; publicKey: string }[]
  memberCount?: number
}

const keys = (sandbox: Sandbox, chatId: number) => ask<Keys>(sandbox, `GET /chats/${chatId}/keys`)
const publish = (sandbox: Sandbox, userId: number) =>
  sandbox.control.publishKey({ userId, ...A_KEY })

test('an encrypted group lists who has a key, and counts everybody', async () => {
  await using sandbox = await still()
  const { alice, encryptedGroup } = sandbox.home
  expect((await keys(sandbox, encryptedGroup)).result).toEqual({ keys: [], memberCount: 3 })
  await publish(sandbox, alice.id)
  await protect(sandbox)
  expect((await keys(sandbox, encryptedGroup)).result).toEqual({
    keys: [{ userId: alice.id, ...A_KEY }],
    memberCount: 3,
  })
})

test('a channel’s list has no count, which is for groups', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const { id } = await sandbox.control.addRoom({ kind: 'channel', members: [alice.id, bot.id] })
  expect((await keys(sandbox, id)).result).toEqual({ keys: [] })
})

test('another bot is listed only when the whole room is delivered to it', async () => {
  await using sandbox = await still()
  const chatId = sandbox.home.encryptedGroup
  const other = await sandbox.control.addBot({ username: 'other_bot' })
  await sandbox.control.join({ chatId, userId: other.id })
  await sandbox.control.setBotKey({ botId: other.id, ...A_KEY })
  expect((await keys(sandbox, chatId)).result.keys).toEqual([])
  await sandbox.control.changeBot({ botId: other.id, privacyMode: false })
  expect((await keys(sandbox, chatId)).result.keys).toMatchObject([{ userId: other.id }])
})

test('a private chat lists the one person, without a count', async () => {
  await using sandbox = await still()
  const { alice, privateChat } = sandbox.home
  await protect(sandbox)
  expect((await keys(sandbox, privateChat)).error.code).toBe('no_user_key')
  await publish(sandbox, alice.id)
  const { result } = await keys(sandbox, privateChat)
  expect(result).toEqual({ keys: [{ userId: alice.id, ...A_KEY }] })
})

test('a readable chat has no keys to give', async () => {
  await using sandbox = await still()
  const { privateChat, readableGroup } = sandbox.home
  expect((await keys(sandbox, privateChat)).error.code).toBe('chat_is_open')
  expect((await keys(sandbox, readableGroup)).error.code).toBe('chat_is_open')
  expect((await keys(sandbox, 1)).error.code).toBe('chat_not_found')
})

test('a person’s key is given only where a chat is shared', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const stranger = await sandbox.control.addPerson({ username: 'stranger' })
  await publish(sandbox, stranger.id)
  const key = (id: number | string) => outcome(sandbox, `GET /users/${id}/key`)
  expect(await key(alice.id)).toBe('no_user_key')
  for (const id of [stranger.id, 1, 'x', bot.id]) expect(await key(id)).toBe('user_not_found')
  await publish(sandbox, alice.id)
  const response = await ask(sandbox, `GET /users/${alice.id}/key`)
  expect(response.result).toEqual({ userId: alice.id, ...A_KEY })
  await sandbox.control.closeAccount({ userId: alice.id })
  expect(await key(alice.id)).toBe('user_not_found')
})
