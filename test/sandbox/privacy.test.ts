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

test('in an encrypted group the sender’s phone says who is addressed', async () => {
  await using sandbox = await still()
  const { alice, bot, encryptedGroup: chatId } = sandbox.home
  const say = (addressed: number[]) =>
    sandbox.control.post({ userId: alice.id, chatId, armored: ARMORED, addressed })
  await say([])
  await say([bot.id])
  expect(await got(sandbox)).toHaveLength(1)
})

test('a bot that is removed hears no more', async () => {
  await using sandbox = await still()
  const { alice, bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.leave({ chatId, userId: bot.id })
  await sandbox.control.post({ userId: alice.id, chatId, text: '/start' })
  expect(await got(sandbox)).toEqual([])
})
