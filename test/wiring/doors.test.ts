/** The doors as they are built over parts that are played: routes, tokens, hosts and what they tell. */
import { chmodSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { NO_NEWS } from '../../src/updates/delivery-loop.ts'
import { buildBotDoor, type Door } from '../../src/http/server.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import type { Core } from '../../src/wiring/core.ts'
import {
  botDoorEvents,
  botHosts,
  createAdminDoor,
  describeBotDoor,
  openDoors,
} from '../../src/wiring/doors.ts'
import type { Link } from '../../src/wiring/link.ts'
import type { Updates } from '../../src/wiring/updates.ts'
import { callAt } from '../support/bot-call.ts'
import { watchedLog } from '../support/watched-log.ts'
import { NO_CLIENTS, NO_OUTBOX } from '../http/support.ts'
import { temporary } from '../store/support.ts'
import { PlayedParts } from './played-parts.ts'

const TOKEN = `bot_7.${'x'.repeat(43)}`
const OTHER = `bot_7.${'y'.repeat(43)}`

/** An answer of the service. */
const answer = (result: unknown) => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify({ ok: true, result })),
  envelope: { ok: true, result: new Unseen(result) },
})

interface Scene {
  settings?: object
  secrets?: object
  core?: object
  onBotExchange?: () => void
}

/** A bot's door, and the service's results by path. */
function scene(o: Scene = {}) {
  const parts = new PlayedParts()
  const results: Record<string, unknown> = {}
  const settings = settingsFrom({
    upstream: { url: 'http://127.0.0.1:9' },
    dataDir: temporary(),
    listen: { port: 0, allowedHosts: ['sidecar'] },
    ...o.settings,
  })
  const secrets = { botToken: SecretSource.fromValue(TOKEN), clientToken: null, passphrase: null }
  const relay = async ({ path }: { path: string }) => answer(results[path] ?? {})
  const link: Link = parts.part('link', {
    upstream: parts.part('upstream', { relay, poll: async () => answer([]) }),
    metrics: parts.part('metrics'),
    watch: parts.part('watch'),
    limits: () => ({ textMax: 5 }),
    observe: (seen: Unseen) => results[`observed ${seen instanceof Unseen}`],
  })
  const publication = parts.part('publication', { state: 'unpublished' })
  const core: Core = parts.part('core', {
    publication,
    keyring: { active: undefined, pending: undefined },
    messages: parts.part('messages'),
    clearFields: { ofCallback: async () => [], taken: () => ({}) },
    guard: parts.part('guard'),
    known: {
      sightings: { readUpdates: () => ({ heads: [] }) },
      clients: NO_CLIENTS.of,
    },
    presses: NO_CLIENTS.presses,
    incoming: null,
    knownChats: { isLatched: () => true },
    modes: {
      observe: async (id: number) => ({ result: { id, mode: 'protected', kind: 'group' } }),
    },
    attachments: parts.part('attachments'),
    recordConfirmed: async () => {},
    ...o.core,
  })
  const updates: Updates = parts.part('updates', {
    webhook: parts.part('webhook', {
      own: null,
      unconfirmedCount: 0,
      pollsEnd: new AbortController().signal,
      refusePoll: async () => null,
      look: async () => null,
    }),
    polls: parts.part('polls'),
    backlog: parts.part('backlog'),
    storeReach: { begin: async () => new AbortController().signal },
    turns: null,
    consumers: parts.part('consumers', { queue: { isShared: false } }),
    news: NO_NEWS,
  })
  const options = {
    settings,
    secrets: { ...secrets, ...o.secrets },
    log: watchedLog(),
    ...(o.onBotExchange && { parts: { onBotExchange: o.onBotExchange } }),
  }
  const events = botDoorEvents(link, core, updates)
  const door = describeBotDoor(options, { link, core, updates, events, outbox: NO_OUTBOX })
  return { parts, results, settings, link, core, updates, events, door }
}

/** Opens the door. @returns calls it as the bot */
async function opened(o: Scene = {}) {
  const all = scene(o)
  const built = buildBotDoor(all.door)
  onTestFinished(() => built.drain())
  const url = await built.listen({ setting: 'listen', host: '127.0.0.1', port: 0 })
  const call = async (method: string, path: string, body?: object) => {
    const { json } = await callAt(url, TOKEN, {
      method,
      path,
      prefix: path.startsWith('/media') ? '' : '/bot/v1',
      ...(body !== undefined && { body }),
    })
    return json as unknown as { ok: boolean; result?: unknown; error?: { code: string } }
  }
  return { ...all, call }
}

describe('the bot’s door', () => {
  test('shows our key in /me', async () => {
    const { call, results, core } = await opened()
    const me = { id: 7, mode: 'protected', fingerprint: 'z' }
    results['observed true'] = me
    const shown = async () => {
      const { result } = await call('GET', '/me')
      const { postern } = result as { postern: { publication: string; key: string | null } }
      return `${postern.publication} ${postern.key}`
    }
    expect(await shown()).toBe('unpublished null')
    Object.assign(core.keyring, { pending: { fingerprint: 'p' } })
    expect(await shown()).toBe('unpublished p')
    Object.assign(core.keyring, { active: { fingerprint: 'a' } })
    expect(await shown()).toBe('unpublished a')
  })

  test('shows none where the sidecar manages none', async () => {
    const { call, results } = await opened({ core: { publication: null } })
    results['/me'] = { id: 7, mode: 'protected' }
    expect((await call('GET', '/me')).result).toEqual({ id: 7, mode: 'protected' })
  })

  test('shows chats as readable ones, and as they are to a bot without a key', async () => {
    const { call } = await opened()
    expect((await call('GET', '/chats/3')).result).toMatchObject({ id: 3, mode: 'open' })
    const other = await opened({ settings: { key: { publish: false } } })
    other.results['/chats/3'] = { id: 3, mode: 'protected' }
    expect((await other.call('GET', '/chats/3')).result).toEqual({ id: 3, mode: 'protected' })
  })

  test('polls with every part of the updates', async () => {
    const confirmed: number[] = []
    const heads = [{ updateId: 5 }]
    const { call, parts } = await opened({
      core: {
        recordConfirmed: async (below: number) => void confirmed.push(below),
        incoming: { open: async () => ({ updates: ['opened'], changed: true }) },
        known: { sightings: { readUpdates: () => heads } },
      },
    })
    const wasTakenOver = () => false
    parts.results.set('polls.begin', () => ({ wasTakenOver }))
    expect((await call('GET', '/updates?timeout=0&offset=5')).result).toEqual(['opened'])
    expect(confirmed).toEqual([5])
    // the metrics are counted once the response has ended
    const all: string[] = []
    await vi.waitFor(() => {
      all.push(...parts.calls())
      expect(all).toEqual([
        'polls.begin 0',
        'updates.notePoll null',
        'backlog.recordPoll [{"updateId":5}] 100',
        expect.stringMatching('metrics.count'),
        expect.stringMatching('metrics.observe'),
      ])
    })
  })

  test('tells what the service says of its own webhook', async () => {
    const { call, parts, results } = await opened()
    results['/webhook'] = { url: null, pending: 3 }
    expect((await call('GET', '/webhook')).result).toEqual({ url: null, pending: 3 })
    expect(parts.calls()).toContain('updates.noteServiceWebhook {"url":null,"pending":3}')
  })

  test('sends by the limits in force, what the bot may seal itself', async () => {
    const send = async (settings: object, body: object) => {
      const { call, parts } = await opened({ settings })
      parts.results.set('messages.deliver', () => Promise.resolve(answer({ id: 1 })))
      const { error, ok } = await call('POST', '/messages', { chatId: 3, ...body })
      return error?.code ?? ok
    }
    expect(await send({}, { text: 'words' })).toBe(true)
    expect(await send({}, { text: 'longer' })).toBe('bad_request')
    expect(await send({}, { armored: 'x' })).not.toBe(true)
    expect(await send({ key: { publish: false } }, { armored: 'x' })).toBe(true)
  })

  test('gives attachments', async () => {
    const { call, parts } = await opened()
    parts.results.set('attachments.byUrl', () => Promise.reject(new Error('asked')))
    await call('GET', `/media/${'a'.repeat(32)}?x`)
    expect(parts.calls().some((one) => one.startsWith('attachments.byUrl'))).toBe(true)
  })

  test('has the parts of its bot', () => {
    const onBotExchange = () => {}
    const { door, core, link } = scene({
      onBotExchange,
      settings: { routes: { allowUnknown: true }, key: { publish: false } },
    })
    expect(door).toMatchObject({ managesKey: false, allowUnknown: true })
    expect(door.onExchange).toBe(onBotExchange)
    expect([door.clearFields, door.guard]).toEqual([core.clearFields, core.guard])
    expect(door.upstream).toBe(link.upstream)
    const usual = scene().door
    expect(usual).toMatchObject({ managesKey: true, allowUnknown: false, onExchange: undefined })
  })

  test('is found under the hosts of the settings', () => {
    const { door, settings } = scene()
    expect([...door.allowedHosts]).toEqual(['sidecar', '127.0.0.1'])
    expect(botHosts(settings)).toEqual(['sidecar', '127.0.0.1'])
  })
})

describe('the token', () => {
  test('is the client’s where there is one', () => {
    expect(scene().door.expectedToken()).toBe(TOKEN)
    const clientToken = SecretSource.fromValue('of the client')
    expect(scene({ secrets: { clientToken } }).door.expectedToken()).toBe('of the client')
  })

  test('is read again once a second, and at once where its file changed', () => {
    const file = join(temporary(), 'token')
    const write = (token: string, mode = 0o600) => {
      writeFileSync(file, token)
      chmodSync(file, mode)
    }
    write(TOKEN)
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    onTestFinished(() => now.mockRestore())
    const { door } = scene({ secrets: { botToken: SecretSource.fromFile(file) } })
    const read = (nowMs: number) => {
      now.mockReturnValue(nowMs)
      return [door.rereadToken(), door.expectedToken()]
    }
    expect(read(0)).toEqual([true, TOKEN])
    expect(read(999)).toEqual([false, TOKEN])
    expect(read(1000)).toEqual([true, TOKEN])
    write(`${OTHER}\n`)
    expect(read(1001)).toEqual([true, OTHER])
    expect(read(2000)).toEqual([false, OTHER])
    expect(read(2001)).toEqual([true, OTHER])
  })
})

describe('what the door tells', () => {
  test('are requests and their work', () => {
    const { events, parts } = scene()
    const request = (method: string) => {
      const line = { requestId: 'r', method, route: '/me', status: 200, ms: 5 }
      events.onAnswered(line)
      return parts.calls()
    }
    const recorded = [
      'metrics.count "postern_requests_total" {"method":"GET","route":"/me","status":"200"}',
      'metrics.observe "postern_request_duration_seconds" {"route":"/me"} 0.005',
    ]
    expect(request('GET')).toEqual(recorded)
    expect(request('POST').at(-1)).toBe('link.noteWork')
  })

  test('ends our calls where the bot has burnt its token', () => {
    const { events, parts } = scene()
    events.onTokenRevoked()
    expect(parts.calls()).toEqual([
      'watch.revoked',
      'publication.pause',
      'webhook.hold',
      'consumers.hold',
    ])
    const keyless = scene({ core: { publication: null } })
    keyless.events.onTokenRevoked()
    expect(keyless.parts.calls()).toEqual(['watch.revoked', 'webhook.hold', 'consumers.hold'])
  })
})

describe('the doors', () => {
  const door = (at: string[]): Door => ({
    listen: async (where) => {
      at.push(JSON.stringify(where))
      return at.join()
    },
    drain: async () => {},
  })

  test('open where the settings say', async () => {
    const open = async (listen: object) => {
      const { settings } = scene({ settings: { listen, admin: { port: 5 } } })
      const [bot, admin] = [[], []] as [string[], string[]]
      const at = await openDoors(settings, { bot: door(bot), admin: door(admin) })
      expect(at).toEqual({ bot: bot[0], admin: admin[0] })
      return [...bot, ...admin].map((one) => JSON.parse(one) as object)
    }
    const admin = { setting: 'admin', host: '127.0.0.1', port: 5 }
    const [bot, of] = await open({ port: 4 })
    expect(bot).toEqual({ setting: 'listen', host: '127.0.0.1', port: 4 })
    expect(of).toMatchObject(admin)
    expect((await open({ socket: '/x/y' }))[0]).toEqual({ setting: 'listen', socket: '/x/y' })
  })

  test.each([
    [{ allowedHosts: ['admin'] }, ['admin'], 'sidecar'],
    [{}, ['sidecar'], 'admin'],
  ])('the operator’s has the hosts of %j', async (admin, known, unknown) => {
    const { settings } = scene({ settings: { admin: { port: 0, ...admin } } })
    const parts = {
      metrics: { contentType: 'text/plain', text: async () => 'metrics' },
      readiness: () => ({ ready: true, reasons: [] }),
      status: async () => ({ version: 'x' }),
    }
    const built = createAdminDoor({ settings, log: watchedLog() }, parts)
    onTestFinished(() => built.drain())
    const url = await built.listen({ setting: 'admin', host: '127.0.0.1', port: 0 })
    const status = (host: string, path = '/metrics') =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = httpRequest(url + path, { headers: { host }, agent: false }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        request.on('error', reject).end()
      })
    for (const host of [...known, '127.0.0.1']) expect(await status(host)).toBe(200)
    expect([await status(unknown), await status('127.0.0.1', '/status')]).toEqual([421, 200])
  })
})
