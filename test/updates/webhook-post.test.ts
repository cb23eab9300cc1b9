import { once } from 'node:events'
import { Agent, buildConnector } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { post } from '../../src/updates/webhook-post.ts'
import { openRaw } from './bot.ts'

test('a webhook request aborted while its connection is being made is never sent', async () => {
  let requests = 0
  const bot = await openRaw(() => void requests++)
  const proceed = Promise.withResolvers<void>()
  const connect = buildConnector({})
  const agent = new Agent({
    connect: (options, callback) => void proceed.promise.then(() => connect(options, callback)),
  })
  onTestFinished(async () => await agent.destroy())
  const giveUp = new AbortController()
  const { origin, pathname: path } = new URL(bot.url)
  const sent = post(agent, {
    options: { method: 'POST', origin, path, body: '{}' },
    signal: giveUp.signal,
    mayLeave: () => true,
    isNewConnection: () => true,
  })
  giveUp.abort(new Error('given up'))
  await expect(sent).rejects.toThrow('given up')
  proceed.resolve()
  await expect.poll(() => bot.connections.length).toBe(1)
  const [connection] = bot.connections
  if (connection?.closed === false) await once(connection, 'close')
  expect(requests).toBe(0)
})
