/** The bot hears by updates how its calls in the outbox ended, where the settings ask for that. */
import { expect, test } from 'vitest'
import { openBot } from '../updates/bot.ts'
import { openScene, until, type Called, type Scene } from '../updates/support.ts'

const scene = (updates = true): Promise<Scene> =>
  openScene({ time: 'real', settings: { outbox: { updates } } })

/** Gives a send to the outbox, to be made at once. @returns its id */
async function later(one: Scene, chatId: number, text: string): Promise<string> {
  const headers = { prefer: 'respond-async' }
  const { status, result } = await one.call('POST', '/messages', { chatId, text }, headers)
  expect(status).toBe(202)
  return result.postern.outbox.id
}

const poll = async (one: Scene, query: string): Promise<Called['result']> =>
  (await one.call('GET', `/updates?${query}`)).result

test('a waiting poll returns the end of an outbox send once and confirms no further update', async () => {
  const one = await scene()
  const { privateChat } = one.sandbox.home
  const [words] = await one.write(1)
  const [{ updateId }] = await poll(one, '')
  const waiting = poll(one, `offset=${updateId + 1}&timeout=40`)
  const id = await later(one, privateChat, 'good morning')
  const [heard, ...more] = await waiting
  const outbox = { id, state: 'sent', chatId: privateChat, code: null }
  expect(heard).toMatchObject({ updateId, kind: 'postern_outbox', postern_outbox: outbox })
  expect(heard.postern_outbox.messageId).toEqual(expect.any(Number))
  expect(more).toEqual([])
  const [next] = await one.write(1)
  const after = await poll(one, `offset=${heard.updateId + 1}&timeout=20`)
  expect(after.map(({ message }: Called['result']) => message.text)).toEqual([next])
  expect(words).not.toBe(next)
})

test('a refused outbox send reaches the bot as an update with its error code, also after a restart', async () => {
  const one = await scene()
  const id = await later(one, 424_242, 'good morning')
  await until(async () => (await one.metric('outbox_settled_total{outcome="refused"}')) === 1)
  await one.restart()
  const [heard] = await poll(one, 'timeout=20')
  expect(heard).toMatchObject({ updateId: 0, postern_outbox: { id, state: 'refused' } })
  expect(heard.postern_outbox.code).toEqual(expect.any(String))
  expect(await poll(one, '')).toEqual([])
})

test('a webhook receives the end of an outbox send between updates, and again until it answers 2xx', async () => {
  const one = await scene()
  let answers = 0
  const bot = await openBot((_delivery, response) => {
    response.writeHead(++answers === 2 ? 500 : 200).end()
  })
  await one.call('POST', '/webhook', { url: bot.url })
  const [first] = await one.write(1)
  await bot.until(1)
  const id = await later(one, one.sandbox.home.privateChat, 'good morning')
  await bot.until(3)
  const [last] = await one.write(1)
  await bot.until(4)
  const got = bot.deliveries.map(({ body }) => JSON.parse(body))
  expect([got[0].message.text, got[3].message.text]).toEqual([first, last])
  for (const heard of got.slice(1, 3)) {
    expect(heard).toMatchObject({ updateId: got[0].updateId, postern_outbox: { id } })
  }
})

test('a poll during an active webhook is refused with 409 and returns no outbox update', async () => {
  const one = await scene()
  const bot = await openBot((_delivery, response) => void response.writeHead(500).end())
  await one.call('POST', '/webhook', { url: bot.url })
  await later(one, one.sandbox.home.privateChat, 'good morning')
  await bot.until(1)
  const polled = await one.call('GET', '/updates')
  expect([polled.status, polled.code]).toEqual([409, 'webhook_active'])
})

test('a poll returns no outbox updates while `outbox.updates` is off', async () => {
  const one = await scene(false)
  await one.write(1)
  const [{ updateId }] = await poll(one, '')
  await later(one, one.sandbox.home.privateChat, 'good morning')
  await until(async () => (await one.metric('outbox_settled_total{outcome="sent"}')) === 1)
  expect(await poll(one, `offset=${updateId + 1}`)).toEqual([])
})
