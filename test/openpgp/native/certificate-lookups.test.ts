/** The cache of certificates over a reader and a library that the tests control. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CertificateStatus } from '../../../src/openpgp/engine.ts'
import { CertificateCache, statusOf } from '../../../src/openpgp/native/certificate-cache.ts'
import { type CertificateReader, WorkPriority } from '../../../src/openpgp/native/threads.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import type { CheckedCertificate } from '../../../src/openpgp/certificate-statuses.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout'], now: NOW_MS }))
afterEach(() => vi.useRealTimers())

function infoOf(certificate: string): CertificateInfo {
  const info = readCommonCertificate(certificate, NOW_MS)
  if (info === null) throw new Error('not common')
  return info
}
const info = infoOf(alice.certificate)
const another = infoOf(mallory.certificate)
const checked = (
  armored: string,
  one: CertificateInfo | null = info,
  status: Partial<CertificateStatus> = {},
): CheckedCertificate => ({ status: { ...statusOf(one ?? info, armored), ...status }, info: one })

type Judge = (armored: string, atMs: number, known?: string) => Promise<CheckedCertificate>
interface Given {
  /** The native reader; it reads nothing by default. */
  read?: (armored: string) => Promise<CertificateInfo | null>
  judge?: Judge
}

/** A cache, with the calls of its reader and of the library. */
function cacheOver({ read, judge }: Given = {}) {
  const asked: { armored: string; atMs: number; known: string | undefined }[] = []
  const reads: string[] = []
  const disagreed: string[] = []
  const reader = {
    read: async (armored: string) => {
      reads.push(armored)
      return (await read?.(armored)) ?? null
    },
  }
  const cache = new CertificateCache({
    reader: reader as unknown as CertificateReader,
    priority: new WorkPriority(),
    judge: async (armored, atMs, known) => {
      asked.push({ armored, atMs, known })
      return await (judge ?? ((one) => Promise.resolve(checked(one))))(armored, atMs, known)
    },
    onDisagreement: () => disagreed.push('once'),
  })
  return { cache, asked, reads, disagreed }
}
const reading = { read: () => Promise.resolve(info) }

/** The `CertificateInfo` that the cache has at once, or null. */
function knownTo(cache: CertificateCache, armored: string): CertificateInfo | null {
  const found = cache.infoOf(armored)
  if (!(found instanceof Promise)) return found
  found.catch(() => null)
  return null
}
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

test('a natively read certificate is used at once, and judged by openpgp.js half a second later', async () => {
  const { cache, asked, disagreed } = cacheOver(reading)
  expect(await cache.check('a')).toEqual(checked('a'))
  expect(knownTo(cache, 'a')).toMatchObject({ fingerprint: info.fingerprint })
  expect((await cache.check('a')).status).toEqual(checked('a').status)
  await pass(499)
  expect(asked).toEqual([])
  await pass(1)
  expect(asked).toEqual([{ armored: 'a', atMs: NOW_MS, known: undefined }])
  await pass(10_000)
  expect(asked).toHaveLength(1)
  expect(disagreed).toEqual([])
  expect(knownTo(cache, 'a')).not.toBeNull()
})

test('openpgp.js judges certificates one after another, each as of the time of its reading', async () => {
  const ends: (() => void)[] = []
  const { cache, asked } = cacheOver({
    ...reading,
    judge: (armored) => new Promise((resolve) => ends.push(() => resolve(checked(armored)))),
  })
  await cache.check('a')
  vi.setSystemTime(NOW_MS + 100)
  await cache.check('b')
  await cache.check('c')
  await pass(1000)
  expect(asked.map(({ armored }) => armored)).toEqual(['a'])
  ends[0]?.()
  await pass(0)
  expect(asked.map(({ armored, atMs }) => [armored, atMs - NOW_MS])).toEqual([
    ['a', 0],
    ['b', 100],
  ])
  ends[1]?.()
  await pass(0)
  ends[2]?.()
  await pass(0)
  await cache.check('d')
  expect(asked).toHaveLength(3)
  await pass(500)
  expect(asked.map(({ armored }) => armored)).toEqual(['a', 'b', 'c', 'd'])
})

test.each<[string, Judge]>([
  [
    'an unusable status',
    (armored) => Promise.resolve(checked(armored, null, { unusable: 'revoked' })),
  ],
  ['another expiry', (armored) => Promise.resolve(checked(armored, { ...info, untilS: 7e8 }))],
  ['another key', (armored) => Promise.resolve(checked(armored, another))],
])(
  'openpgp.js ends native reading for good when it reports %s for a natively read certificate',
  async (_, judge) => {
    const { cache, asked, reads, disagreed } = cacheOver({ ...reading, judge })
    await cache.check('a')
    await cache.check('b')
    const before = cache.epoch
    await pass(500)
    expect(disagreed).toEqual(['once'])
    expect(cache.epoch).toBeGreaterThan(before)
    expect([knownTo(cache, 'a'), knownTo(cache, 'b')]).toEqual([null, null])
    expect(asked.map(({ armored }) => armored)).toEqual(['a', 'a', 'b'])
    expect(reads).toEqual(['a', 'b'])
    await cache.check('c')
    expect(reads).toEqual(['a', 'b'])
  },
)

test.each<[string, Judge]>([
  ['fails', () => Promise.reject(new Error('gone'))],
  [
    'overran its deadline',
    (armored) => Promise.resolve(checked(armored, null, { unusable: 'deadline' })),
  ],
])('a check by openpgp.js that %s leaves natively read certificates in use', async (_, judge) => {
  const { cache, asked, disagreed } = cacheOver({ ...reading, judge })
  await cache.check('a')
  await cache.check('b')
  await pass(500)
  expect(asked).toHaveLength(2)
  expect(disagreed).toEqual([])
  expect(knownTo(cache, 'a')).not.toBeNull()
  expect(knownTo(cache, 'b')).not.toBeNull()
})

test('a certificate whose native reading ends after disposal is judged by openpgp.js', async () => {
  let give = (): void => {}
  const { cache, asked } = cacheOver({
    read: () => new Promise((resolve) => (give = () => resolve(info))),
  })
  const all = cache.check('a')
  await pass(0)
  cache[Symbol.dispose]()
  give()
  expect(await all).toEqual(checked('a'))
  expect(asked).toHaveLength(1)
})

test('a certificate beyond 4,096 waiting ones is judged by openpgp.js before its use', async () => {
  const { cache, asked, reads } = cacheOver(reading)
  for (let n = 0; n < 4096; n++) await cache.check(`c${n}`)
  expect([asked.length, reads.length]).toEqual([0, 4096])
  await cache.check('another')
  expect([asked.length, reads.length]).toEqual([1, 4096])
  await cache.check('another')
  expect(asked).toHaveLength(1)
})

test.each([
  ['has another key', { ...info, hasNoOtherKey: false }, {}],
  ['has a revocation', info, { revocations: true }],
  ['expires before its info', info, { expiresMs: NOW_MS + 5000 }],
  ['has no info', null, {}],
])('a certificate that %s is cached with the status of openpgp.js', async (_, one, status) => {
  const { cache, asked } = cacheOver({ judge: (a) => Promise.resolve(checked(a, one, status)) })
  const first = await cache.check('a')
  expect(first).toMatchObject(checked('a', one, status))
  expect(knownTo(cache, 'a')).toBeNull()
  expect(await cache.check('a')).toMatchObject(first)
  expect(await cache.infoOf('a')).toMatchObject(first)
  expect(asked).toHaveLength(1)
})

test('a certificate with an earlier copy is judged by openpgp.js, once for each earlier copy', async () => {
  const { cache, asked, reads } = cacheOver(reading)
  await cache.check('a', 'earlier')
  expect([asked.length, reads.length]).toEqual([1, 0])
  expect(asked[0]?.known).toBe('earlier')
  await cache.check('a', 'earlier')
  expect(asked).toHaveLength(1)
  await cache.check('a', 'another')
  expect(asked).toHaveLength(2)
  await cache.check('b', 'earlier')
  expect(asked).toHaveLength(3)
  await cache.check('a')
  expect([asked.length, reads.length]).toEqual([3, 1])
})

test('`lookups` counts hits and misses, concurrent checks of one certificate among them', async () => {
  let give = (): void => {}
  const { cache } = cacheOver({
    judge: (a) => new Promise((resolve) => (give = () => resolve(checked(a, null)))),
  })
  expect(cache.lookups).toEqual({ hits: 0, misses: 0 })
  const both = [cache.check('a'), cache.check('a')]
  await pass(0)
  expect(cache.lookups).toEqual({ hits: 1, misses: 1 })
  give()
  await Promise.all(both)
  await cache.check('a')
  expect(cache.lookups).toEqual({ hits: 2, misses: 1 })
  const quick = cacheOver(reading).cache
  for (let time = 0; time < 4; time++) await quick.check('b')
  expect(quick.lookups).toEqual({ hits: 3, misses: 1 })
})

test.each<[string, Partial<CertificateStatus>, CertificateInfo | null, number]>([
  ['overran its deadline', { unusable: 'deadline' }, null, 300_000],
  ['is not yet valid', { unusable: 'not-yet-valid', notBeforeMs: NOW_MS + 7000 }, null, 7000],
  ['expires', { expiresMs: NOW_MS + 7000 }, null, 7000],
  ['has a change ahead', { revocations: true }, { ...info, untilS: NOW_MS / 1000 + 7 }, 7000],
])('a certificate that %s is judged again at the right time', async (_, status, one, afterMs) => {
  const { cache, asked } = cacheOver({ judge: (a) => Promise.resolve(checked(a, one, status)) })
  await cache.check('a')
  vi.setSystemTime(NOW_MS + afterMs - 1)
  await cache.check('a')
  expect(asked).toHaveLength(1)
  vi.setSystemTime(NOW_MS + afterMs)
  await cache.check('a')
  expect(asked).toHaveLength(2)
})

test('a revoked certificate is cached beyond its expiry', async () => {
  const status = { unusable: 'revoked' as const, expiresMs: NOW_MS + 1 }
  const { cache, asked } = cacheOver({ judge: (a) => Promise.resolve(checked(a, null, status)) })
  await cache.check('a')
  vi.setSystemTime(NOW_MS + 1e9)
  await cache.check('a')
  expect(asked).toHaveLength(1)
})

test('a check that failed is repeated on the next use', async () => {
  let isGone = true
  const { cache, asked } = cacheOver({
    judge: (a) => (isGone ? Promise.reject(new Error('gone')) : Promise.resolve(checked(a))),
  })
  await expect(cache.check('a')).rejects.toThrow('gone')
  isGone = false
  expect((await cache.check('a')).status.unusable).toBeNull()
  expect(asked).toHaveLength(2)
})
