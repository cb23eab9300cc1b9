import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { isAddressed } from '../../src/sandbox/rules/content.ts'
import { ARMORED, ask, still } from './support.ts'

type Got = { message: { text?: string; kind: string; from: { id: number } } }
const got = async (sandbox: Sandbox) =>
  (await ask<Got[]>(sandbox, 'GET /updates')).result.map(({ message }) => message)

test('commands, mentions and nothing else are addressed', () => {
  const bot = { username: 'Echo_Bot' }
  for (const text of [
    '/start',
    '/start now',
    '/start@echo_bot',
    ' /x@ECHO_BOT hi',
    'ask @echo_bot',
  ]) {
    expect(isAddressed(text, bot), text).toBe(true)
  }
  const others = [
    'start',
    '/start@other_bot',
    '@echo_bot2',
    'a@echo_bot',
    'say /start',
    '/',
    '/st-art',
  ]
  for (const text of [...others, `/${'x'.repeat(33)}`]) {
    expect(isAddressed(text, bot), text).toBe(false)
  }
})

test('in a group with privacy mode only what is addressed to the bot arrives', async () => {
  await using sandbox = await still()
  const { alice, readableGroup: chatId } = sandbox.home
  const { result } = await ask<{ id: number }>(sandbox, 'POST /messages', {
    body: { chatId, text: 'I am here' },
  })
  const say = (text: string, replyTo?: number) =>
    sandbox.control.post({ userId: alice.id, chatId, text, replyTo })
  await say('hello all')
  await say('/help')
  await say('/help@other_bot')
  await say('hello @echo_bot')
  const { messageId } = await say('yes', result.id)
  await say('no', messageId)
  expect((await got(sandbox)).map(({ text }) => text)).toEqual(['/help', 'hello @echo_bot', 'yes'])
})

test('without privacy mode the whole room arrives, notices too', async () => {
  await using sandbox = await still()
  const { alice, bob, bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.changeBot({ botId: bot.id, privacyMode: false })
  await sandbox.control.post({ userId: alice.id, chatId, text: 'hello all' })
  await sandbox.control.leave({ chatId, userId: bob.id })
  expect((await got(sandbox)).map(({ kind }) => kind)).toEqual(['user', 'left'])
})

test('in an encrypted group the sender’s phone says who is addressed', async () => {
  await using sandbox = await still()
  const { alice, bot, encryptedGroup: chatId } = sandbox.home
  const say = (addressed: number[]) =>
    sandbox.control.post({ userId: alice.id, chatId, armored: ARMORED, addressed })
  await say([])
  await say([bot.id])
  expect(await got(sandbox)).toHaveLength(1)
})

test('a bot hears nothing of itself, but that it was added', async () => {
  await using sandbox = await still()
  const { bot, privateChat } = sandbox.home
  await ask(sandbox, 'POST /messages', { body: { chatId: privateChat, text: 'x' } })
  expect(await got(sandbox)).toEqual([])
  const { alice } = sandbox.home
  const { id } = await sandbox.control.addRoom({ kind: 'group', members: [alice.id] })
  await sandbox.control.join({ chatId: id, userId: bot.id })
  expect(await got(sandbox)).toMatchObject([{ kind: 'joined', from: { id: bot.id } }])
})

test('a bot that is removed hears no more', async () => {
  await using sandbox = await still()
  const { alice, bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.leave({ chatId, userId: bot.id })
  await sandbox.control.post({ userId: alice.id, chatId, text: '/start' })
  expect(await got(sandbox)).toEqual([])
})
