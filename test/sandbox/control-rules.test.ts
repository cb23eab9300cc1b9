import { expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, BUTTON, homeScene, sent, still } from './support.ts'

/** Alice, bob and the bot, who may post; alice owns it. */
async function channel({ control, home }: Sandbox): Promise<number> {
  const { alice, bob, bot } = home
  const members = [alice.id, bob.id, bot.id]
  const room = { kind: 'channel', historyVisible: true, members } as const
  const { id } = await control.addRoom(room)
  await control.setMembership({ chatId: id, userId: bot.id, status: 'admin' })
  return id
}

test('`setCommands` refuses a malformed command, and a scope of a chat without the bot', async () => {
  const { sandbox, bot, encryptedGroup } = await homeScene()
  const commands = [{ command: 'start', description: 'Begins' }]
  const wrong = [{ command: 'a b', description: 'x' }]
  const refused = sandbox.control.setCommands({ botId: bot.id, scope: 'default', commands: wrong })
  await expect(refused).rejects.toThrow('commands.0.command')
  const scope = `chat:${encryptedGroup}`
  await sandbox.control.leave({ chatId: encryptedGroup, userId: bot.id })
  const elsewhere = sandbox.control.setCommands({ botId: bot.id, scope, commands })
  await expect(elsewhere).rejects.toThrow('is not in chat')
})

test('`setMembership` with a new status resets the rights and ends a restriction', async () => {
  const { sandbox, control, bot, readableGroup: chatId } = await homeScene()
  const seat = async (change: object) => {
    await control.setMembership({ chatId, userId: bot.id, ...change })
    return (await ask<{ me: object }>(sandbox, `GET /chats/${chatId}`)).result.me
  }
  const restrictedUntil = sandbox.now() + 1000
  expect(await seat({ status: 'restricted', restrictedUntil })).toEqual({
    status: 'restricted',
    rights: 0,
    restrictedUntil,
  })
  expect(await seat({ status: 'admin' })).toEqual({
    status: 'admin',
    rights: 31,
    restrictedUntil: null,
  })
  expect(await seat({ rights: 1 })).toMatchObject({ status: 'admin', rights: 1 })
  expect(await seat({ title: 'Host' })).toMatchObject({ status: 'admin', rights: 1 })
  expect(await seat({ status: 'owner' })).toMatchObject({ status: 'owner', rights: 31 })
  expect(await seat({ status: 'member' })).toMatchObject({ status: 'member', rights: 0 })
})

test('`setMembership` and `join` refuse a status and rights that contradict each other, and a private chat', async () => {
  const { sandbox, bob, bot, readableGroup: chatId, privateChat } = await homeScene()
  const control = createControlClient(sandbox.controlUrl)
  const seat = (change: object, where = chatId) =>
    control.setMembership({ chatId: where, userId: bot.id, ...change })
  await expect(seat({ status: 'left' })).rejects.toThrow('status')
  await expect(seat({ status: 'member', rights: 1 })).rejects.toThrow('rights')
  await expect(seat({ status: 'owner', rights: 1 })).rejects.toThrow('every right')
  await expect(seat({ status: 'admin', rights: 32 })).rejects.toThrow('rights')
  await expect(seat({ restrictedUntil: 1 })).rejects.toThrow('restrictedUntil')
  await expect(seat({ status: 'admin' }, privateChat)).rejects.toThrow('private')
  await expect(control.join({ chatId: privateChat, userId: bob.id })).rejects.toThrow('private')
  await control.leave({ chatId, userId: bob.id })
  const again = { chatId, userId: bob.id }
  await expect(control.join({ ...again, rights: 1 })).rejects.toThrow('rights')
  await expect(control.join({ ...again, status: 'left' as never })).rejects.toThrow('status')
  expect(await control.join({ ...again, status: 'admin', rights: 3 })).toMatchObject({ rights: 3 })
})

test('`write`, `post`, `sendMedia` and a phone refuse a restricted, reading, blocking or gone person', async () => {
  const { sandbox, control, home } = await homeScene()
  const { alice, bob, bot, privateChat, readableGroup } = home
  const news = await channel(sandbox)
  const writes = async (userId: number, chatId: number) => {
    const content = { userId, chatId, text: 'x' }
    const calls = [
      () => control.write(content),
      () => control.post(content),
      () => control.sendMedia({ userId, chatId, base64: 'eA==' }),
      async () => (await sandbox.phone(userId)).write(chatId, 'x'),
    ]
    const errors = calls.map((call) => call().then(String, ({ message }: Error) => message))
    const [first, ...others] = new Set(await Promise.all(errors))
    expect(others).toEqual([])
    return first
  }
  await control.setMembership({ chatId: readableGroup, userId: bob.id, status: 'restricted' })
  expect(await writes(bob.id, readableGroup)).toContain('they are restricted')
  expect(await writes(bob.id, news)).toContain('only read this channel')
  await control.block({ userId: alice.id, botId: bot.id })
  expect(await writes(alice.id, privateChat)).toContain('blocked the bot')
  await control.unblock({ userId: alice.id, botId: bot.id })
  await control.closeAccount({ userId: alice.id })
  expect(await writes(alice.id, privateChat)).toContain('closed their account')
  expect(await control.messages({ chatId: privateChat })).toEqual([])
})

test('a restricted person may write again from the end of the restriction', async () => {
  const { sandbox, bob, readableGroup: chatId } = await homeScene()
  const userId = bob.id
  const restrictedUntil = sandbox.now() + 1000
  await sandbox.control.setMembership({ chatId, userId, status: 'restricted', restrictedUntil })
  const write = () => sandbox.control.post({ userId, chatId, text: 'x' })
  await expect(write()).rejects.toThrow('restricted')
  await sandbox.advance(1000)
  expect(await write()).toHaveProperty('messageId')
})

test('`press` accepts every reader of a message, and refuses other people and unknown buttons', async () => {
  const { sandbox, control, home } = await homeScene()
  const { alice, bob, bot, privateChat, readableGroup } = home
  const news = await channel(sandbox)
  const [inPrivate, inGroup, inChannel] = [
    await sent(sandbox, privateChat, { text: 'x', markup: BUTTON }),
    await sent(sandbox, readableGroup, { text: 'x', markup: BUTTON }),
    await sent(sandbox, news, { text: 'x', markup: BUTTON }),
  ]
  const press = (userId: number, chatId: number, messageId: number) =>
    control.press({ userId, chatId, messageId })
  expect(await press(bob.id, news, inChannel)).toHaveProperty('callbackId')
  const unknown = { userId: alice.id, chatId: privateChat, messageId: inPrivate, data: 'maybe' }
  await expect(control.press(unknown)).rejects.toThrow('no such button')
  await control.setMembership({ chatId: readableGroup, userId: bob.id, status: 'restricted' })
  expect(await press(bob.id, readableGroup, inGroup)).toHaveProperty('callbackId')
  await expect(press(bob.id, privateChat, inPrivate)).rejects.toThrow('is not in')
  await control.block({ userId: alice.id, botId: bot.id })
  await expect(press(alice.id, privateChat, inPrivate)).rejects.toThrow('blocked the bot')
  await control.unblock({ userId: alice.id, botId: bot.id })
  await control.leave({ chatId: readableGroup, userId: bot.id })
  await expect(press(alice.id, readableGroup, inGroup)).rejects.toThrow('not in the chat any more')
  await control.closeAccount({ userId: alice.id })
  await expect(press(alice.id, privateChat, inPrivate)).rejects.toThrow('closed their account')
})

test('`fault` refuses an unknown route and a status outside 200 to 599', async () => {
  await using sandbox = await still()
  const control = createControlClient(sandbox.controlUrl)
  const fault = (options: object) => control.fault({ name: 'error', ...options })
  await expect(fault({ route: 'getNothing' })).rejects.toThrow('route')
  await expect(fault({ route: '/me' })).rejects.toThrow('route')
  for (const status of [0, 99, 100, 199, 600, 1000, 404.5]) {
    await expect(fault({ status })).rejects.toThrow('status')
  }
  for (const route of ['getMe', 'media']) {
    expect(await fault({ route, status: 503, times: 1 })).toHaveProperty('id')
  }
})

test('`fault` refuses a fault without the fields that it has no effect without', async () => {
  const { sandbox, alice, privateChat: chatId } = await homeScene()
  const fault = (input: Parameters<typeof sandbox.control.fault>[0]) => sandbox.control.fault(input)
  await expect(fault({ name: 'delay' })).rejects.toThrow('delay does nothing without delayMs')
  await expect(fault({ name: 'claim-kind', chatId })).rejects.toThrow('without kind')
  await expect(fault({ name: 'swap-key', userId: alice.id })).rejects.toThrow('without publicKey')
  await expect(fault({ name: 'ghost' })).rejects.toThrow('userId, publicKey, fingerprint')
  expect(await sandbox.control.faults()).toEqual([])
  expect(await fault({ name: 'hide-key', userId: alice.id })).toHaveProperty('id')
  expect(await fault({ name: 'slow-body' })).toHaveProperty('id')
})

test('`givePhone`, `newKey` and `publishKey` refuse a person with a closed account', async () => {
  const { control, home } = await homeScene()
  const userId = home.alice.id
  await control.givePhone({ userId })
  await control.closeAccount({ userId })
  for (const attempt of [
    () => control.givePhone({ userId }),
    () => control.newKey({ userId }),
    () => control.publishKey({ userId, publicKey: 'x', fingerprint: 'A'.repeat(40) }),
  ]) {
    await expect(attempt()).rejects.toThrow(`${userId} closed their account`)
  }
  const { fingerprint } = (await control.people()).find(({ id }) => id === userId) ?? {}
  expect(fingerprint).toBeNull()
})

test('a refused person or bot uses up no id', async () => {
  const { control } = await homeScene()
  const first = await control.addPerson({ username: 'carol' })
  const bot = await control.addBot({ username: 'carols_bot' })
  await expect(control.addPerson({ username: 'CAROL' })).rejects.toThrow('is taken')
  await expect(control.addBot({ username: 'x' })).rejects.toThrow('shape')
  expect((await control.addPerson({ username: 'dave' })).id).toBe(first.id + 1)
  expect((await control.addBot({ username: 'daves_bot' })).id).toBe(bot.id + 1)
})
