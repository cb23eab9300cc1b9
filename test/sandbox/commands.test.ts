import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

const put = (sandbox: Sandbox, body: object) => outcome(sandbox, 'PUT /commands', { body })
const one = (command: string, description = 'd') => [{ command, description }]

test('a list is replaced as a whole, scope by scope', async () => {
  await using sandbox = await still()
  const response = await ask(sandbox, 'PUT /commands', { body: { commands: one('start') } })
  expect(response.result).toEqual({ scope: 'default', commands: one('start') })
  await put(sandbox, { scope: 'private', commands: one('mine') })
  await put(sandbox, { commands: one('again') })
  expect((await ask(sandbox, 'GET /commands?scope=default')).result).toEqual(one('again'))
  expect((await ask(sandbox, 'GET /commands?scope=groups')).result).toEqual([])
  expect((await ask(sandbox, 'GET /commands')).result).toEqual([
    { scope: 'default', commands: one('again') },
    { scope: 'private', commands: one('mine') },
  ])
})

test('deleting empties a scope, the default one when none is named', async () => {
  await using sandbox = await still()
  await put(sandbox, { commands: one('start') })
  await put(sandbox, { scope: 'groups', commands: one('group') })
  const response = await ask(sandbox, 'DELETE /commands')
  expect(response.result).toEqual({ scope: 'default', commands: [] })
  await ask(sandbox, 'DELETE /commands?scope=groups')
  expect((await ask(sandbox, 'GET /commands')).result).toEqual([])
})

test('names are trimmed, lower-cased and lose their slash; twins fold to the first', async () => {
  await using sandbox = await still()
  const commands = [...one(' /Start '), ...one('start', 'second'), ...one('x', ' a \n  b ')]
  const response = await ask(sandbox, 'PUT /commands', { body: { commands } })
  expect(response.result).toMatchObject({ commands: [...one('start'), ...one('x', 'a b')] })
})

test('what breaks a limit is refused', async () => {
  await using sandbox = await still()
  const list = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ command: `c${n}`, description: 'd' }))
  expect(await put(sandbox, { commands: list(100) })).toBe(200)
  expect(await put(sandbox, { commands: list(101) })).toBe('bad_request')
  expect(await put(sandbox, { commands: one('x'.repeat(32)) })).toBe(200)
  for (const name of ['x'.repeat(33), '', 'ä', 'a-b', 'a b']) {
    expect(await put(sandbox, { commands: one(name) }), name).toBe('bad_request')
  }
  expect(await put(sandbox, { commands: one('x', `${'y'.repeat(255)}  z`) })).toBe('bad_request')
  expect(await put(sandbox, { commands: one('x', `${'y'.repeat(254)}  z`) })).toBe(200)
  for (const text of ['', '  ', 'a\u0007b']) {
    expect(await put(sandbox, { commands: one('x', text) })).toBe('bad_request')
  }
  expect(await put(sandbox, {})).toBe('bad_request')
  expect(await put(sandbox, { commands: [], language: 'de' })).toBe('bad_request')
})

test('a scope is one of five, and a chat’s scope needs the bot in it', async () => {
  await using sandbox = await still()
  const scope = (name: string) => put(sandbox, { scope: name, commands: one('x') })
  for (const name of ['default', 'private', 'groups', 'groupAdmins']) {
    expect(await scope(name)).toBe(200)
  }
  expect(await scope(`chat:${sandbox.home.readableGroup}`)).toBe(200)
  expect(await scope('chat:1')).toBe('chat_not_found')
  expect(await scope('everybody')).toBe('bad_request')
  expect(await outcome(sandbox, 'GET /commands?scope=chat:')).toBe('bad_request')
  expect(await outcome(sandbox, 'DELETE /commands?scope=x')).toBe('bad_request')
})

test('phones offer the narrowest list that holds anything', async () => {
  await using sandbox = await still()
  const { alice, bob, bot, privateChat, readableGroup } = sandbox.home
  const offered = async (userId: number, chatId: number) =>
    (await sandbox.control.commandsFor({ userId, chatId, botId: bot.id })).map((c) => c.command)
  await put(sandbox, { commands: one('default') })
  expect(await offered(alice.id, privateChat)).toEqual(['default'])
  expect(await offered(bob.id, readableGroup)).toEqual(['default'])
  await put(sandbox, { scope: 'groups', commands: one('groups') })
  await put(sandbox, { scope: 'private', commands: one('private') })
  await put(sandbox, { scope: 'groupAdmins', commands: one('admins') })
  expect(await offered(alice.id, privateChat)).toEqual(['private'])
  expect(await offered(alice.id, readableGroup)).toEqual(['admins'])
  expect(await offered(bob.id, readableGroup)).toEqual(['groups'])
  const scope = `chat:${readableGroup}`
  await sandbox.control.setCommands({ botId: bot.id, scope, commands: one('here') })
  expect(await offered(alice.id, readableGroup)).toEqual(['here'])
  await put(sandbox, { scope, commands: [] })
  expect(await offered(alice.id, readableGroup)).toEqual(['admins'])
})
