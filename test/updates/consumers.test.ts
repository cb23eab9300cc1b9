/** Clients and webhooks that read updates beside the bot, each for itself. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CLIENT_TOKEN_PREFIX, tokenHashOf } from '../../src/api/bot.ts'
import type { Json } from '../support/double-wire.ts'
import { openBot } from './bot.ts'
import { openScene, until, type Scene } from './support.ts'

const tokenOf = (name: string): string => `${CLIENT_TOKEN_PREFIX}${name.padEnd(43, '0')}`

interface Given {
  clients?: object[]
  consumers?: object[]
}

/** A scene with clients of the settings, by their names, and what they read. */
async function scene({ clients = [], consumers = [] }: Given, more: object = {}) {
  const list = clients.map((client) => {
    const { name } = client as { name: string }
    return { tokenHash: tokenHashOf(tokenOf(name)), may: ['read'], ...client }
  })
  return await openScene({ time: 'real', settings: { clients: { list }, consumers }, ...more })
}

/** Of the sandbox's world without a seed. */
const ENCRYPTED_GROUP = 9_100_000_003

const wordsOf = (updates: Json): unknown[] =>
  updates.map((update: Json) => [update.updateId, update.message?.text])

/** A poll that waits for updates unless its query sets no timeout: it ends then after a second. */
const poll = (one: Scene, name: string, query = '?timeout=30'): Promise<Json> =>
  one.callAs(tokenOf(name), 'GET', `/updates${query}`).then(({ result }) => result)

/** How many updates the service keeps. */
const kept = async (one: Scene): Promise<number> => (await one.past('GET', '/me')).result.queued

test('a client receives the updates of its own chats only, under its own numbers', async () => {
  const one = await scene({ clients: [{ name: 'reporter', chats: [ENCRYPTED_GROUP] }] })
  const { encryptedGroup } = one.sandbox.home
  const [first] = await one.write(1)
  const [second] = await one.write(1, encryptedGroup)
  const [third] = await one.write(1)
  const [fourth] = await one.write(1, encryptedGroup)
  expect(wordsOf(await poll(one, 'reporter', '?limit=1&timeout=30'))).toEqual([[1, second]])
  expect(wordsOf(await poll(one, 'reporter'))).toEqual([
    [1, second],
    [2, fourth],
  ])
  expect(await kept(one)).toBe(4)
  const ofBot = (await one.call('GET', '/updates?timeout=30')).result
  expect(ofBot.map(({ message }: Json) => message.text)).toEqual([first, second, third, fourth])
  expect(ofBot[0].message.postern.verdict).toBe('verified')
})

test('a client and the bot read independently, and the service keeps an update until both have confirmed it', async () => {
  const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
  const [first, second] = await one.write(2)
  expect(wordsOf(await poll(one, 'reporter'))).toHaveLength(2)
  const bot = (await one.call('GET', '/updates?timeout=30')).result
  await one.call('GET', `/updates?offset=${bot[1].updateId + 1}`)
  const [third] = await one.write(1)
  const next = (await one.call('GET', `/updates?offset=${bot[1].updateId + 1}&timeout=30`)).result
  expect(next.map(({ message }: Json) => message.text)).toEqual([third])
  expect(await kept(one)).toBe(3)
  expect(wordsOf(await poll(one, 'reporter', '?offset=2&timeout=30'))).toEqual([
    [2, second],
    [3, third],
  ])
  await poll(one, 'reporter', '?offset=4')
  await until(async () => (await kept(one)) === 1)
  expect([first, second]).toHaveLength(2)
  await one.call('GET', `/updates?offset=${next[0].updateId + 1}`)
  await until(async () => (await kept(one)) === 0)
})

test('a client’s poll waits for an update of its own chats while others arrive', async () => {
  const one = await scene({ clients: [{ name: 'reporter', chats: [ENCRYPTED_GROUP] }] })
  const waiting = poll(one, 'reporter')
  await one.write(2)
  const [own] = await one.write(1, one.sandbox.home.encryptedGroup)
  expect(wordsOf(await waiting)).toEqual([[1, own]])
})

test('a client’s poll is ended by its own next poll, and not by another client’s poll', async () => {
  const clients = [
    { name: 'reporter', chats: ['all'] },
    { name: 'watcher', chats: ['all'] },
  ]
  const one = await scene({ clients })
  const [first, other] = [poll(one, 'reporter'), poll(one, 'watcher')]
  const second = poll(one, 'reporter')
  expect(await first).toEqual([])
  const [words] = await one.write(1)
  for (const updates of [second, other]) expect(wordsOf(await updates)).toEqual([[1, words]])
})

test('the urls of files in a client’s updates carry no right, and without the right to files there are none', async () => {
  const clients = [
    { name: 'reporter', chats: ['all'], files: false },
    { name: 'watcher', chats: ['all'] },
  ]
  const one = await scene({ clients })
  const alice = await one.sandbox.phone(one.sandbox.home.alice.id)
  await alice.send(one.sandbox.home.privateChat, Buffer.from('a picture'))
  const [seen] = await poll(one, 'watcher')
  expect(JSON.stringify(seen)).toMatch(/"url":"\/media\/[^?"]+"/)
  const [bare] = await poll(one, 'reporter')
  expect(JSON.stringify(bare)).not.toContain('/media/')
})

test('a client’s poll with a limit, timeout or offset out of range is a `bad_request`', async () => {
  const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] }, { publish: false })
  for (const query of ['limit=0', 'limit=101', 'timeout=51', 'offset=-1', 'offset=1.5']) {
    const refused = await one.callAs(tokenOf('reporter'), 'GET', `/updates?${query}`)
    expect([query, refused.status, refused.code]).toEqual([query, 400, 'bad_request'])
  }
})

test('the bot’s webhook receives every update while a client polls, also after a restart', async () => {
  const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
  const bot = await openBot()
  await one.call('POST', '/webhook', { url: bot.url })
  const before = await one.write(1)
  await bot.until(1)
  await poll(one, 'reporter', '')
  const after = await one.write(2)
  await bot.until(3)
  expect(bot.words).toEqual([...before, ...after])
  expect(wordsOf(await poll(one, 'reporter'))).toHaveLength(2)
  await one.restart()
  const last = await one.write(1)
  await bot.until(4)
  expect(bot.words).toEqual([...before, ...after, ...last])
})

test('a sidecar that stops ends a client’s waiting poll with an empty list', async () => {
  const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
  const bot = await openBot()
  await one.call('POST', '/webhook', { url: bot.url })
  await poll(one, 'reporter', '')
  await one.write(1)
  await bot.until(1)
  expect(await poll(one, 'reporter')).toHaveLength(1)
  const waiting = poll(one, 'reporter', '?offset=2&timeout=30')
  await pause(1500)
  await one.restart()
  expect(await waiting).toEqual([])
})

test('a webhook of the settings receives its kinds and chats in order, each update once', async () => {
  const hook = await openBot()
  const consumers = [
    { name: 'archive', url: hook.url, chats: [ENCRYPTED_GROUP], kinds: ['message'] },
  ]
  const one = await scene({ consumers })
  const { encryptedGroup } = one.sandbox.home
  const [own] = await one.write(1)
  const words = await one.write(2, encryptedGroup)
  await hook.until(2)
  expect(hook.words).toEqual(words)
  const ofBot = (await one.call('GET', '/updates?timeout=30')).result
  expect(ofBot.map(({ message }: Json) => message.text)).toEqual([own, ...words])
  await one.restart()
  const more = await one.write(1, encryptedGroup)
  await hook.until(3)
  expect(hook.words).toEqual([...words, ...more])
})

test('a webhook of the settings that fails receives the same update again and delays no other consumer', async () => {
  let answers = 0
  const hook = await openBot((_delivery, response) => {
    response.writeHead(++answers === 1 ? 500 : 200).end()
  })
  const one = await scene({ consumers: [{ name: 'archive', url: hook.url }] })
  const [words] = await one.write(1)
  const ofBot = (await one.call('GET', '/updates?timeout=30')).result
  expect(ofBot.map(({ message }: Json) => message.text)).toEqual([words])
  await hook.until(2)
  expect(hook.words).toEqual([words, words])
})
