import { EnvHttpProxyAgent, Pool } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { UPSTREAM_LIMITS } from '../../src/upstream/limits.ts'
import {
  createPools,
  type EgressProxies,
  type LazyPool,
  type Pools,
} from '../../src/upstream/pools.ts'
import { ok, service } from './support.ts'

function pools(origin: string, proxy?: EgressProxies, more = {}): Pools {
  const limits = { ...UPSTREAM_LIMITS, ...more }
  const made = createPools({ origin, ca: undefined, proxy, limits })
  onTestFinished(async () => {
    await Promise.all(Object.values(made).map((pool) => pool.end()))
  })
  return made
}

const kindOf = ({ dispatcher }: LazyPool): string =>
  dispatcher instanceof EnvHttpProxyAgent
    ? 'proxy'
    : dispatcher instanceof Pool
      ? 'direct'
      : 'other'
const HTTPS = { httpsProxy: 'http://proxy.example:3128' }

describe('a proxy', () => {
  test.each(['http://localhost:1', 'http://127.0.0.1:1', 'https://127.255.0.9', 'http://[::1]:1'])(
    'is left out for %s, from which it can only lead away',
    (origin) => {
      const { calls, polls, media } = pools(origin, HTTPS)
      expect([calls, polls, media].map(kindOf)).toEqual(['direct', 'direct', 'direct'])
    },
  )

  test.each([
    'https://service.example',
    'https://localhost.example',
    'https://my-localhost',
    'https://127.0.0.1.example',
    'https://128.0.0.1',
    'https://[::2]',
  ])('is taken for %s', (origin) => {
    for (const proxy of [HTTPS, { httpProxy: 'http://proxy.example:3128' }]) {
      const { calls, polls, media } = pools(origin, proxy)
      expect([calls, polls, media].map(kindOf)).toEqual(['proxy', 'proxy', 'proxy'])
    }
  })

  test.each([undefined, {}, { httpsProxy: '', httpProxy: '', noProxy: 'x' }])(
    'is not taken where none is named: %j',
    (proxy) => {
      expect(kindOf(pools('https://service.example', proxy).calls)).toBe('direct')
    },
  )
})

test('a pool is made for its first call, and until then nothing is under way', () => {
  const made = pools('http://service.example')
  expect(made.calls.load()).toEqual({ busy: 0, waiting: 0 })
  expect(made.calls.dispatcher).toBe(made.calls.dispatcher)
  expect(made.calls.dispatcher).not.toBe(made.polls.dispatcher)
})

test('bots that reach the service in the same way check it by the same connections, others by their own', () => {
  const origin = 'https://service.example'
  const [one, another] = [pools(origin, HTTPS), pools(origin, HTTPS)]
  expect(another.checks.dispatcher).toBe(one.checks.dispatcher)
  expect(another.calls.dispatcher).not.toBe(one.calls.dispatcher)
  const elsewhere = [pools(origin), pools('https://other.example', HTTPS)]
  for (const { checks } of elsewhere) expect(checks.dispatcher).not.toBe(one.checks.dispatcher)
})

test('connections for checks end with the last bot that has them, and not before, however often another ends', async () => {
  const { url } = await service((_request, response) => ok(response, {}))
  const ask = async ({ checks }: Pools): Promise<number> => {
    const { statusCode, body } = await checks.dispatcher.request(get)
    await body.dump()
    return statusCode
  }
  const [first, last] = [0, 1].map(() =>
    createPools({ origin: url, ca: undefined, proxy: undefined, limits: UPSTREAM_LIMITS }),
  ) as [Pools, Pools]
  expect([await ask(first), await ask(last)]).toEqual([200, 200])
  await first.checks.end()
  await first.checks.end()
  expect(await ask(last)).toBe(200)
  await last.checks.end()
  await expect(ask(last)).rejects.toThrow('destroyed')
  expect(await ask(pools(url))).toBe(200)
})

/** A service that answers when it is let, once for each call. */
async function patient() {
  const answers: (() => void)[] = []
  const { url } = await service((_request, response) => {
    answers.push(() => ok(response, {}))
  })
  return { url, answers }
}

const loadOf = ({ calls, polls, media }: Pools) => ({
  calls: calls.load(),
  polls: polls.load(),
  media: media.load(),
})

const get = { method: 'GET', path: '/' } as const

describe('the load', () => {
  test('of each pool are its calls under way, and those that wait for a connection', async () => {
    const { url, answers } = await patient()
    const made = pools(url, undefined, { connections: 1, pollConnections: 2, mediaConnections: 1 })
    const none = { busy: 0, waiting: 0 }
    expect(loadOf(made)).toEqual({ calls: none, polls: none, media: none })
    const calls = [made.calls, made.calls, made.calls, made.polls, made.polls, made.media].map(
      async ({ dispatcher }) => await (await dispatcher.request(get)).body.dump(),
    )
    await expect.poll(() => answers.length).toBe(4)
    expect(loadOf(made)).toEqual({
      calls: { busy: 1, waiting: 2 },
      polls: { busy: 2, waiting: 0 },
      media: { busy: 1, waiting: 0 },
    })
    for (let n = 0; n < calls.length; n++) {
      await expect.poll(() => answers.length).toBeGreaterThan(n)
      answers[n]?.()
    }
    await Promise.all(calls)
    await expect.poll(() => made.calls.load()).toEqual(none)
  })

  test('behind a proxy is that of the connections to the service', async () => {
    const { url, answers } = await patient()
    const made = pools('http://service.example', { httpProxy: url }, { connections: 1 })
    const calls = [1, 2].map(async () => {
      const { body } = await made.calls.dispatcher.request({
        ...get,
        origin: 'http://service.example',
      })
      await body.dump()
    })
    await expect.poll(() => answers.length).toBe(1)
    expect(made.calls.load()).toEqual({ busy: 1, waiting: 1 })
    answers[0]?.()
    await expect.poll(() => answers.length).toBe(2)
    answers[1]?.()
    await Promise.all(calls)
  })
})

test('no pool decompresses, and none follows a redirect', async () => {
  const { url, seen } = await service(
    (_request, response) =>
      void response.writeHead(302, { location: '/elsewhere', 'content-encoding': 'gzip' }).end('x'),
  )
  const { calls } = pools(url)
  const { statusCode, body } = await calls.dispatcher.request(get)
  expect([statusCode, await body.text(), seen.length]).toEqual([302, 'x', 1])
})

test('an answer that stalls, a header that never comes and one too long end', async () => {
  const limits = { callMs: 100, stallMs: 100, maxHeaderBytes: 1000, maxListBytes: 100 }
  const { url } = await service(({ url: path }, response) => {
    if (path === '/stalls') response.writeHead(200).write('x')
    if (path === '/long') response.writeHead(200, { 'x-long': 'y'.repeat(2000) }).end()
    if (path === '/large') response.end('x'.repeat(101))
  })
  const { calls } = pools(url, undefined, limits)
  const codeOf = async (path: string): Promise<unknown> =>
    await calls.dispatcher
      .request({ ...get, path })
      .then(({ body }) => body.text())
      .catch((error: unknown) => (error as { code: string }).code)
  expect(await Promise.all(['/never', '/stalls', '/long', '/large'].map(codeOf))).toEqual([
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
    'UND_ERR_HEADERS_OVERFLOW',
    'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  ])
})

test('what holds no certificate is refused with what to name in its place', () => {
  const origin = 'https://service.example'
  const wrong = { origin, ca: 'words', proxy: undefined, limits: UPSTREAM_LIMITS }
  expect(() => createPools(wrong)).toThrow(
    expect.objectContaining({
      code: 'settings',
      message: 'upstream.caFile holds no certificate',
      hint: 'name a file with certificates in PEM',
      cause: expect.any(Error) as unknown,
    }) as Error,
  )
})
