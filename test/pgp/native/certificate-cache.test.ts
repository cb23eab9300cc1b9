import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { judgeFully } from '../../../src/pgp/library/certificate.ts'
import type { CertificateFacts, Judged } from '../../../src/pgp/native/certificate-info.ts'
import { Gate } from '../../../src/pgp/native/certificate-cache.ts'
import { Precedence } from '../../../src/pgp/native/work-priority.ts'
import { Reader } from '../../../src/pgp/native/certificate-reader.ts'
import { Threads } from '../../../src/pgp/native/threads.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  userId,
} from '../../support/openpgp-certificate.ts'
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

const threads = new Threads(1)
afterAll(() => threads[Symbol.asyncDispose]())
afterEach(() => vi.useRealTimers())

/** The library is asked after a moment. */
const SOON = { timeout: 30_000 }

/** What a gate knows at once; null where it has to find out. */
function knownTo(one: Gate, certificate: string): CertificateFacts | null {
  const found = one.ask(certificate)
  return found instanceof Promise ? null : found
}

/** A gate over the library, with what the library was asked. */
function gate(says = judgeFully): { gate: Gate; asked: string[]; disagreed: string[] } {
  const asked: string[] = []
  const disagreed: string[] = []
  const made = new Gate({
    reader: new Reader(threads),
    precedence: new Precedence(),
    judge: async (armored, atMs, known) => {
      asked.push(armored)
      return await says(armored, atMs, known)
    },
    disagreed: () => disagreed.push('once'),
  })
  return { gate: made, asked, disagreed }
}

test('a certificate of the common shape is used at once, and judged by the library once', async () => {
  const { gate: one, asked, disagreed } = gate()
  for (let time = 0; time < 5; time++) {
    const { judgement, facts } = await one.look(alice.certificate)
    expect(judgement).toMatchObject({ unusable: null, fingerprint: primary.fingerprint })
    expect(facts).not.toBeNull()
  }
  await vi.waitFor(() => expect(asked).toEqual([alice.certificate]), SOON)
  await one.look(alice.certificate)
  expect(asked).toHaveLength(1)
  expect(disagreed).toEqual([])
})

test('any other is judged by the library first, and once too', async () => {
  const { gate: one, asked } = gate()
  for (const certificate of [withSigning, revoked, 'hello', withSigning, revoked, 'hello']) {
    await one.look(certificate)
  }
  expect(asked).toEqual([withSigning, revoked, 'hello'])
})

test('asked at the same time, it is judged once', async () => {
  const { gate: one, asked } = gate()
  const all = await Promise.all(Array.from({ length: 20 }, () => one.look(withSigning)))
  expect(asked).toHaveLength(1)
  expect(new Set(all.map(({ judgement }) => judgement.fingerprint)).size).toBe(1)
})

test('a text that differs in one character is another certificate', async () => {
  const { gate: one } = gate()
  await one.look(alice.certificate)
  const at = alice.certificate.indexOf('\n\n') + 40
  const letter = alice.certificate[at] === 'A' ? 'B' : 'A'
  const other = alice.certificate.slice(0, at) + letter + alice.certificate.slice(at + 1)
  expect((await one.look(other)).judgement.unusable).toBe('unparseable')
})

test('a signing subkey is known, and which key may sign', async () => {
  const { gate: one } = gate()
  expect((await one.look(withSigning)).facts).toMatchObject({
    primarySigns: false,
    hasNoOtherKey: true,
    signing: { algorithm: 22, createdS: MADE_MS / 1000 },
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
  const { gate: one, asked } = gate()
  expect((await one.look(certificate)).judgement.unusable).toBeNull()
  await vi.waitFor(() => expect(asked).toHaveLength(1), SOON)
  vi.setSystemTime(NOW_MS + 59_999)
  expect((await one.look(certificate)).judgement.unusable).toBeNull()
  const facts = knownTo(one, certificate)
  expect(facts).not.toBeNull()
  expect(knownTo(one, certificate)).toBe(facts)
  vi.setSystemTime(NOW_MS + 60_000)
  expect(knownTo(one, certificate)).toBeNull()
  expect(await one.look(certificate)).toMatchObject({
    judgement: { unusable: 'expired' },
    facts: null,
  })
  expect(asked).toHaveLength(2)
})

test('what is known is forgotten with all that was read natively', async () => {
  const { gate: one } = gate()
  expect(knownTo(one, alice.certificate)).toBeNull()
  await one.look(alice.certificate)
  expect(knownTo(one, alice.certificate)).not.toBeNull()
  one[Symbol.dispose]()
  expect(knownTo(one, alice.certificate)).toBeNull()
})

test('what comes later is judged again when its time has come', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  const late = testPerson('late', NOW_MS + 3_600_000).certificate
  const { gate: one } = gate()
  expect((await one.look(late)).judgement.unusable).toBe('not-yet-valid')
  vi.setSystemTime(NOW_MS + 3_600_000)
  expect((await one.look(late)).judgement.unusable).toBeNull()
})

test('what overran its deadline is tried again, but not at once', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  let late = true
  const { gate: one, asked } = gate(async (armored, atMs): Promise<Judged> => {
    const judged = await judgeFully(armored, atMs)
    const { judgement } = judged
    return late ? { facts: null, judgement: { ...judgement, unusable: 'deadline' } } : judged
  })
  expect((await one.look(withSigning)).judgement.unusable).toBe('deadline')
  late = false
  expect((await one.look(withSigning)).judgement.unusable).toBe('deadline')
  expect(asked).toHaveLength(1)
  vi.setSystemTime(NOW_MS + 300_000)
  expect((await one.look(withSigning)).judgement.unusable).toBeNull()
})

test('an earlier copy that was revoked is judged with it, whatever is known of the text alone', async () => {
  const { gate: one } = gate()
  expect((await one.look(alice.certificate)).judgement.unusable).toBeNull()
  expect(await one.look(alice.certificate, revoked)).toMatchObject({
    judgement: { unusable: 'revoked' },
    facts: null,
  })
  expect((await one.look(alice.certificate)).judgement.unusable).toBeNull()
})

test('where the library says otherwise its word stands, and nothing is read natively again', async () => {
  const {
    gate: one,
    asked,
    disagreed,
  } = gate(async (armored, atMs, known) => {
    const { judgement } = await judgeFully(armored, atMs, known)
    return { judgement: { ...judgement, unusable: 'weak-algorithm' }, facts: null }
  })
  const before = one.epoch
  expect((await one.look(alice.certificate)).judgement.unusable).toBeNull()
  await vi.waitFor(() => expect(disagreed).toEqual(['once']), SOON)
  expect(one.epoch).not.toBe(before)
  for (const { certificate } of [alice, mallory]) {
    expect(await one.look(certificate)).toMatchObject({
      judgement: { unusable: 'weak-algorithm' },
      facts: null,
    })
  }
  expect(asked).toEqual([alice.certificate, alice.certificate, mallory.certificate])
  expect(disagreed).toEqual(['once'])
})

test('facts that differ in anything count as said otherwise', async () => {
  const { gate: one, disagreed } = gate(async (armored, atMs) => {
    const { judgement, facts } = await judgeFully(armored, atMs)
    return { judgement, facts: facts && { ...facts, readsAes256: !facts.readsAes256 } }
  })
  await one.look(alice.certificate)
  await vi.waitFor(() => expect(disagreed).toEqual(['once']), SOON)
})

test('a library that is gone does not spoil what was read', async () => {
  const { gate: one, asked, disagreed } = gate(() => Promise.reject(new Error('gone')))
  await one.look(alice.certificate)
  await vi.waitFor(() => expect(asked).toHaveLength(1), SOON)
  expect((await one.look(alice.certificate)).judgement.unusable).toBeNull()
  await expect(one.look(withSigning)).rejects.toThrow('gone')
  expect(disagreed).toEqual([])
})
