/** The link to a played service: the identity of the bot, calls of the sidecar, their budget and events. */
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { RESTING_AFTER_MS } from '../../src/observe/service-watch.ts'
import { createLink } from '../../src/wiring/link.ts'
import { Authority } from '../service/certificates.ts'
import { listen } from '../support/listening.ts'
import { watchedLog } from '../support/watched-log.ts'
import { temporary } from '../store/support.ts'

const TOKEN = `bot_7.${'x'.repeat(43)}`
const ME = { id: 7, username: 'x', mode: 'open', limits: { apiCallsPerMinute: 60 } }

type Given = { status?: number; code?: string; result?: unknown }

/** Listens, and answers with what `given` says. */
async function served(server: Server, given: Given, asked: string[]): Promise<number> {
  server.on('request', (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked.push([request.method, request.url, ...chunks].join(' ').trim())
      const { status = 200, code, result = {} } = given
      const ok = code === undefined
      const error = { status, code, message: 'no' }
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(ok ? { ok, result } : { ok, error }))
    })
  })
  return (await listen(server)).port
}

/** Two links of one process to a service, whose bots' traffic was so long ago; its connections. */
async function twoLinks(agoMs: number) {
  const server = createServer()
  let connections = 0
  server.on('connection', () => (connections += 1))
  const url = `http://127.0.0.1:${await served(server, { result: ME }, [])}`
  const links = [linkTo({ url }), linkTo({ url })]
  const nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs + agoMs)
  onTestFinished(() => clock.mockRestore())
  return { links, connections: () => connections }
}

type Options = Partial<Parameters<typeof createLink>[2]> & { token?: string }

function linkTo(upstream: { url: string; caFile?: string }, o: Options = {}) {
  const { token = TOKEN, ...parts } = o
  const link = createLink(
    settingsFrom({ upstream, dataDir: temporary() }),
    { botToken: SecretSource.fromValue(token), clientToken: null, passphrase: null },
    { log: watchedLog(), ways: [], ...parts },
  )
  onTestFinished(() => link[Symbol.asyncDispose]())
  return link
}

/** A link, with what the service gives and is asked for. */
async function scene(o: Options = {}) {
  const given: Given = { result: ME }
  const asked: string[] = []
  const port = await served(createServer(), given, asked)
  const link = linkTo({ url: `http://127.0.0.1:${port}` }, o)
  const identified: boolean[] = []
  link.onIdentified((isOurs) => identified.push(isOurs))
  const bots: number[] = []
  link.onBot(({ id }) => bots.push(id))
  return { given, asked, link, identified, bots }
}

test.each([
  ['at rest', 1, RESTING_AFTER_MS],
  ['with traffic within the hour', 2, RESTING_AFTER_MS - 1000],
])('two bots %s probe the service over %i connections', async (_how, count, agoMs) => {
  const { links, connections } = await twoLinks(agoMs)
  for (const { calls } of links) {
    for (const call of [
      calls.probe,
      calls.me,
      () => calls.putKey({ publicKey: '', fingerprint: '' }),
    ]) {
      await call()
      // the connection is free once its answer was read to the end
      await new Promise(setImmediate)
    }
  }
  expect(connections()).toBe(count)
})

describe('the identity of the bot', () => {
  test('the link to the service reads a `/me` of the bot, and passes other content through', async () => {
    const { link, bots, identified } = await scene()
    for (const result of [null, 'x', { name: 'x' }, { id: 7, mode: 'unknown' }, ME]) {
      expect(link.observe(new Unseen(result))).toBe(result)
    }
    expect([bots, identified]).toEqual([[7], [true, true]])
  })
})

describe('calls of the sidecar', () => {
  test('`putKey` sends nothing once `requireAllowed` throws', async () => {
    const { link, asked } = await scene()
    const refuse = () => {
      throw new Error('not ours')
    }
    const key = { publicKey: 'K', fingerprint: 'f' }
    await expect(link.calls.putKey(key, refuse)).rejects.toThrow('not ours')
    expect(asked).toEqual([])
  })

  test('the sidecars of a bot share half of its call rate for their own calls', async () => {
    const { link } = await scene()
    expect(link.ownCalls()).toEqual({ usedLastMinute: 0, limit: 0 })
    await link.calls.chat(3)
    expect(link.ownCalls()).toEqual({ usedLastMinute: 1, limit: 300 })
    await link.calls.me()
    await link.calls.chat(3)
    expect([link.ownCalls(), link.limits().apiCallsPerMinute]).toEqual([
      { usedLastMinute: 3, limit: 30 },
      60,
    ])
    link.shareCalls(4)
    await link.calls.chat(3)
    expect(link.ownCalls()).toEqual({ usedLastMinute: 4, limit: 7 })
  })
})

test('a link with `upstream.caFile` trusts only the authorities in the file', async () => {
  const authority = new Authority()
  const { key, cert } = authority.issue('IP:127.0.0.1')
  const caFile = join(temporary(), 'the-ca.pem')
  writeFileSync(caFile, authority.cert)
  const port = await served(createSecureServer({ key, cert }), { result: ME }, [])
  const url = `https://127.0.0.1:${port}`
  expect(await linkTo({ url, caFile }).calls.me()).toEqual(ME)
  const unknown = { code: 'postern_upstream_unreachable' }
  await expect(linkTo({ url }).calls.me()).rejects.toMatchObject(unknown)
  expect(() => linkTo({ url, caFile: '/no/such' })).toThrow(
    'upstream.caFile cannot be read: /no/such',
  )
})
