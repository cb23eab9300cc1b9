import { expect, test } from 'vitest'
import { expectRefused, shownChat } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'
import { no, ok } from '../support/double-wire.ts'

const stage = useStage({
  before: ({ world }) => {
    Object.assign(world.bot['limits'], { armoredMax: 1500, textMax: 900 })
  },
})

test('a sealed message over `armoredMax` is refused with the number of recipients', async () => {
  const chat = stage.group([await stage.person(), await stage.person(), await stage.person()])
  expect((await stage.send(chat, 'short')).status).toBe(201)
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words.padEnd(880, '.'))
  expect([sent.status, sent.json.error.code]).toEqual([413, 'postern_seal_too_large'])
  expect(sent.json.error.message).toContain('4 recipients')
  expect(stage.bodies(since)).toEqual([])
  stage.expectNowhere(words)
})

test('a key list too long for any message is refused with the number of recipients', async () => {
  const chat = stage.group([await stage.friend()])
  const record = { fingerprint: 'A'.repeat(40), publicKey: 'x'.repeat(100) }
  const keys = Array.from({ length: 6000 }, (_, index) => ({ userId: index + 1000, ...record }))
  const huge = ok({ keys, memberCount: 7000 })
  using _huge = stage.double.script('GET', `/chats/${chat.id}/keys`, huge)
  const message = await expectRefused(stage, chat, 'postern_seal_too_large', 413)
  expect(message).toContain('6001 recipients')
})

test('a send that is accepted fits into `armoredMax`, up to the last character', async () => {
  const chat = await shownChat(stage, await stage.friend())
  let taken = 0
  for (let length = 500; length <= 740; length += 12) {
    const since = stage.double.mark()
    const sent = await stage.send(chat, 'x'.repeat(length))
    if (sent.status !== 201) expect(sent.json.error.code).toBe('postern_seal_too_large')
    for (const { armored } of stage.bodies(since)) {
      taken++
      expect(armored.length).toBeLessThanOrEqual(1500)
    }
  }
  expect(taken).toBeGreaterThan(5)
  expect(taken).toBeLessThan(20)
})

test('a text that breaks the rules of readable texts is refused in a protected chat', async () => {
  const chat = await shownChat(stage, await stage.friend())
  const since = stage.double.mark()
  const bad = ['', ' \n\t ', 'x'.repeat(901), 'a\rb', 'a\u0000b', 'a\u001bb', 'a\u0085b']
  for (const text of bad) {
    for (const answer of [await stage.send(chat, text), await stage.edit(chat, 7, { text })]) {
      expect([text, answer.status, answer.json.error.code]).toEqual([text, 400, 'bad_request'])
      expect(answer.json.error.message).toContain('text')
    }
  }
  expect(stage.bodies(since)).toEqual([])
})

test('a 429 to the bot’s own call is neither delayed nor repeated', async () => {
  const chat = stage.openGroup()
  await stage.send(chat, 'x')
  const headers = { 'retry-after': '3600' }
  const limited = no(429, 'flood_wait', { error: { retryAfter: 3600 }, headers })
  using _limited = stage.double.script('POST', '/messages', limited)
  const since = stage.double.mark()
  const sent = await stage.send(chat, 'y')
  expect([sent.status, sent.headers['retry-after']]).toEqual([429, '3600'])
  expect(stage.bodies(since).length).toBe(1)
})
