import { contentOf } from '../../src/kernel/unseen.ts'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { Authority } from './certificates.ts'
import { listening } from '../support/listening.ts'
import { door, failing, ok, rawService, service } from './support.ts'

const authority = new Authority()
const me = { method: 'GET', path: '/me' } as const

/** A proxy that leads every tunnel to one place. */
async function proxy(target: string): Promise<{ url: string; lines: string[] }> {
  const lines: string[] = []
  const server = createHttpServer((request, response) => {
    lines.push(`${request.method} ${request.url}`)
    ok(response, 'through the proxy')
  })
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    lines.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    const there = connect(Number(new URL(target).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      there.pipe(socket).pipe(there)
    })
    socket.on('error', () => there.destroy())
    there.on('error', () => socket.destroy())
  })
  return { url: await listening(server), lines }
}

async function hidden(): Promise<{ url: string; seen: unknown[] }> {
  const seen: unknown[] = []
  const server = createServer(authority.issue('DNS:service.test'), (request, response) => {
    seen.push(request.headers)
    ok(response, 'from the service')
  })
  server.on('tlsClientError', () => {})
  return { url: await listening(server, 'https'), seen }
}

test('a service behind a proxy is reached through a tunnel, and the proxy receives no token', async () => {
  const { url, seen } = await hidden()
  const { url: proxyUrl, lines } = await proxy(url)
  const { upstream } = door('https://service.test', {
    ca: authority.cert,
    proxy: { httpsProxy: proxyUrl.replace('//', '//user:pass@') },
  })
  const signal = new AbortController().signal
  expect(contentOf(await upstream.ask(me))).toBe('from the service')
  await upstream.poll({ query: '', timeoutSeconds: 0, signal })
  const line = `CONNECT service.test:443 Basic ${btoa('user:pass')}`
  expect(lines).toEqual([line, line])
  expect(seen).toHaveLength(2)
  expect(Object.keys((seen[0] as object) ?? {})).not.toContain('proxy-authorization')
})

test('a host listed in `noProxy` is reached directly', async () => {
  const { url, lines } = await proxy((await hidden()).url)
  const { upstream } = door('https://service.test', {
    ca: authority.cert,
    proxy: { httpsProxy: url, noProxy: 'other.test,.service.test,service.test' },
    limits: { callMs: 2000 },
  })
  expect((await failing(upstream.ask(me))).code).toMatch(/^postern_upstream_(unreach|timeout)/)
  expect(lines).toEqual([])
})

test.each(['http://service.test', 'http://localhost.evil.example', 'http://127.0.0.1.test'])(
  'plain http to %s is sent through its proxy',
  async (origin) => {
    const { url, lines } = await proxy('http://127.0.0.1:1')
    const { upstream } = door(origin, { proxy: { httpProxy: url } })
    expect(contentOf(await upstream.ask(me))).toBe('through the proxy')
    expect(lines).toEqual([`GET ${origin}/bot/v1/me`])
  },
)

test('a service on loopback is never reached through a proxy', async () => {
  const { url } = await service((_request, response) => ok(response, 'here'))
  const { url: httpProxy, lines } = await proxy(url)
  expect(
    contentOf(await door(url, { proxy: { httpProxy, httpsProxy: httpProxy } }).upstream.ask(me)),
  ).toBe('here')
  expect(lines).toEqual([])
})

test('proxies named only in the environment are not used', async () => {
  const { url, lines } = await proxy((await hidden()).url)
  process.env['HTTPS_PROXY'] = url
  process.env['HTTP_PROXY'] = url
  try {
    const other = { httpProxy: 'http://127.0.0.1:1' }
    for (const o of [{}, { proxy: {} }, { proxy: other }]) {
      const { upstream } = door('https://service.test', { ...o, limits: { callMs: 2000 } })
      await failing(upstream.ask(me))
    }
  } finally {
    delete process.env['HTTPS_PROXY']
    delete process.env['HTTP_PROXY']
  }
  expect(lines).toEqual([])
})

test('NO_PROXY of the environment does not bypass a configured proxy', async () => {
  const { url: proxyUrl, lines } = await proxy((await hidden()).url)
  process.env['NO_PROXY'] = 'service.test'
  try {
    const { upstream } = door('https://service.test', {
      ca: authority.cert,
      proxy: { httpsProxy: proxyUrl },
    })
    expect(contentOf(await upstream.ask(me))).toBe('from the service')
  } finally {
    delete process.env['NO_PROXY']
  }
  expect(lines).toHaveLength(1)
})

test.each([
  ['refuses', (socket: Socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'), 'unreachable'],
  ['hangs up', (socket: Socket) => socket.destroy(), 'unreachable'],
  ['is silent', () => undefined, 'timeout'],
])('a call ends when its proxy %s', async (_which, behave, code) => {
  const { url } = await rawService((socket) => void behave(socket))
  const { upstream } = door('https://service.test', {
    proxy: { httpsProxy: url },
    limits: { callMs: code === 'timeout' ? 500 : 30_000 },
  })
  expect((await failing(upstream.ask(me))).code).toBe(`postern_upstream_${code}`)
})
