/** Two bots of one process, side by side: whose call it is, and whose words. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import { until } from '../support/sidecar.ts'
import { calledOf } from '../support/bot-call.ts'
import { startStage, type Stage } from './support.ts'

const CLIENT_TOKEN = 'what-the-news-bot-presents'

let stage: Stage
const chats = new Map<string, number>()

beforeAll(async () => {
  stage = await startStage({ bots: ['echo'] })
  await stage.add('news', { clientToken: CLIENT_TOKEN })
  await stage.ready('echo', 'news')
  for (const name of ['echo', 'news']) chats.set(name, await stage.chatOf(name))
}, 180_000)

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
})

/** What each bot presents. */
const tokenOf = (name: string): string =>
  name === 'news' ? CLIENT_TOKEN : (stage.tokens.get(name) ?? '')

const call = (name: string, method: string, path: string, body?: unknown) =>
  stage.call(name, method, path, { token: tokenOf(name), body })

async function textsFor(name: string): Promise<string[]> {
  const { json } = await call(name, 'GET', '/updates')
  const updates = json.result as { message?: { text?: string } }[]
  return updates.flatMap(({ message }) => (message?.text === undefined ? [] : [message.text]))
}

test.each(['echo', 'news'])(
  'bot %s sends into its own chat, and the message verifies with its own key',
  async (name) => {
    const text = `words of ${name}`
    const { status } = await call(name, 'POST', '/messages', { chatId: chats.get(name), text })
    expect(status).toBe(201)
    const { alice } = stage.sandbox.home
    const { inbox } = await stage.sandbox.control.inbox({ userId: alice.id })
    const found = inbox.find((one) => 'text' in one && one.text === text)
    expect(found).toMatchObject({ chatId: chats.get(name), verdict: 'verified' })
  },
)

test('each bot receives its own updates and none of the other bot', async () => {
  const { alice } = stage.sandbox.home
  for (const [name, chatId] of chats) {
    await stage.sandbox.control.write({ userId: alice.id, chatId, text: `to ${name}` })
  }
  for (const name of ['echo', 'news']) {
    expect(await until(async () => textsFor(name), 'updates')).toEqual([`to ${name}`])
  }
})

test('a send into a chat of another bot is refused with `chat_not_found`', async () => {
  const body = { chatId: chats.get('news'), text: 'not mine' }
  const { status, json } = await call('echo', 'POST', '/messages', body)
  expect([status, json.error?.code]).toEqual([404, 'chat_not_found'])
})

test('`key import` refuses the key of another bot of the process', async () => {
  await using echo = await connectControl(stage.dataDir, 20_000, 'echo')
  await using news = await connectControl(stage.dataDir, 20_000, 'news')
  const { armored, fingerprint } = (await news?.keyExport({ passphrase: 'for the way' })) ?? {}
  const given = { file: btoa(armored ?? ''), passphrase: 'for the way' }
  await expect(echo?.keyImport(given)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining(`${fingerprint} is the key of the bot news`),
  })
  const keys = await echo?.keyList()
  expect(keys?.map((key) => key.fingerprint)).not.toContain(fingerprint)
})

describe('authentication of a process with two bots', () => {
  test.each([
    ['a wrong token', () => 'wrong'],
    [
      'the service’s token of a bot that has another for its client',
      () => stage.tokens.get('news'),
    ],
    ['a token with one more character', () => `${tokenOf('echo')}x`],
  ])('a call with %s is refused as unauthorized', async (_what, token) => {
    const { status, json } = await stage.call('', 'GET', '/me', { token: token() ?? '' })
    expect([status, json.error?.code]).toEqual([401, 'unauthorized'])
  })

  test('a call without a token is refused as unauthorized, also on an unknown path', async () => {
    for (const path of ['/bot/v1/me', '/elsewhere', '/media/x?bot=nobody']) {
      expect((await calledOf(await fetch(stage.url + path))).status).toBe(401)
    }
  })
})

describe('attachments of a process with two bots', () => {
  /** The url of a file that Alice sends to a bot. */
  async function fileFor(name: string): Promise<string> {
    const { alice } = stage.sandbox.home
    const base64 = Buffer.from(`file for ${name}`).toString('base64')
    const chatId = chats.get(name) ?? 0
    await stage.sandbox.control.sendMedia({ userId: alice.id, chatId, base64 })
    return await until(async () => {
      const { text } = await call(name, 'GET', '/updates')
      return /"(\/media\/[^"]+)"/.exec(text)?.[1] ?? null
    }, 'the file')
  }

  const fetched = async (url: string, token?: string) =>
    await calledOf(
      await fetch(stage.url + url, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      }),
    )

  test('a media url in an update names its bot and serves the file without a token', async () => {
    for (const name of ['echo', 'news']) {
      const url = await fileFor(name)
      expect(new URL(url, stage.url).searchParams.get('bot')).toBe(name)
      expect((await fetched(url)).text).toBe(`file for ${name}`)
    }
  })

  test('a media download emits no process warning', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    expect((await fetched(await fileFor('echo'))).status).toBe(200)
    await nextTurn()
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('a media url with another bot name, or none, is refused as unauthorized', async () => {
    const url = await fileFor('echo')
    const others = [url.replace('bot=echo', 'bot=news'), url.replace('bot=echo&', '')]
    for (const other of [...others, url.replace('bot=echo', 'bot=echo&bot=news')]) {
      expect(other).not.toBe(url)
      expect((await fetched(other)).status).toBe(401)
    }
  })

  test('a bot token serves the files of its own bot only', async () => {
    const [path = ''] = (await fileFor('echo')).split('?')
    expect((await fetched(path, tokenOf('echo'))).text).toBe('file for echo')
    const { status, json } = await fetched(path, tokenOf('news'))
    expect([status, json.error?.code]).toEqual([404, 'media_not_found'])
  })
})

describe('the admin endpoint of a process with two bots', () => {
  test('`/readyz` answers for all bots and for one bot', async () => {
    expect((await stage.admin('/readyz')).json).toEqual({ ready: true, reasons: [] })
    expect((await stage.admin('/readyz?bot=news')).status).toBe(200)
    const { status, json } = await stage.admin('/readyz?bot=nobody')
    expect([status, json.error.code]).toEqual([404, 'not_found'])
    const both = await stage.admin('/readyz?bot=echo&bot=news')
    expect([both.status, both.json.error.code]).toEqual([400, 'bad_request'])
  })

  test('`/status` answers for all bots and for one bot', async () => {
    const { json } = await stage.admin('/status')
    const bots = json.bots as { name: string; bot: { id: number } }[]
    expect(bots.map(({ name, bot }) => [name, bot.id])).toEqual([...stage.ids])
    expect((await stage.admin('/status?bot=news')).json.bot.id).toBe(stage.ids.get('news'))
    expect((await stage.admin('/status?bot=nobody')).status).toBe(404)
  })

  test('`/metrics` labels each series with its bot', async () => {
    const { text } = await stage.admin('/metrics')
    for (const name of ['echo', 'news']) {
      expect(text).toContain(`postern_ready{bot="${name}"} 1`)
      expect(text).toMatch(new RegExp(`^postern_seals_total\\{bot="${name}"\\} 1$`, 'm'))
    }
    expect(text).toMatch(/^postern_requests_total\{.*status="401",bot=""\} \d+$/m)
  })

  test('every log line of a bot has its name, and no log line has a token', () => {
    const requests = stage.lines.filter((line) => line['msg'] === 'request')
    expect(new Set(requests.map((line) => line['bot']))).toEqual(
      new Set(['echo', 'news', undefined]),
    )
    const ready = stage.lines.filter((line) => line['msg'] === 'ready')
    expect(ready.map((line) => [line['bot'], line['account']])).toEqual(
      expect.arrayContaining([...stage.tokens.keys()].map((name) => [name, expect.any(String)])),
    )
    const all = JSON.stringify(stage.lines)
    for (const token of [...stage.tokens.values(), CLIENT_TOKEN]) expect(all).not.toContain(token)
  })
})
