import { EnvHttpProxyAgent, Pool } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { UPSTREAM_LIMITS } from '../../src/service/limits.ts'
import { createPools } from '../../src/service/pools.ts'
import type { EgressProxies, LazyPool, Pools } from '../../src/service/pools.ts'
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

test.each(['http://localhost:1', 'http://127.0.0.1:1', 'https://127.255.0.9', 'http://[::1]:1'])(
  'the loopback origin %s is reached without the proxy',
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
])('the origin %s is reached through the proxy', (origin) => {
  for (const proxy of [HTTPS, { httpProxy: 'http://proxy.example:3128' }]) {
    const { calls, polls, media } = pools(origin, proxy)
    expect([calls, polls, media].map(kindOf)).toEqual(['proxy', 'proxy', 'proxy'])
  }
})

test('bots with the same way to the service share the connections for checks', () => {
  const origin = 'https://service.example'
  const [one, another] = [pools(origin, HTTPS), pools(origin, HTTPS)]
  expect(another.checks.dispatcher).toBe(one.checks.dispatcher)
  expect(another.calls.dispatcher).not.toBe(one.calls.dispatcher)
  const elsewhere = [pools(origin), pools('https://other.example', HTTPS)]
  for (const { checks } of elsewhere) expect(checks.dispatcher).not.toBe(one.checks.dispatcher)
})

test('shared connections for checks end with the last bot that uses them', async () => {
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

const get = { method: 'GET', path: '/' } as const

test('a `ca` without a certificate is refused with a hint', () => {
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
