import { playScenario } from 'postern/sandbox'
import { expect } from 'vitest'
import { Bot } from './bot.js'
import { test } from './postern.js'
import saved from './vote.json'

/** Alice asks for a vote; gives the question as her phone shows it. */
async function askForVote(bot, alice, chatId) {
  await alice.write(chatId, '/vote')
  await bot.poll()
  return await alice.seen(({ text }) => text === 'Shall we?')
}

/** Alice presses a button below a message, and the bot handles it. */
async function vote(sandbox, bot, question, data) {
  const { chatId, messageId } = question
  await sandbox.control.press({ userId: sandbox.home.alice.id, chatId, messageId, data })
  await bot.poll()
}

test('explains itself', async ({ sandbox, alice }) => {
  const bot = new Bot(sandbox.url, sandbox.token)
  await alice.write(sandbox.home.privateChat, 'hello')
  await bot.poll()
  await alice.settled()
  expect(alice.inbox.at(-1)).toMatchObject({ text: 'Write /vote to vote.' })
})

test('counts a vote and tells the phone that pressed', async ({ sandbox, alice }) => {
  const bot = new Bot(sandbox.url, sandbox.token)
  const question = await askForVote(bot, alice, sandbox.home.privateChat)
  await vote(sandbox, bot, question, 'yes')
  expect(bot.votes).toEqual({ yes: 1 })
  expect(alice.answers).toMatchObject([{ text: 'yes: 1' }])
})

test('counts a vote that it answers too late', async ({ sandbox, alice }) => {
  const bot = new Bot(sandbox.url, sandbox.token)
  const { chatId, messageId } = await askForVote(bot, alice, sandbox.home.privateChat)
  await sandbox.control.press({ userId: alice.userId, chatId, messageId, data: 'no' })
  await sandbox.advance(61_000)
  await bot.poll()
  expect(bot.votes).toEqual({ no: 1 })
  expect(alice.answers).toEqual([])
})

test('answers an update once that comes twice', async ({ sandbox, alice }) => {
  const bot = new Bot(sandbox.url, sandbox.token)
  await alice.write(sandbox.home.privateChat, 'hello')
  await bot.poll()
  sandbox.fault('keep-confirmed', { times: 1 })
  await bot.poll(0)
  await alice.settled()
  expect(alice.inbox.filter(({ fromId }) => fromId === sandbox.home.bot.id)).toHaveLength(1)
})

test('is sealed and signed through the sidecar', async ({ sandbox, alice, sidecar }) => {
  const bot = new Bot(sidecar.url, sandbox.token)
  const question = await askForVote(bot, alice, sandbox.home.privateChat)
  expect(question.verdict).toBe('verified')
  expect(sandbox.transcript.search('Shall we?')).toEqual([]) // the service saw none of it
})

test('does what a chat expects that was saved on the page', async ({ sandbox }) => {
  const bot = new Bot(sandbox.url, sandbox.token)
  let isPlaying = true
  const played = playScenario(sandbox.control, saved).finally(() => (isPlaying = false))
  while (isPlaying) await bot.poll(1)
  await played
})
