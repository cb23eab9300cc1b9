import { expect, test } from 'vitest'
import { ask, outcome, still } from './support.ts'

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

test('a group without open history is encrypted, and turns when its history does', async () => {
  await using sandbox = await still()
  const chatId = sandbox.home.encryptedGroup
  const path = `GET /chats/${chatId}`
  expect((await ask(sandbox, path)).result).toMatchObject({ mode: 'protected' })
  await sandbox.control.changeChat({ chatId, historyVisible: true })
  expect((await ask(sandbox, path)).result).toMatchObject({ mode: 'open', historyVisible: true })
})

test('a private chat carries the other person and whether they blocked the bot', async () => {
  await using sandbox = await still()
  const { alice, bot, privateChat } = sandbox.home
  const path = `GET /chats/${privateChat}`
  const { result } = await ask<object>(sandbox, path)
  expect(result).toMatchObject({
    kind: 'private',
    user: { id: alice.id, username: 'alice', isBot: false },
    blocked: false,
    gone: false,
  })
  expect(result).not.toHaveProperty('title')
  await sandbox.control.block({ userId: alice.id, botId: bot.id })
  expect((await ask(sandbox, path)).result).toMatchObject({ blocked: true })
})

test('a chat without the bot, one that is not there, and no id at all are the same', async () => {
  await using sandbox = await still()
  const { alice, bob } = sandbox.home
  const { id } = await sandbox.control.addRoom({ kind: 'group', members: [alice.id, bob.id] })
  for (const chat of [id, 1, 'x', '-5', '1e9', '99999999999999999999']) {
    expect(await outcome(sandbox, `GET /chats/${chat}`)).toBe('chat_not_found')
  }
})

test('a bot that leaves is out, and the group gets a notice', async () => {
  await using sandbox = await still()
  const { readableGroup: chatId, bot } = sandbox.home
  const left = await ask(sandbox, `POST /chats/${chatId}/leave`)
  expect([left.status, left.result]).toEqual([200, { left: true }])
  expect(await outcome(sandbox, `GET /chats/${chatId}`)).toBe('chat_not_found')
  expect(await outcome(sandbox, `POST /chats/${chatId}/leave`)).toBe('chat_not_found')
  const notices = await sandbox.control.messages({ chatId })
  expect(notices).toMatchObject([{ kind: 'left', fromId: bot.id }])
})

test('a private chat cannot be left', async () => {
  await using sandbox = await still()
  const path = `POST /chats/${sandbox.home.privateChat}/leave`
  expect(await outcome(sandbox, path)).toBe('bad_request')
})
