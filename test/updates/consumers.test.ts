/** Clients and webhooks that read updates beside the bot, each for itself. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
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

const wordsOf = (updates: Json): unknown[] =>
  updates.map((update: Json) => [update.updateId, update.message?.text])

const poll = (one: Scene, name: string, query = ''): Promise<Json> =>
  one.callAs(tokenOf(name), 'GET', `/updates${query}`).then(({ result }) => result)

/** How many updates the service keeps. */
const kept = async (one: Scene): Promise<number> => (await one.past('GET', '/me')).result.queued

describe('a client that reads', () => {
  test('gets what is written in its chats, numbered for itself, and nothing of others', async () => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['groups'] }] })
    const { encryptedGroup } = one.sandbox.home
    const [first] = await one.write(1)
    const [second] = await one.write(1, encryptedGroup)
    const [third] = await one.write(1)
    const [fourth] = await one.write(1, encryptedGroup)
    expect(wordsOf(await poll(one, 'reporter', '?limit=1'))).toEqual([[1, second]])
    expect(wordsOf(await poll(one, 'reporter'))).toEqual([
      [1, second],
      [2, fourth],
    ])
    expect(await kept(one)).toBe(4)
    const ofBot = (await one.call('GET', '/updates')).result
    expect(ofBot.map(({ message }: Json) => message.text)).toEqual([first, second, third, fourth])
    expect(ofBot[0].message.postern.verdict).toBe('verified')
  })

  test('holds nothing back from the bot, nor the bot from it, and the service keeps what one has not', async () => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
    const [first, second] = await one.write(2)
    expect(wordsOf(await poll(one, 'reporter'))).toHaveLength(2)
    const bot = (await one.call('GET', '/updates')).result
    await one.call('GET', `/updates?offset=${bot[1].updateId + 1}`)
    const [third] = await one.write(1)
    const next = (await one.call('GET', `/updates?offset=${bot[1].updateId + 1}`)).result
    expect(next.map(({ message }: Json) => message.text)).toEqual([third])
    expect(await kept(one)).toBe(3)
    expect(wordsOf(await poll(one, 'reporter', '?offset=2'))).toEqual([
      [2, second],
      [3, third],
    ])
    await poll(one, 'reporter', '?offset=4')
    await until(async () => (await kept(one)) === 1)
    expect([first, second]).toHaveLength(2)
    await one.call('GET', `/updates?offset=${next[0].updateId + 1}`)
    await until(async () => (await kept(one)) === 0)
  })

  test('goes on after a start where it was', async () => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
    const [, second] = await one.write(2)
    await poll(one, 'reporter')
    expect(wordsOf(await poll(one, 'reporter', '?offset=2'))).toEqual([[2, second]])
    await one.restart()
    expect(wordsOf(await poll(one, 'reporter'))).toEqual([[2, second]])
    const [third] = await one.write(1)
    expect(wordsOf(await poll(one, 'reporter', '?offset=3'))).toEqual([[3, third]])
  })

  test('waits for what is its own, whatever is written elsewhere', async () => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['groups'] }] })
    const waiting = poll(one, 'reporter', '?timeout=30')
    await one.write(2)
    const [own] = await one.write(1, one.sandbox.home.encryptedGroup)
    expect(wordsOf(await waiting)).toEqual([[1, own]])
  })

  test('is ended by another poll of its own, and by none of another', async () => {
    const clients = [
      { name: 'reporter', chats: ['all'] },
      { name: 'watcher', chats: ['all'] },
    ]
    const one = await scene({ clients })
    const [first, other] = [
      poll(one, 'reporter', '?timeout=30'),
      poll(one, 'watcher', '?timeout=30'),
    ]
    const second = poll(one, 'reporter', '?timeout=30')
    expect(await first).toEqual([])
    const [words] = await one.write(1)
    for (const updates of [second, other]) expect(wordsOf(await updates)).toEqual([[1, words]])
  })

  test('gets the url of no file without the right to files', async () => {
    const clients = [
      { name: 'reporter', chats: ['all'], files: false },
      { name: 'watcher', chats: ['all'] },
    ]
    const one = await scene({ clients })
    const alice = await one.sandbox.phone(one.sandbox.home.alice.id)
    await alice.send(one.sandbox.home.privateChat, Buffer.from('a picture'))
    const [seen] = await poll(one, 'watcher')
    expect(JSON.stringify(seen)).toContain('/media/')
    const [bare] = await poll(one, 'reporter')
    expect(JSON.stringify(bare)).not.toContain('/media/')
  })

  test.each([
    ['?limit=0', 400, 'bad_request'],
    ['?limit=101', 400, 'bad_request'],
    ['?timeout=51', 400, 'bad_request'],
    ['?offset=-1', 400, 'bad_request'],
    ['?offset=1.5', 400, 'bad_request'],
  ])('is refused a query such as %s', async (query, status, code) => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] }, { publish: false })
    const refused = await one.callAs(tokenOf('reporter'), 'GET', `/updates${query}`)
    expect([refused.status, refused.code]).toEqual([status, code])
  })

  test('needs the right to read', async () => {
    const clients = [{ name: 'sender', chats: ['all'], may: ['send'] }]
    const one = await scene({ clients }, { publish: false })
    const refused = await one.callAs(tokenOf('sender'), 'GET', '/updates')
    expect([refused.status, refused.code]).toEqual([403, 'postern_not_allowed'])
    expect((await one.call('GET', '/updates')).result).toEqual([])
  })
})

describe('the bot', () => {
  test('goes on by its webhook while a client reads too', async () => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
    const bot = await openBot()
    await one.call('POST', '/webhook', { url: bot.url })
    const before = await one.write(1)
    await bot.until(1)
    await poll(one, 'reporter')
    const after = await one.write(2)
    await bot.until(3)
    expect(bot.words).toEqual([...before, ...after])
    expect(wordsOf(await poll(one, 'reporter', '?timeout=30'))).toHaveLength(2)
    await one.restart()
    const last = await one.write(1)
    await bot.until(4)
    expect(bot.words).toEqual([...before, ...after, ...last])
  })

  test('stops while a client waits for updates', async () => {
    const one = await scene({ clients: [{ name: 'reporter', chats: ['all'] }] })
    const bot = await openBot()
    await one.call('POST', '/webhook', { url: bot.url })
    await poll(one, 'reporter')
    await one.write(1)
    await bot.until(1)
    expect(await poll(one, 'reporter')).toHaveLength(1)
    const waiting = poll(one, 'reporter', '?offset=2&timeout=30')
    await pause(1500)
    await one.restart()
    expect(await waiting).toEqual([])
  })
})

describe('a webhook of the settings', () => {
  test('gets the kinds and chats that it is set for, each once and in order, with its secret', async () => {
    const hook = await openBot()
    const consumers = [{ name: 'archive', url: hook.url, chats: ['groups'], kinds: ['message'] }]
    const one = await scene({ consumers })
    const { encryptedGroup } = one.sandbox.home
    const [own] = await one.write(1)
    const words = await one.write(2, encryptedGroup)
    await hook.until(2)
    expect(hook.words).toEqual(words)
    const ofBot = (await one.call('GET', '/updates')).result
    expect(ofBot.map(({ message }: Json) => message.text)).toEqual([own, ...words])
    await one.restart()
    const more = await one.write(1, encryptedGroup)
    await hook.until(3)
    expect(hook.words).toEqual([...words, ...more])
  })

  test('that fails gets the same update again, and holds up nobody', async () => {
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
})
