import { describe, expect, test, afterEach, vi } from 'vitest'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import { generate, unlock } from '../../../src/openpgp/library/secret-key.ts'
import {
  describeCommonKey,
  isRecipientSecret,
  readOwnSecrets,
} from '../../../src/openpgp/native/own-secrets.ts'
import type { UnlockedKey } from '../../../src/openpgp/engine.ts'
import {
  MADE_MS,
  NOW_MS,
  bot,
  personOf,
  alice,
  mallory,
  rsaKey,
} from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { flipByte } from '../../support/openpgp-flips.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import type { CertificateInfo, OwnKeyInfo } from '../../../src/openpgp/certificate-info.ts'

const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))

async function generated(certifiedBy?: UnlockedKey): Promise<UnlockedKey> {
  const request = { userId: 'bot', createdMs: MADE_MS, passphrase: 'x', isRandom: true }
  const { locked } = await generate({ ...request, ...(certifiedBy && { certifiedBy }) })
  return await unlock(locked, 'x')
}

/** The same value with plain arrays in place of views. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return [...(value as Uint8Array)]
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
}

describe('`describeCommonKey`', () => {
  test.each([
    ['as `generate` makes it', () => generated()],
    ['of Ed25519Legacy and Curve25519Legacy', () => Promise.resolve(bot.unlocked)],
    ['of Ed25519 and X25519', () => Promise.resolve(modern.unlocked)],
  ])('an own key %s is described natively as openpgp.js describes it', async (_name, keyOf) => {
    const key = await keyOf()
    const described = describeCommonKey(key, NOW_MS)
    expect(described).not.toBeNull()
    expect(plain(described)).toEqual(plain(await describeOwnKey(key, NOW_MS)))
  })

  test('the native description of an own key does not share memory with its secrets', async () => {
    const key = await generated()
    const { recipientKey, signingKey } = describeCommonKey(key, NOW_MS)?.info ?? {}
    for (const one of [recipientKey, signingKey]) {
      expect(one?.point.buffer).not.toBe(key.bytes.buffer)
      expect(one?.point.buffer.byteLength).toBeLessThan(100)
    }
  })

  test('an own key is left to openpgp.js before its creation time', async () => {
    expect(describeCommonKey(await generated(), MADE_MS - 1000)).toBeNull()
  })

  test('an own key with a certification by another key is left to openpgp.js', async () => {
    expect(describeCommonKey(await generated(bot.unlocked), NOW_MS)).toBeNull()
  })

  test('an own key with a changed signature is left to openpgp.js', async () => {
    const key = await generated()
    const bytes = flipByte(key.bytes, -1)
    expect(describeCommonKey({ ...key, bytes }, NOW_MS)).toBeNull()
  })
})

const { primary, subkey } = alice
/** A secret key packet's body behind its public part: how it is kept, the number and its sum. */
const secretOf = ({ body, secretBody }: { body: Buffer; secretBody: Buffer }): Buffer =>
  secretBody.subarray(body.length)
const idsIn = (bytes: Uint8Array): string[] => [...readOwnSecrets(bytes).keys()]

test.each([
  ['older', alice, [22, 18]],
  ['newer', modern, [27, 25]],
] as const)(
  '`readOwnSecrets` returns the secrets of a key of the %s algorithms by key id',
  (_, person, algorithms) => {
    const found = [...readOwnSecrets(person.secret)]
    expect(found.map(([keyId]) => keyId)).toEqual([person.primary.keyId, person.subkey.keyId])
    expect(found.map(([, { key }]) => key.algorithm)).toEqual(algorithms)
    expect(found.map(([, { fingerprint }]) => fingerprint.toString('hex'))).toEqual([
      person.primary.fingerprint,
      person.subkey.fingerprint,
    ])
    expect(found.map(([, own]) => isRecipientSecret(own))).toEqual([false, true])
    expect(found.map(([, { secret }]) => secret.type)).toEqual(['private', 'private'])
  },
)

test('`readOwnSecrets` ignores packets that are not secret keys', () => {
  expect(idsIn(concat(packet(6, primary.body), packet(14, subkey.body)))).toEqual([])
  expect(idsIn(concat(packet(13, primary.secretBody), packet(2, subkey.secretBody)))).toEqual([])
  expect(idsIn(Buffer.alloc(0))).toEqual([])
})

const spoilt = flipByte(secretOf(primary), 5)

test.each([
  ['that is locked', concat(primary.body, 254, secretOf(primary).subarray(1))],
  ['with a changed secret', concat(primary.body, spoilt)],
  ['with a wrong checksum', concat(primary.secretBody.subarray(0, -1), 0x55)],
  ['with the secret of another key', concat(primary.body, secretOf(mallory.primary))],
  ['of RSA', rsaKey(1024).secretBody],
  ['without a secret part', primary.body],
  ['with an empty secret part', concat(primary.body, 0)],
  ['with one byte of a secret', concat(primary.body, 0, 7)],
  ['with a checksum alone', concat(primary.body, 0, 0, 0)],
  ['with a secret that is too short', concat(primary.body, 0, u16(8), 255, u16(8 + 255))],
  ['that is not a key', Buffer.from('hello')],
])('`readOwnSecrets` omits a primary key %s and reads the subkey', (_, body) => {
  const bytes = concat(packet(5, body), packet(7, subkey.secretBody))
  expect(idsIn(bytes)).toEqual([subkey.keyId])
})

const info = readCommonCertificate(alice.certificate, NOW_MS)
if (info === null) throw new Error('not common')
const known: CertificateInfo = info
const said: OwnKeyInfo = { opens: [primary.keyId, subkey.keyId], info: known }
const key = (): UnlockedKey => ({ ...alice.unlocked })

afterEach(() => vi.useRealTimers())

/** Keys with this description, and the number of descriptions. */
function keysSaying(what: Partial<OwnKeyInfo> | (() => Promise<OwnKeyInfo>)) {
  let asked = 0
  const keys = new NativeOwnKeys(async () => {
    asked++
    return typeof what === 'function' ? await what() : { ...said, ...what }
  })
  return { keys, asked: () => asked }
}

test('an own key opens with its described subkeys and seals with its signing key', async () => {
  const { keys } = keysSaying({ opens: [subkey.keyId, 'ffffffffffffffff'] })
  const own = await keys.of(key())
  expect([...(own?.opens.keys() ?? [])]).toEqual([subkey.keyId])
  expect(own?.seals?.info).toBe(known)
  expect(own?.seals?.signer.key).toBe(known.signingKey)
  expect(own?.seals?.signer.fingerprint.toString('hex')).toBe(primary.fingerprint)
  expect(own?.seals?.signer).toMatchObject({ secret: { asymmetricKeyType: 'ed25519' } })
})

const { signingKey } = known
if (signingKey === null) throw new Error('signs nothing')

test.each<[string, CertificateInfo | null]>([
  ['no info', null],
  ['no signing key', { ...known, signingKey: null }],
  ['another algorithm', { ...known, signingKey: { ...signingKey, algorithm: 27 } }],
  ['another date', { ...known, signingKey: { ...signingKey, createdS: 7 } }],
  ['another point', { ...known, signingKey: { ...signingKey, point: Buffer.alloc(32, 7) } }],
])('an own key that is described with %s does not seal, and opens', async (_, one) => {
  const own = await keysSaying({ info: one }).keys.of(key())
  expect(own?.seals).toBeNull()
  expect(own?.opens.size).toBe(2)
})

test('an own key is described once, and again when its description ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  const untilS = NOW_MS / 1000 + 60
  const { keys, asked } = keysSaying({ info: { ...known, untilS } })
  const one = key()
  const own = await keys.of(one)
  expect(await keys.of(one)).toBe(own)
  expect(asked()).toBe(1)
  vi.setSystemTime(NOW_MS + 60_000)
  expect(await keys.of(one)).not.toBe(own)
  expect(asked()).toBe(2)
})

test('an own key that cannot be described or read is null, and stays null', async () => {
  const failing = keysSaying(() => Promise.reject(new Error('unreadable')))
  const one = key()
  expect(await failing.keys.of(one)).toBeNull()
  expect(await failing.keys.of(one)).toBeNull()
  expect(failing.asked()).toBe(1)
  const broken = { ...key(), bytes: Buffer.from('hello') }
  expect(await keysSaying({}).keys.of(broken)).toBeNull()
})

test('an own key is described again after `clear`', async () => {
  const { keys, asked } = keysSaying({})
  const one = key()
  await keys.of(one)
  keys.clear()
  await keys.of(one)
  expect(asked()).toBe(2)
})

test('a description of an own key that arrives after `clear` is not cached', async () => {
  let answer = (): void => {}
  const { keys, asked } = keysSaying(() => new Promise((resolve) => (answer = () => resolve(said))))
  const one = key()
  const asking = keys.of(one)
  await Promise.resolve()
  keys.clear()
  answer()
  expect((await asking)?.opens.size).toBe(2)
  const again = keys.of(one)
  await Promise.resolve()
  answer()
  expect([(await again)?.opens.size, asked()]).toEqual([2, 2])
})

test('an own key with the description of another key neither opens nor seals', async () => {
  const own = await keysSaying({}).keys.of({ ...bot.unlocked })
  expect(own?.opens.size).toBe(0)
  expect(own?.seals).toBeNull()
})

test('`describeCommonKey` returns null for keys of another shape', () => {
  expect(describeCommonKey(alice.unlocked, MADE_MS - 1000)).toBeNull()
  const swapped = concat(packet(7, primary.secretBody), packet(5, subkey.secretBody))
  expect(describeCommonKey({ ...alice.unlocked, bytes: swapped }, NOW_MS)).toBeNull()
  const noKey = concat(packet(5, Buffer.from('hello')), packet(7, subkey.secretBody))
  expect(describeCommonKey({ ...alice.unlocked, bytes: noKey }, NOW_MS)).toBeNull()
})
