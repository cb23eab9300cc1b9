import { createCipheriv, hash, randomBytes } from 'node:crypto'
import {
  createMessage,
  encrypt,
  encryptKey,
  enums,
  generateKey,
  PacketList,
  readKey,
  readKeys,
  readPrivateKey,
  revokeKey,
  type Config,
  type PrivateKey,
} from 'openpgp'
import { describe, expect, test } from 'vitest'
import { adopt, works } from '../../../src/openpgp/library/adopt.ts'
import type { Adopted, AdoptSecrets } from '../../../src/openpgp/engine.ts'
import type { UnfitReason } from '../../../src/openpgp/failure-reasons.ts'
import { open as openMessage } from '../../../src/openpgp/library/open.ts'
import { parseMessage } from '../../../src/openpgp/format/encrypted-message.ts'
import { framePacket } from '../../../src/openpgp/format/packet-writer.ts'
import { packetsOf, TAG } from '../../../src/openpgp/format/packets.ts'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'
import { lock, unlock } from '../../../src/openpgp/library/secret-key.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import {
  boundSubkey,
  subkeyPacket,
  userId,
  type SelfSignature,
} from '../../support/openpgp-certificate.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { curve25519 } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'

applyProfile()

const OUT = 'the passphrase that it was exported under'
const TO = 'what it is locked under afterwards'
const ECC = { type: 'ecc', curve: 'curve25519Legacy' } as const
type Made = Partial<Omit<Parameters<typeof generateKey>[0], 'format'>> & {
  config?: Partial<Config>
}

/** An export of openpgp.js, locked under `OUT` unless told otherwise. */
async function made(options: Made = {}): Promise<PrivateKey> {
  const all = { ...ECC, userIDs: [{ name: 'bot' }], passphrase: OUT, ...options }
  // What it is taken over from may be locked however weakly.
  const config = { s2kIterationCountByte: 96, ...options.config }
  return (await generateKey({ ...all, config, format: 'object' } as never)) as unknown as PrivateKey
}
const keyOf = async (options?: Made): Promise<PrivateKey> => {
  const pair = (await made(options)) as unknown as { privateKey: PrivateKey }
  return pair.privateKey
}
const bytes = (armored: string): Buffer => Buffer.from(armored)
const fileOf = async (options?: Made): Promise<Buffer> => bytes((await keyOf(options)).armor())

/** `TO` may be locked with a short hash: it counts as random. */
const take = (file: Uint8Array, from: string | null = OUT) =>
  adopt(file, { from, to: TO, isRandom: true }, Date.now())

async function refused(file: Uint8Array, from?: string | null): Promise<UnfitReason | null> {
  const adopted = await take(file, from)
  return adopted.outcome === 'unfit' ? adopted.reason : null
}

describe('a secret key that is taken over', () => {
  test.each<[string, Made]>([
    ['Curve25519', {}],
    ['RSA 2048', { type: 'rsa', rsaBits: 2048 }],
    ['NIST P-256', { curve: 'nistP256' }],
    ['a subkey that signs', { subkeys: [{ sign: true }, {}] }],
    ['two user ids', { userIDs: [{ name: 'one' }, { name: 'two', email: 'b@example.org' }] }],
    ['an expiry that is far', { keyExpirationTime: 86_400 * 400 }],
  ])('%s: is locked anew, and the certificate is its own', async (_what, options) => {
    const key = await keyOf(options)
    const adopted = await take(bytes(key.armor()))
    if (adopted.outcome === 'unfit') throw new Error(adopted.reason)
    expect(adopted.key.fingerprint).toBe(key.getFingerprint())
    const [certificate] = await readKeys({ armoredKeys: adopted.key.certificate })
    expect(certificate?.isPrivate()).toBe(false)
    expect((await unlock(adopted.key.locked, TO)).fingerprint).toBe(key.getFingerprint())
    await expect(unlock(adopted.key.locked, OUT)).rejects.toThrow('wrong-passphrase')
    expect(Number.isFinite(adopted.expiresMs)).toBe(options.keyExpirationTime !== undefined)
  })

  test('may be binary, without a passphrase, or both', async () => {
    const key = await keyOf({ passphrase: '' })
    for (const file of [bytes(key.armor()), Buffer.from(key.write())]) {
      for (const from of [null, 'one that is not needed']) {
        expect(await take(file, from)).toMatchObject({ outcome: 'adopted' })
      }
    }
    expect(await take(Buffer.from((await keyOf()).write()))).toMatchObject({ outcome: 'adopted' })
  })
})

describe('a key of the common shape', () => {
  const { primary, subkey } = alice
  const lasting = (seconds: number) => ({ hashed: [keyExpiresAfter(seconds)] })
  const secretOf = (id: Buffer, ...subkeys: Buffer[]): Buffer =>
    concat(packet(5, primary.secretBody), id, ...subkeys)
  const named = (options: SelfSignature = {}): Buffer => userId(primary, 'alice', options)
  const bound = (key = subkey, options: SelfSignature = {}): Buffer =>
    concat(
      packet(7, key.secretBody),
      boundSubkey(primary, key, options).subarray(subkeyPacket(key).length),
    )
  const takeAt = async (file: Uint8Array, more: Partial<AdoptSecrets> = {}): Promise<Adopted> =>
    await adopt(file, { from: null, to: TO, isRandom: true, ...more }, NOW_MS)
  const [newer, late] = [curve25519('newer', MADE_MS + 1000), curve25519('late', NOW_MS + 60_000)]
  const spoilt = (file: Buffer): Buffer =>
    file.fill(0, primary.secretBody.length - 4, primary.secretBody.length)

  test.each<[string, Buffer, UnfitReason | number, UnfitReason | number]>([
    ['never ends', secretOf(named(), bound()), Infinity, Infinity],
    ['has ended', secretOf(named(lasting(3600)), bound()), 'expired', MADE_MS + 3_600_000],
    [
      'ended before its subkey',
      secretOf(named(lasting(3600)), bound(subkey, lasting(7200))),
      'expired',
      MADE_MS + 3_600_000,
    ],
    [
      'ended after its subkey',
      secretOf(named(lasting(7200)), bound(subkey, lasting(3600))),
      'expired',
      MADE_MS + 3_600_000,
    ],
    [
      'has two subkeys, of which the older one ended last',
      secretOf(named(), bound(newer, lasting(3600)), bound(subkey, lasting(7200))),
      'expired',
      MADE_MS + 7_200_000,
    ],
    [
      'begins in an hour, and has an end',
      secretOf(named(), bound(late, { atMs: NOW_MS + 3_600_000, ...lasting(7200) })),
      'not-yet-valid',
      'not-yet-valid',
    ],
    [
      'may only certify',
      secretOf(named({ flags: 1 }), bound()),
      'no-signing-key',
      'no-signing-key',
    ],
    ['has a spoilt number', spoilt(secretOf(named(), bound())), 'unparseable', 'unparseable'],
  ])('that %s is taken, or is not', async (_, file, result, resultOfExpired) => {
    for (const [mayHaveExpired, expected] of [
      [false, result],
      [true, resultOfExpired],
    ] as const) {
      const taken = await takeAt(file, { mayHaveExpired })
      expect(taken.outcome === 'adopted' ? taken.expiresMs : taken.reason).toBe(expected)
    }
  })

  test('is locked anew and certified by the key before it', async () => {
    const taken = await takeAt(secretOf(named(), bound()), { certifiedBy: bot.unlocked })
    if (taken.outcome !== 'adopted') throw new Error(taken.reason)
    const [certificate] = await readKeys({ armoredKeys: taken.key.certificate })
    const certifier = await readKey({ armoredKey: bot.certificate })
    const found = await certificate?.users[0]?.verifyAllCertifications([certifier])
    expect(found?.filter(({ valid }) => valid)).toMatchObject([{ keyID: certifier.getKeyID() }])
    expect((await unlock(taken.key.locked, TO)).fingerprint).toBe(primary.fingerprint)
  })

  test.each<[string, string | null, UnfitReason | null]>([
    ['no passphrase', null, 'passphrase-missing'],
    ['an empty one', '', 'passphrase-wrong'],
    ['another one', 'another', 'passphrase-wrong'],
    ['its own', OUT, null],
  ])('that is locked, with %s', async (_, from, reason) => {
    const privateKey = await readPrivateKey({ binaryKey: alice.secret })
    const file = bytes(await lock(privateKey, { to: OUT, isRandom: true }))
    const taken = await takeAt(file, { from })
    expect(taken.outcome === 'unfit' ? taken.reason : null).toBe(reason)
  })

  test('whose lock opens, and holds no numbers, is inconsistent', async () => {
    const [salt, iv, junk] = [
      seeded('salt', 8),
      seeded('iv', 16),
      concat('ffff', seeded('junk', 4)),
    ]
    // iterated over 1024 bytes (RFC 9580, 3.7.1.3)
    const stretched = hash('sha256', Buffer.alloc(1024, concat(salt, bytes(OUT))), 'buffer')
    const cipher = createCipheriv('aes-128-cfb', stretched.subarray(0, 16), iv)
    const sealed = cipher.update(concat(junk, hash('sha1', junk, 'buffer')))
    const file = packet(5, concat(primary.body, 254, 7, 3, 8, salt, 0, iv, sealed))
    expect(await takeAt(file, { from: OUT })).toEqual({ outcome: 'unfit', reason: 'inconsistent' })
    expect(await takeAt(file, { from: 'another' })).toMatchObject({ reason: 'passphrase-wrong' })
  })

  test('works with its own certificate alone', async () => {
    expect(await works(alice.unlocked, alice.certificate, NOW_MS)).toBe(true)
    expect(await works(alice.unlocked, bot.certificate, NOW_MS)).toBe(false)
    expect(await works({ ...alice.unlocked, keyIds: [] }, alice.certificate, NOW_MS)).toBe(false)
  })
})

const now = () => new Date(Date.now() - 3_600_000)

/** Keys that are whole, and of no use to the service or to other programs. */
const USELESS: [UnfitReason, string, () => Promise<Uint8Array>][] = [
  ['version', 'version 6', () => fileOf({ type: 'curve25519', config: { v6Keys: true } })],
  ['version', 'version 5', async () => altered(await keyOf(), (body) => void (body[0] = 5))],
  ['version', 'version 3', async () => altered(await keyOf(), (body) => void (body[0] = 3))],
  ['newer-algorithm', 'the newer curve 25519', () => fileOf({ type: 'curve25519' })],
  [
    'weak-algorithm',
    'RSA 1024',
    () => fileOf({ type: 'rsa', rsaBits: 1024, config: { minRSABits: 1023 } }),
  ],
  ['weak-algorithm', 'RSA 4104', () => fileOf({ type: 'rsa', rsaBits: 4104 })],
  [
    'weak-algorithm',
    'an unknown algorithm',
    async () => altered(await keyOf(), (body) => void (body[5] = 99)),
  ],
  ['no-encryption-subkey', 'no subkey', () => fileOf({ subkeys: [] })],
  ['no-encryption-subkey', 'a subkey that only signs', () => fileOf({ subkeys: [{ sign: true }] })],
  ['expired', 'an expiry that is past', () => fileOf({ date: now(), keyExpirationTime: 60 })],
  [
    'not-yet-valid',
    'a date in the future',
    () => fileOf({ date: new Date(Date.now() + 86_400_000) }),
  ],
  [
    'revoked',
    'a revocation',
    async () => {
      const { privateKey } = await revokeKey({
        key: await keyOf({ passphrase: '' }),
        format: 'object',
      })
      return bytes(privateKey.armor())
    },
  ],
  [
    'too-large',
    'too many user ids',
    () => fileOf({ userIDs: Array.from({ length: 65 }, (_, n) => ({ name: `bot ${n}` })) }),
  ],
]

test.each(USELESS)(
  '%s: a key with %s is refused',
  async (reason, _what, file) => {
    expect(await refused(await file())).toBe(reason)
  },
  120_000,
)

describe('a secret key that is taken in although it has expired', () => {
  const secrets = { from: OUT, to: TO, isRandom: true, mayHaveExpired: true }
  const takeExpired = (file: Uint8Array) => adopt(file, secrets, Date.now())
  const pastSubkey = { subkeys: [{ keyExpirationTime: 60 }, { sign: true }], date: now() }
  const past = { date: now(), keyExpirationTime: 60 }

  test('opens what was sealed to it before', async () => {
    const key = await keyOf(past)
    const date = new Date(past.date.getTime() + 30_000)
    const message = await createMessage({ text: 'old words', date })
    const encryptionKeys = key.toPublic()
    const armored = await encrypt({ message, encryptionKeys, date, format: 'armored' })
    const adopted = await takeExpired(bytes(key.armor()))
    if (adopted.outcome !== 'adopted') throw new Error(adopted.reason)
    expect(adopted.expiresMs).toBeLessThan(Date.now())
    const unlocked = await unlock(adopted.key.locked, TO)
    const { keyIds, fingerprints } = unlocked
    const ids = { keyIds: new Set(keyIds), fingerprints: new Set(fingerprints), keyCount: 1 }
    const encrypted = parseMessage(armored, ids)
    if (encrypted.outcome !== 'encrypted') throw new Error(encrypted.outcome)
    expect(await openMessage(encrypted, [unlocked])).toMatchObject({
      outcome: 'opened',
      text: 'old words',
    })
  })

  test.each<[string, Made]>([
    ['its primary and not its subkey', { subkeys: [{ keyExpirationTime: 7200 }], ...past }],
    ['the subkey that encrypts, and not one that signs,', { ...pastSubkey }],
    ['nothing of it', {}],
    ['its end is far', { keyExpirationTime: 86_400 }],
  ])('is taken where %s has expired', async (_what, options) => {
    expect((await takeExpired(await fileOf(options))).outcome).toBe('adopted')
  })

  test.each(USELESS.filter(([reason]) => reason !== 'expired'))(
    'is refused as any other, %s: %s',
    async (reason, _what, file) => {
      expect(await takeExpired(await file())).toEqual({ outcome: 'unfit', reason })
    },
    120_000,
  )
})

/** A key whose primary's packet was changed. */
function altered(key: PrivateKey, change: (body: Buffer) => void): Buffer {
  return Buffer.concat(
    [...packetsOf(Buffer.from(key.write()))].map(({ tag, body }) => {
      const copy = Buffer.from(body)
      if (tag === TAG.secretKey) change(copy)
      return framePacket(tag, copy)
    }),
  )
}

/** A key where the secret part of some packets is elsewhere, as gpg writes it (GNU S2K 101). */
async function stubbed(mode: 1 | 2, which: (tag: number) => boolean): Promise<Buffer> {
  const key = await keyOf({ passphrase: '' })
  const open = [...packetsOf(Buffer.from(key.write()))]
  const publics = [...packetsOf(Buffer.from(key.toPublic().write()))]
  return Buffer.concat(
    open.map(({ tag, body }, index) => {
      const isKey = tag === TAG.secretKey || tag === TAG.secretSubkey
      if (!isKey || !which(tag)) return framePacket(tag, body)
      const stub = Buffer.from([254, 9, 101, 8, ...Buffer.from('GNU'), mode])
      return framePacket(tag, Buffer.concat([publics[index]?.body ?? body, stub]))
    }),
  )
}

async function lockedBy(config: Partial<Config>): Promise<Buffer> {
  const privateKey = await keyOf({ passphrase: '' })
  return bytes((await encryptKey({ privateKey, passphrase: OUT, config })).armor())
}

const PARTS: [UnfitReason, string, () => Promise<Uint8Array>][] = [
  ['public-only', 'its certificate', async () => bytes((await keyOf()).toPublic().armor())],
  ['public-only', 'its certificate, binary', async () => (await keyOf()).toPublic().write()],
  [
    'several-keys',
    'two keys in two blocks',
    async () => Buffer.concat([await fileOf(), await fileOf()]),
  ],
  [
    'several-keys',
    'two keys in one',
    async () => Buffer.concat([(await keyOf()).write(), (await keyOf()).write()]),
  ],
  [
    'several-keys',
    'a certificate after it',
    async () => Buffer.concat([(await keyOf()).write(), (await keyOf()).toPublic().write()]),
  ],
  ['subkeys-only', 'a primary that is not there', () => stubbed(1, (tag) => tag === TAG.secretKey)],
  ['stub', 'a subkey that is not there', () => stubbed(1, (tag) => tag === TAG.secretSubkey)],
  ['stub', 'nothing secret at all', () => stubbed(1, () => true)],
  ['smartcard', 'everything on a card', () => stubbed(2, () => true)],
  ['smartcard', 'a subkey on a card', () => stubbed(2, (tag) => tag === TAG.secretSubkey)],
  [
    'unusual-s2k',
    'a lock by Argon2',
    () => lockedBy({ s2kType: enums.s2k.argon2, aeadProtect: true }),
  ],
  ['unusual-s2k', 'a lock with AEAD', () => lockedBy({ aeadProtect: true })],
  [
    'unusual-s2k',
    'an old cipher without a hash',
    async () => altered(await keyOf(), (body) => void (body[publicBytes()] = 9)),
  ],
  ['too-large', 'more than 128 KiB', () => Promise.resolve(Buffer.alloc(131_073, 0x80))],
  ['unparseable', 'nothing', () => Promise.resolve(Buffer.alloc(0))],
  ['unparseable', 'words', () => Promise.resolve(bytes('-----BEGIN PGP PRIVATE KEY BLOCK-----'))],
  ['unparseable', 'text around it', async () => Buffer.concat([bytes('words\n'), await fileOf()])],
  [
    'unparseable',
    'a message',
    () =>
      Promise.resolve(bytes('-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n')),
  ],
  ['unparseable', 'half of it', async () => (await keyOf()).write().subarray(0, 90)],
  [
    'unparseable',
    'noise',
    () => Promise.resolve(Buffer.concat([Buffer.from([0xc5, 0x50]), randomBytes(79)])),
  ],
]

test.each(PARTS)('%s: a file with %s is refused', async (reason, _what, file) => {
  expect(await refused(await file())).toBe(reason)
})

/** Of an Ed25519 key of version 4: header, curve, point. */
const publicBytes = (): number => 6 + 10 + 2 + 33

test('inconsistent: a secret part of another key is refused, locked or not', async () => {
  const [ours, theirs] = [await keyOf({ passphrase: '' }), await keyOf({ passphrase: '' })]
  const [secret] = [...packetsOf(Buffer.from(theirs.write()))]
  const swapped = altered(ours, (body) => {
    secret?.body.subarray(publicBytes()).forEach((byte, at) => (body[publicBytes() + at] = byte))
  })
  expect(['inconsistent', 'unparseable']).toContain(await refused(swapped, null))
})

test('a subkey whose secret belongs to another is refused', async () => {
  const [ours, theirs] = [await keyOf({ passphrase: '' }), await keyOf({ passphrase: '' })]
  const list = new PacketList()
  list.push(...(ours.toPacketList() as unknown as never[]))
  const mine = ours.subkeys[0]?.keyPacket as unknown as { privateParams: unknown }
  const foreign = theirs.subkeys[0]?.keyPacket as unknown as { privateParams: unknown }
  mine.privateParams = foreign.privateParams
  expect(await refused(ours.write(), null)).toBe('inconsistent')
  expect((await readPrivateKey({ binaryKey: theirs.write() })).isDecrypted()).toBe(true)
})

test('whatever bytes of a key are changed, it is refused or works; nothing is thrown', async () => {
  const whole = Buffer.from((await keyOf({ passphrase: '' })).write())
  for (let at = 0; at < whole.length; at += 7) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 0x10
    const adopted = await take(changed, null)
    if (adopted.outcome === 'unfit') expect(adopted.reason).toMatch(/^[a-z0-9-]+$/)
  }
})
