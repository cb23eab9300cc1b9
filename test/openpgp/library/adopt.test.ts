import { createCipheriv, hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readKey, readKeys, readPrivateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { adopt, works } from '../../../src/openpgp/library/adopt.ts'
import type { Adopted, AdoptSecrets } from '../../../src/openpgp/engine.ts'
import type { UnfitReason } from '../../../src/openpgp/failure-reasons.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { lock, unlock } from '../../../src/openpgp/library/secret-key.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyPacket,
  userId,
  type SelfSignature,
} from '../../support/openpgp-certificate.ts'
import { openArmored, sealHere } from '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { curve25519, ed25519, rsa } from '../../support/openpgp-key.ts'
import type { EncryptionKey, SigningKey } from '../../support/openpgp-key.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  bot,
  mallory,
  personOf,
  rsaKey,
} from '../../support/openpgp-people.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const OUT = 'the passphrase of the exported key'
const TO = 'the passphrase of the adopted key'
const HOUR_S = 3600
const { primary, subkey } = alice

/** A short hash locks the adopted key, since its passphrase counts as random. */
const take = async (file: Uint8Array, more: Partial<AdoptSecrets> = {}): Promise<Adopted> =>
  await adopt(file, { from: null, to: TO, isRandom: true, ...more }, NOW_MS)
const reasonOf = (taken: Adopted): UnfitReason | null =>
  taken.outcome === 'unfit' ? taken.reason : null

/** The same key, armored and locked. */
async function locked(binaryKey: Uint8Array): Promise<Buffer> {
  const privateKey = await readPrivateKey({ binaryKey })
  return Buffer.from(await lock(privateKey, { to: OUT, isRandom: true }))
}

const binaryLocked = async (binaryKey: Uint8Array): Promise<Uint8Array> =>
  dearmor((await locked(binaryKey)).toString(), 'PRIVATE KEY BLOCK') ?? concat()

const lasting = (seconds: number) => ({ hashed: [keyExpiresAfter(seconds)] })
const secretOf = (...parts: Buffer[]): Buffer => concat(packet(5, primary.secretBody), ...parts)
const named = (options: SelfSignature = {}, name = 'alice'): Buffer =>
  userId(primary, name, options)
const secretSubkey = (key: EncryptionKey | SigningKey, bound: Buffer): Buffer =>
  concat(packet(7, key.secretBody), bound.subarray(subkeyPacket(key).length))
const bound = (key: EncryptionKey | SigningKey = subkey, options: SelfSignature = {}): Buffer =>
  secretSubkey(key, boundSubkey(primary, key, options))
const signing = ed25519('signs', MADE_MS)

test.each<[string, () => Buffer | Promise<Buffer>, number?]>([
  ['of Curve25519', () => alice.secret],
  ['of RSA 2048', () => personOf('rsa', rsaKey(2048), subkey).secret],
  [
    'with a signing subkey',
    () => secretOf(named(), bound(), secretSubkey(signing, signingSubkey(primary, signing))),
  ],
  ['with two user ids', () => secretOf(named(), named({}, 'b@example.org'), bound())],
  [
    'that expires in a year',
    () => secretOf(named(lasting(9000 * HOUR_S)), bound()),
    MADE_MS + 9000 * HOUR_S * 1000,
  ],
])(
  'a locked key %s is adopted under the new passphrase',
  async (_, secret, expiresMs = Infinity) => {
    const binaryKey = await secret()
    const key = await readPrivateKey({ binaryKey })
    const taken = await take(await locked(binaryKey), { from: OUT })
    if (taken.outcome !== 'adopted') throw new Error(taken.reason)
    expect([taken.key.fingerprint, taken.expiresMs]).toEqual([key.getFingerprint(), expiresMs])
    const [certificate] = await readKeys({ armoredKeys: taken.key.certificate })
    expect(certificate?.isPrivate()).toBe(false)
    expect((await unlock(taken.key.locked, TO)).fingerprint).toBe(key.getFingerprint())
    await expect(unlock(taken.key.locked, OUT)).rejects.toThrow('wrong-passphrase')
  },
)

test('a key file may be armored or binary, locked or not', async () => {
  const text = Buffer.from(armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }))
  for (const file of [text, alice.secret]) {
    for (const from of [null, 'a needless one']) {
      expect(await take(file, { from })).toMatchObject({ outcome: 'adopted' })
    }
  }
  const binary = await binaryLocked(alice.secret)
  expect(await take(binary, { from: OUT })).toMatchObject({ outcome: 'adopted' })
})

test('a key behind a marker is adopted with the newer statements of the certificate behind it', async () => {
  const marker = packet(10, Buffer.from('PGP'))
  const secret = secretOf(named(lasting(HOUR_S)), bound())
  const renewed = named({ atMs: MADE_MS + 1000, ...lasting(9000 * HOUR_S) })
  const certificate = (...states: Buffer[]): Buffer => concat(keyPacket(primary), ...states)
  const behind = certificate(renewed, boundSubkey(primary, subkey))
  const revoked = certificate(keyRevocation(primary, { atMs: NOW_MS - 1000 }), named())
  const expiresMs = MADE_MS + 9000 * HOUR_S * 1000
  for (const file of [concat(marker, secret, behind), concat(await binaryLocked(secret), behind)]) {
    expect(await take(file, { from: OUT })).toMatchObject({ outcome: 'adopted', expiresMs })
  }
  expect(reasonOf(await take(concat(secret, revoked)))).toBe('revoked')
  expect(reasonOf(await take(concat(secret, packet(6, mallory.primary.body))))).toBe('several-keys')
})

test('a key is adopted again with another subkey', async () => {
  for (const other of [subkey, curve25519('another', MADE_MS)]) {
    expect(await take(secretOf(named(), bound(other)))).toMatchObject({ outcome: 'adopted' })
  }
})

const [newer, late] = [curve25519('newer', MADE_MS + 1000), curve25519('late', NOW_MS + 60_000)]
const spoilt = (file: Buffer): Buffer =>
  file.fill(0, primary.secretBody.length - 4, primary.secretBody.length)
const big = rsa(readFileSync(new URL('rsa-4104.pem', import.meta.url), 'utf8'), MADE_MS)
const numbersOf = ({ body, secretBody }: SigningKey | EncryptionKey): Buffer =>
  secretBody.subarray(body.length)

const KEYS: [string, Buffer, UnfitReason | number, (UnfitReason | number)?][] = [
  ['never expires', secretOf(named(), bound()), Infinity],
  ['has expired', secretOf(named(lasting(HOUR_S)), bound()), 'expired', MADE_MS + HOUR_S * 1000],
  [
    'expired before its subkey',
    secretOf(named(lasting(HOUR_S)), bound(subkey, lasting(2 * HOUR_S))),
    'expired',
    MADE_MS + HOUR_S * 1000,
  ],
  [
    'expired after its subkey',
    secretOf(named(lasting(2 * HOUR_S)), bound(subkey, lasting(HOUR_S))),
    'expired',
    MADE_MS + HOUR_S * 1000,
  ],
  [
    'has two expired subkeys, the older of which expired last',
    secretOf(named(), bound(newer, lasting(HOUR_S)), bound(subkey, lasting(2 * HOUR_S))),
    'expired',
    MADE_MS + 2 * HOUR_S * 1000,
  ],
  [
    'begins in an hour and expires later',
    secretOf(named(), bound(late, { atMs: NOW_MS + HOUR_S * 1000, ...lasting(2 * HOUR_S) })),
    'not-yet-valid',
  ],
  ['may only certify', secretOf(named({ flags: 1 }), bound()), 'no-signing-key'],
  ['has a spoilt number', spoilt(secretOf(named(), bound())), 'unparseable'],
  ['has no subkey', secretOf(named()), 'no-encryption-subkey'],
  [
    'has a subkey that only signs',
    secretOf(named(), secretSubkey(signing, signingSubkey(primary, signing))),
    'no-encryption-subkey',
  ],
  [
    'is revoked',
    secretOf(keyRevocation(primary, { atMs: NOW_MS - 1000 }), named(), bound()),
    'revoked',
  ],
  ['is of RSA 1024', personOf('weak', rsaKey(1024), subkey).secret, 'weak-algorithm'],
  ['is of RSA 4104', personOf('big', big, subkey).secret, 'no-signing-key'],
  ['has a subkey of RSA 4104', secretOf(named(), bound(big)), 'too-large-to-seal'],
  ['is a certificate', concat(keyPacket(primary), named()), 'public-only'],
  [
    'has the secret of another primary key',
    concat(packet(5, concat(primary.body, numbersOf(mallory.primary))), named(), bound()),
    'inconsistent',
  ],
  [
    'has the secret of another subkey',
    secretOf(named(), bound({ ...subkey, secretBody: concat(subkey.body, numbersOf(newer)) })),
    'inconsistent',
  ],
]

for (const [name, file, result, resultOfExpired = result] of KEYS) {
  test(`the import of a key that ${name} results in ${result}`, async () => {
    for (const [mayHaveExpired, expected] of [
      [false, result],
      [true, resultOfExpired],
    ] as const) {
      const taken = await take(file, { mayHaveExpired })
      expect(taken.outcome === 'adopted' ? taken.expiresMs : taken.reason).toBe(expected)
    }
  })
}

test('an adopted key is certified by the key of `certifiedBy`', async () => {
  const taken = await take(alice.secret, { certifiedBy: bot.unlocked })
  if (taken.outcome !== 'adopted') throw new Error(taken.reason)
  const [certificate] = await readKeys({ armoredKeys: taken.key.certificate })
  const certifier = await readKey({ armoredKey: bot.certificate })
  const found = await certificate?.users[0]?.verifyAllCertifications([certifier])
  expect(found?.filter(({ valid }) => valid)).toMatchObject([{ keyID: certifier.getKeyID() }])
})

test.each<[string, UnfitReason | null, string | null]>([
  ['no passphrase', 'passphrase-missing', null],
  ['an empty passphrase', 'passphrase-wrong', ''],
  ['another passphrase', 'passphrase-wrong', 'another'],
  ['its own passphrase', null, OUT],
])('the import of a locked key with %s has the failure reason %s', async (_, reason, from) => {
  expect(reasonOf(await take(await locked(alice.secret), { from }))).toBe(reason)
})

test('a locked key without numbers under its lock is `inconsistent`', async () => {
  const [salt, iv, junk] = [seeded('salt', 8), seeded('iv', 16), concat('ffff', seeded('junk', 4))]
  // iterated over 1024 bytes (RFC 9580, 3.7.1.3)
  const once = concat(salt, Buffer.from(OUT))
  const stretched = hash('sha256', Buffer.alloc(1024, once), 'buffer')
  const cipher = createCipheriv('aes-128-cfb', stretched.subarray(0, 16), iv)
  const sealed = cipher.update(concat(junk, hash('sha1', junk, 'buffer')))
  const file = packet(5, concat(primary.body, 254, 7, 3, 8, salt, 0, iv, sealed))
  expect(reasonOf(await take(file, { from: OUT }))).toBe('inconsistent')
  expect(reasonOf(await take(file, { from: 'another' }))).toBe('passphrase-wrong')
})

test('`works` is true for a key with its own certificate alone', async () => {
  expect(await works(alice.unlocked, alice.certificate, NOW_MS)).toBe(true)
  expect(await works(alice.unlocked, bot.certificate, NOW_MS)).toBe(false)
  expect(await works({ ...alice.unlocked, keyIds: [] }, alice.certificate, NOW_MS)).toBe(false)
})

test('an adopted key that has expired opens messages of the time before', async () => {
  const ends = lasting(HOUR_S)
  const certificate = armoredCertificate(
    keyPacket(primary),
    named(ends),
    boundSubkey(primary, subkey),
  )
  const request = { text: 'old words', certificates: [certificate], signer: bot.unlocked }
  const message = await sealHere({ ...request, cipher: 'aes256' }, MADE_MS + 1000)
  const taken = await take(secretOf(named(ends), bound()), { mayHaveExpired: true })
  if (taken.outcome !== 'adopted') throw new Error(taken.reason)
  const opened = await openArmored(message, [await unlock(taken.key.locked, TO)])
  expect(opened).toMatchObject({ outcome: 'opened', text: 'old words' })
})

test.each([
  ['without an expiry', secretOf(named(), bound())],
  ['with a distant expiry', secretOf(named(lasting(9000 * HOUR_S)), bound())],
  [
    'with an expired encryption subkey beside a signing subkey',
    secretOf(
      named(),
      bound(subkey, lasting(HOUR_S)),
      secretSubkey(signing, signingSubkey(primary, signing)),
    ),
  ],
])('`mayHaveExpired` adopts a key %s', async (_, file) => {
  expect(reasonOf(await take(file, { mayHaveExpired: true }))).toBeNull()
})
test('a key with any changed byte is adopted or rejected with a reason, and nothing is thrown', async () => {
  for (let at = 0; at < alice.secret.length; at += 11) {
    const changed = flipByte(alice.secret, at, 0x10)
    expect(reasonOf(await take(changed)) ?? 'adopted').toMatch(/^[a-z0-9-]+$/)
  }
})
