import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { CertificateCache } from '../../../src/openpgp/native/certificate-cache.ts'
import { WorkPriority, CertificateReader } from '../../../src/openpgp/native/threads.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  signingSubkey,
  userId,
} from '../../support/openpgp-certificate.ts'
import type { NativeJobs } from '../../../src/openpgp/native/worker.ts'
import { Pool } from '../../../src/openpgp/pool.ts'
import '../../support/openpgp-engine.ts'
import { ed25519 } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, revokedCertificate } from '../../support/openpgp-people.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

const { primary, subkey } = alice
const whole = [keyPacket(primary), userId(primary, 'alice'), boundSubkey(primary, subkey)]
const withSigning = armoredCertificate(...whole, signingSubkey(primary, ed25519('s', MADE_MS)))
const revoked = revokedCertificate(alice, { atMs: MADE_MS + 1000 })

const threads = new Pool<NativeJobs>('native/worker', 1)
afterAll(() => threads[Symbol.asyncDispose]())
afterEach(() => vi.useRealTimers())

/** The library judges half a second later. */
const SOON = { timeout: 30_000 }

/** The `CertificateInfo` that a cache has at once, or null. */
function knownTo(one: CertificateCache, certificate: string): CertificateInfo | null {
  const found = one.infoOf(certificate)
  return found instanceof Promise ? null : found
}

/** A cache over the library, with the certificates that the library judged. */
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

test('a certificate of the common shape is used at once and judged by openpgp.js once', async () => {
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

test('any other certificate is judged by openpgp.js first, and once', async () => {
  const { cache: one, asked } = newCache()
  for (const certificate of [withSigning, revoked, 'hello', withSigning, revoked, 'hello']) {
    await one.check(certificate)
  }
  expect(asked).toEqual([withSigning, revoked, 'hello'])
})

test('a cached certificate expires in the second of its expiry and is then judged again', async () => {
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

test('a cached certificate is revoked when checked with a revoked earlier copy, and usable without', async () => {
  const { cache: one } = newCache()
  expect((await one.check(alice.certificate)).status.unusable).toBeNull()
  expect(await one.check(alice.certificate, revoked)).toMatchObject({
    status: { unusable: 'revoked' },
    info: null,
  })
  expect((await one.check(alice.certificate)).status.unusable).toBeNull()
})
