import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, homeScene, outcome } from './support.ts'

const resolve = async (sandbox: Sandbox, handle: string) => {
  const response = await ask<object>(sandbox, `GET /resolve/${handle}`)
  return response.ok ? response.result : response.error.code
}

test('a renamed bot has its new handle in `/me`, mentions, commands and `/resolve`', async () => {
  const { sandbox, control, bot, alice, readableGroup: chatId } = await homeScene()
  const renamed = await control.renameBot({ botId: bot.id, username: 'Parrot_bot', name: 'Parrot' })
  expect(renamed).toEqual({ id: bot.id, username: 'Parrot_bot' })
  const me = (await ask(sandbox, 'GET /me')).result
  expect(me).toMatchObject({ username: 'Parrot_bot', name: 'Parrot' })
  for (const text of ['@echo_bot hi', '/start@echo_bot', '@parrot_bot hi', '/start@parrot_bot']) {
    await control.post({ userId: alice.id, chatId, text })
  }
  const { result } = await ask<{ message: { text: string } }[]>(sandbox, 'GET /updates')
  expect(result.map(({ message }) => message.text)).toEqual(['@parrot_bot hi', '/start@parrot_bot'])
  expect(await resolve(sandbox, 'parrot_bot')).toMatchObject({ id: bot.id, username: 'Parrot_bot' })
})

test('a former handle resolves to its holder until it is claimed or released', async () => {
  const { sandbox, control, bot, alice } = await homeScene()
  await control.renameBot({ botId: bot.id, username: 'second_bot' })
  expect(await resolve(sandbox, 'echo_bot')).toMatchObject({ id: bot.id, username: 'second_bot' })
  await control.renameBot({ botId: bot.id, username: 'third_bot', formerHandle: 'released' })
  expect(await resolve(sandbox, 'second_bot')).toBe('username_not_found')
  await control.renamePerson({ userId: alice.id, username: 'echo_bot' })
  expect(await resolve(sandbox, 'echo_bot')).toMatchObject({ id: alice.id })
})

test('`renameChat` sets, replaces and removes the handle of a group', async () => {
  const { sandbox, control, readableGroup: chatId } = await homeScene()
  await control.renameChat({ chatId, username: 'Market' })
  expect(await resolve(sandbox, 'market')).toMatchObject({ id: chatId, kind: 'group' })
  await control.renameChat({ chatId, username: 'Bazaar', formerHandle: 'released' })
  expect(await resolve(sandbox, 'market')).toBe('username_not_found')
  expect((await ask(sandbox, `GET /chats/${chatId}`)).result).toMatchObject({ username: 'Bazaar' })
  expect(await control.renameChat({ chatId, username: null })).toEqual({
    id: chatId,
    username: null,
  })
  expect(await resolve(sandbox, 'bazaar')).toBe('username_not_found')
})

test('`renamePerson` changes the case of a handle, and the names in `/resolve` and updates', async () => {
  const { sandbox, control, alice, privateChat: chatId } = await homeScene()
  const names = { firstName: 'Alicia', lastName: 'Liddell' }
  await control.renamePerson({ userId: alice.id, username: 'Alice', ...names })
  const seen = { username: 'Alice', ...names }
  expect(await resolve(sandbox, 'alice')).toMatchObject({ user: seen })
  await control.post({ userId: alice.id, chatId, text: 'hi' })
  expect((await ask(sandbox, 'GET /updates')).result).toMatchObject([{ message: { from: seen } }])
})

test('a rename to a used, malformed or reserved handle is refused and changes nothing', async () => {
  const { sandbox, control, bot, readableGroup: chatId, privateChat } = await homeScene()
  await expect(control.renameBot({ botId: bot.id, username: 'ALICE' })).rejects.toThrow('is taken')
  await expect(control.renameBot({ botId: bot.id, username: 'a-b' })).rejects.toThrow('shape')
  await expect(control.renameChat({ chatId, username: 'service' })).rejects.toThrow('is taken')
  await expect(control.renameChat({ chatId: privateChat, username: 'mine' })).rejects.toThrow(
    'private chat',
  )
  await expect(control.renameBot({ botId: 1, username: 'free_bot' })).rejects.toThrow('no bot')
  expect(await resolve(sandbox, 'echo_bot')).toMatchObject({ username: 'echo_bot' })
  expect(await outcome(sandbox, 'GET /resolve/free_bot')).toBe('username_not_found')
})
