import { expect, test } from 'vitest'
import { A_KEY, ask, outcome, still } from './support.ts'

test('a group is shown with its mode, its settings and the bot’s membership', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const { id } = await sandbox.control.addRoom({
    kind: 'group',
    title: 'Garden',
    username: 'the_garden',
    description: 'roses',
    historyVisible: true,
    slowModeSeconds: 30,
    members: [alice.id, bot.id],
  })
  expect((await ask(sandbox, `GET /chats/${id}`)).result).toEqual({
    id,
    kind: 'group',
    title: 'Garden',
    username: 'the_garden',
    mode: 'open',
    description: 'roses',
    memberCount: 2,
    historyVisible: true,
    slowModeSeconds: 30,
    me: { status: 'member', rights: 0, restrictedUntil: null },
  })
})

test('a chat without the bot, one that is not there, and no id at all are the same', async () => {
  await using sandbox = await still()
  const { alice, bob } = sandbox.home
  const { id } = await sandbox.control.addRoom({ kind: 'group', members: [alice.id, bob.id] })
  for (const chat of [id, 1, 'x', '-5', '1e9', '99999999999999999999']) {
    expect(await outcome(sandbox, `GET /chats/${chat}`)).toBe('chat_not_found')
  }
  const path = `GET /chats/${sandbox.home.readableGroup}/members/x`
  expect(await outcome(sandbox, path)).toBe('member_not_found')
})

test('a channel’s list has no count, which is for groups', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const { id } = await sandbox.control.addRoom({ kind: 'channel', members: [alice.id, bot.id] })
  expect((await ask(sandbox, `GET /chats/${id}/keys`)).result).toEqual({ keys: [] })
})

test('a person’s key is given only where a chat is shared', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const stranger = await sandbox.control.addPerson({ username: 'stranger' })
  await sandbox.control.publishKey({ userId: stranger.id, ...A_KEY })
  const key = (id: number | string) => outcome(sandbox, `GET /users/${id}/key`)
  expect(await key(alice.id)).toBe('no_user_key')
  for (const id of [stranger.id, 1, 'x', bot.id]) expect(await key(id)).toBe('user_not_found')
  await sandbox.control.publishKey({ userId: alice.id, ...A_KEY })
  const response = await ask(sandbox, `GET /users/${alice.id}/key`)
  expect(response.result).toEqual({ userId: alice.id, ...A_KEY })
  await sandbox.control.closeAccount({ userId: alice.id })
  expect(await key(alice.id)).toBe('user_not_found')
})
