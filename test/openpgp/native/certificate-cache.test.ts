import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import type { CertificateInfo } from '../../../src/openpgp/native/certificate-info.ts'
import type { CheckedCertificate } from '../../../src/openpgp/certificate-statuses.ts'
import { CertificateCache } from '../../../src/openpgp/native/certificate-cache.ts'
import { WorkPriority, CertificateReader } from '../../../src/openpgp/native/threads.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  userId,
} from '../../support/openpgp-certificate.ts'
import type { NativeJobs } from '../../../src/openpgp/native/worker.ts'
import { Pool } from '../../../src/openpgp/pool.ts'
import '../../support/openpgp-engine.ts'
import { ed25519 } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, mallory, testPerson } from '../../support/openpgp-people.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'

const { primary, subkey } = alice
const whole = [keyPacket(primary), userId(primary, 'alice'), boundSubkey(primary, subkey)]
const withSigning = armoredCertificate(...whole, signingSubkey(primary, ed25519('s', MADE_MS)))
const revoked = armoredCertificate(
  keyPacket(primary),
  keyRevocation(primary, { atMs: MADE_MS + 1000 }),
  userId(primary, 'alice'),
  boundSubkey(primary, subkey),
)

const threads = new Pool<NativeJobs>('native/worker', 1)
afterAll(() => threads[Symbol.asyncDispose]())
afterEach(() => vi.useRealTimers())

/** The library is asked after a moment. */
const SOON = { timeout: 30_000 }

/** What a cache knows at once; null where it has to find out. */
function knownTo(one: CertificateCache, certificate: string): CertificateInfo | null {
  const found = one.infoOf(certificate)
  return found instanceof Promise ? null : found
}

/** A cache over the library, with what the library was asked. */
function newCache(judge = judgeFully): {
  cache: CertificateCache
  asked: string[]
  disagreed: string[]
} {
  const asked: string[] = []
  const disagreed: string[] = []
  const made = new CertificateCache({
    reader: new CertificateReader(threads),
    priority: new WorkPriority(),
    judge: async (armored, atMs, known) => {
      asked.push(armored)
      return await judge(armored, atMs, known)
    },
    onDisagreement: () => disagreed.push('once'),
  })
  return { cache: made, asked, disagreed }
}

test('a certificate of the common shape is used at once, and judged by the library once', async () => {
  const { cache: one, asked, disagreed } = newCache()
  for (let time = 0; time < 5; time++) {
    const { status, info } = await one.check(alice.certificate)
    expect(status).toMatchObject({ unusable: null, fingerprint: primary.fingerprint })
    expect(info).not.toBeNull()
  }
  await vi.waitFor(() => expect(asked).toEqual([alice.certificate]), SOON)
  await one.check(alice.certificate)
  expect(asked).toHaveLength(1)
  expect(disagreed).toEqual([])
})

test('any other is judged by the library first, and once too', async () => {
  const { cache: one, asked } = newCache()
  for (const certificate of [withSigning, revoked, 'hello', withSigning, revoked, 'hello']) {
    await one.check(certificate)
  }
  expect(asked).toEqual([withSigning, revoked, 'hello'])
})

test('asked at the same time, it is judged once', async () => {
  const { cache: one, asked } = newCache()
  const all = await Promise.all(Array.from({ length: 20 }, () => one.check(withSigning)))
  expect(asked).toHaveLength(1)
  expect(new Set(all.map(({ status }) => status.fingerprint)).size).toBe(1)
})

test('a text that differs in one character is another certificate', async () => {
  const { cache: one } = newCache()
  await one.check(alice.certificate)
  const at = alice.certificate.indexOf('\n\n') + 40
  const letter = alice.certificate[at] === 'A' ? 'B' : 'A'
  const other = alice.certificate.slice(0, at) + letter + alice.certificate.slice(at + 1)
  expect((await one.check(other)).status.unusable).toBe('unparseable')
})

test('a signing subkey is known, and which key may sign', async () => {
  const { cache: one } = newCache()
  expect((await one.check(withSigning)).info).toMatchObject({
    primarySigns: false,
    hasNoOtherKey: true,
    signingKey: { algorithm: 22, createdS: MADE_MS / 1000 },
  })
})

test('expiry is looked at on each use', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  const day = { hashed: [keyExpiresAfter((NOW_MS - MADE_MS) / 1000 + 60)] }
  const [key, , binding] = whole
  const certificate = armoredCertificate(
    key ?? Buffer.alloc(0),
    userId(primary, 'alice', day),
    binding ?? Buffer.alloc(0),
  )
  const { cache: one, asked } = newCache()
  expect((await one.check(certificate)).status.unusable).toBeNull()
  await vi.waitFor(() => expect(asked).toHaveLength(1), SOON)
  vi.setSystemTime(NOW_MS + 59_999)
  expect((await one.check(certificate)).status.unusable).toBeNull()
  const info = knownTo(one, certificate)
  expect(info).not.toBeNull()
  expect(knownTo(one, certificate)).toBe(info)
  vi.setSystemTime(NOW_MS + 60_000)
  expect(knownTo(one, certificate)).toBeNull()
  expect(await one.check(certificate)).toMatchObject({
    status: { unusable: 'expired' },
    info: null,
  })
  expect(asked).toHaveLength(2)
})

test('what is known is forgotten with all that was read natively', async () => {
  const { cache: one } = newCache()
  expect(knownTo(one, alice.certificate)).toBeNull()
  await one.check(alice.certificate)
  expect(knownTo(one, alice.certificate)).not.toBeNull()
  one[Symbol.dispose]()
  expect(knownTo(one, alice.certificate)).toBeNull()
})

test('what comes later is judged again when its time has come', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  const late = testPerson('late', NOW_MS + 3_600_000).certificate
  const { cache: one } = newCache()
  expect((await one.check(late)).status.unusable).toBe('not-yet-valid')
  vi.setSystemTime(NOW_MS + 3_600_000)
  expect((await one.check(late)).status.unusable).toBeNull()
})

test('what overran its deadline is tried again, but not at once', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  let late = true
  const { cache: one, asked } = newCache(async (armored, atMs): Promise<CheckedCertificate> => {
    const judged = await judgeFully(armored, atMs)
    const { status } = judged
    return late ? { info: null, status: { ...status, unusable: 'deadline' } } : judged
  })
  expect((await one.check(withSigning)).status.unusable).toBe('deadline')
  late = false
  expect((await one.check(withSigning)).status.unusable).toBe('deadline')
  expect(asked).toHaveLength(1)
  vi.setSystemTime(NOW_MS + 300_000)
  expect((await one.check(withSigning)).status.unusable).toBeNull()
})

test('an earlier copy that was revoked is judged with it, whatever is known of the text alone', async () => {
  const { cache: one } = newCache()
  expect((await one.check(alice.certificate)).status.unusable).toBeNull()
  expect(await one.check(alice.certificate, revoked)).toMatchObject({
    status: { unusable: 'revoked' },
    info: null,
  })
  expect((await one.check(alice.certificate)).status.unusable).toBeNull()
})

test('where the library says otherwise its word stands, and nothing is read natively again', async () => {
  const {
    cache: one,
    asked,
    disagreed,
  } = newCache(async (armored, atMs, known) => {
    const { status } = await judgeFully(armored, atMs, known)
    return { status: { ...status, unusable: 'weak-algorithm' }, info: null }
  })
  const before = one.epoch
  expect((await one.check(alice.certificate)).status.unusable).toBeNull()
  await vi.waitFor(() => expect(disagreed).toEqual(['once']), SOON)
  expect(one.epoch).not.toBe(before)
  for (const { certificate } of [alice, mallory]) {
    expect(await one.check(certificate)).toMatchObject({
      status: { unusable: 'weak-algorithm' },
      info: null,
    })
  }
  expect(asked).toEqual([alice.certificate, alice.certificate, mallory.certificate])
  expect(disagreed).toEqual(['once'])
})

test('info that differ in anything count as said otherwise', async () => {
  const { cache: one, disagreed } = newCache(async (armored, atMs) => {
    const { status, info } = await judgeFully(armored, atMs)
    return { status, info: info && { ...info, readsAes256: !info.readsAes256 } }
  })
  await one.check(alice.certificate)
  await vi.waitFor(() => expect(disagreed).toEqual(['once']), SOON)
})

test('a library that is gone does not spoil what was read', async () => {
  const { cache: one, asked, disagreed } = newCache(() => Promise.reject(new Error('gone')))
  await one.check(alice.certificate)
  await vi.waitFor(() => expect(asked).toHaveLength(1), SOON)
  expect((await one.check(alice.certificate)).status.unusable).toBeNull()
  await expect(one.check(withSigning)).rejects.toThrow('gone')
  expect(disagreed).toEqual([])
})
