import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { A_KEY, ask, outcome, still } from './support.ts'

interface Keys {
  keys: { userId: number; fingerprint: string; publicKey: string }[]
  memberCount?: number
}

const keys = (sandbox: Sandbox, chatId: number) => ask<Keys>(sandbox, `GET /chats/${chatId}/keys`)
const publish = (sandbox: Sandbox, userId: number) =>
  sandbox.control.publishKey({ userId, ...A_KEY })

test('a channel’s list has no count, which is for groups', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const { id } = await sandbox.control.addRoom({ kind: 'channel', members: [alice.id, bot.id] })
  expect((await keys(sandbox, id)).result).toEqual({ keys: [] })
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
