import { expect, test } from 'vitest'
import { isAddressed } from '../../src/sandbox/rules/content.ts'

test('`isAddressed` accepts commands and mentions of the bot, and nothing else', () => {
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
