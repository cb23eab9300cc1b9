import { expect, test } from 'vitest'
import { generate, unlock } from '../../../src/openpgp/library/secret-key.ts'
import { bot, alice, rsaKey } from '../../support/openpgp-people.ts'
import { createCipheriv, createHash } from 'node:crypto'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { FEW_BYTES, unlockNatively } from '../../../src/openpgp/native/own-secrets.ts'
import '../../support/openpgp-engine.ts'

import '../../support/openpgp-engine.ts'

const options = { userId: 'bot', createdMs: Date.UTC(2026, 0, 1) }

/** The key as openpgp.js unlocks it, with a Buffer for its bytes. */
async function byLibrary(locked: string, passphrase: string) {
  const key = await unlock(locked, passphrase)
  return { ...key, bytes: Buffer.from(key.bytes) }
}

test.each([
  ['a short passphrase', 'x', {}],
  ['a passphrase in Cyrillic with an emoji', 'пароль 🔑 ключ', {}],
  ['a passphrase of 300 characters', 'long '.repeat(60), {}],
  ['a certification by another key', 'x', { certifiedBy: bot.unlocked }],
])('a generated key with %s unlocks natively as by openpgp.js', async (_, passphrase, more) => {
  const { locked } = await generate({ ...options, passphrase, isRandom: true, ...more })
  const expected = await byLibrary(locked, passphrase)
  expect(unlockNatively(locked, passphrase)).toEqual(expected)
  expect(unlockNatively(locked, passphrase, FEW_BYTES)).toEqual(expected)
  expect(() => unlockNatively(locked, `${passphrase} `, FEW_BYTES)).toThrow('wrong-passphrase')
})

const { primary, subkey, secret } = alice
const SALT = seeded('salt', 8)
const IV = seeded('iv', 16)

/** How many bytes are hashed, by the byte that says so (RFC 9580, 3.7.1.3). */
const hashed = (coded: number): number => (16 + (coded & 15)) * 2 ** ((coded >> 4) + 6)

interface Locking {
  passphrase?: string
  /** Of the bytes that are hashed. */
  coded?: number
  /** Usage, cipher, specifier and hash. */
  lock?: Buffer
}

/** A secret key packet's body, locked (RFC 9580, 5.5.3). */
function lockedBody(
  { body, secretBody }: { body: Buffer; secretBody: Buffer },
  { passphrase = 'x', coded = 96, lock = Buffer.of(254, 9, 3, 8) }: Locking = {},
): Buffer {
  const number = secretBody.subarray(body.length + 1, -2)
  const once = concat(SALT, Buffer.from(passphrase))
  const total = Math.max(hashed(coded), once.length)
  const all = Buffer.alloc(Math.ceil(total / once.length) * once.length, once).subarray(0, total)
  const key = createHash('sha256').update(all).digest()
  const cipher = createCipheriv('aes-256-cfb', key, IV)
  const sealed = cipher.update(concat(number, createHash('sha1').update(number).digest()))
  return concat(body, lock, SALT, coded, IV, sealed)
}

const blockOf = (...packets: Buffer[]): string =>
  armor(concat(...packets), { type: 'PRIVATE KEY BLOCK' })

/** The key as it is, with its secrets locked; each packet may be another one. */
function blockWith(o: { primary?: Buffer; subkey?: Buffer; more?: Buffer[] } = {}): string {
  return blockOf(
    packet(5, o.primary ?? lockedBody(primary)),
    packet(13, Buffer.from('alice')),
    packet(7, o.subkey ?? lockedBody(subkey)),
    ...(o.more ?? []),
  )
}

test.each([0, 1, 15, 16, 31, 96, 112, 192])(
  'a key locked with the S2K count %i unlocks',
  (coded) => {
    const block = blockWith({
      primary: lockedBody(primary, { coded }),
      subkey: lockedBody(subkey, { coded }),
    })
    const key = unlockNatively(block, 'x')
    expect(key).toMatchObject({
      fingerprint: primary.fingerprint,
      fingerprints: [primary.fingerprint, subkey.fingerprint],
      keyIds: [primary.keyId, subkey.keyId],
      sizes: alice.unlocked.sizes,
    })
    const open = concat(
      packet(5, primary.secretBody),
      packet(13, Buffer.from('alice')),
      packet(7, subkey.secretBody),
    )
    expect(Buffer.from(key?.bytes ?? '')).toEqual(open)
  },
)

test.each(['', 'x', 'ü'.repeat(700), 'long '.repeat(20_000)])(
  'a key unlocks with its own passphrase of any length, and with no other',
  (passphrase) => {
    const locking = { passphrase, coded: 0 }
    const block = blockWith({
      primary: lockedBody(primary, locking),
      subkey: lockedBody(subkey, locking),
    })
    expect(unlockNatively(block, passphrase)).not.toBeNull()
    expect(() => unlockNatively(block, `${passphrase} `)).toThrow('wrong-passphrase')
  },
)

test('`unlockNatively` opens at once locks of up to 65,536 hashed bytes', () => {
  const of = (coded: number, other = 96): string =>
    blockWith({
      primary: lockedBody(primary, { coded }),
      subkey: lockedBody(subkey, { coded: other }),
    })
  expect(hashed(96)).toBe(65_536)
  expect(unlockNatively(of(96), 'x', FEW_BYTES)).not.toBeNull()
  expect(unlockNatively(of(97), 'x', FEW_BYTES)).toBeNull()
  expect(unlockNatively(of(96, 97), 'x', FEW_BYTES)).toBeNull()
  expect(unlockNatively(of(97), 'x')).not.toBeNull()
  expect(() => unlockNatively(of(97), 'y', FEW_BYTES)).not.toThrow()
})

test('a key whose subkey has another passphrase does not unlock', () => {
  const block = blockWith({ subkey: lockedBody(subkey, { passphrase: 'y' }) })
  expect(() => unlockNatively(block, 'x')).toThrow('wrong-passphrase')
  expect(() => unlockNatively(block, 'y')).toThrow('wrong-passphrase')
})

test.each([
  ['usage 253', Buffer.of(253, 9, 3, 8)],
  ['usage 255', Buffer.of(255, 9, 3, 8)],
  ['AES-128', Buffer.of(254, 7, 3, 8)],
  ['a salted S2K', Buffer.of(254, 9, 1, 8)],
  ['SHA-1', Buffer.of(254, 9, 3, 2)],
])('a key locked with %s is left to openpgp.js', (_, lock) => {
  expect(unlockNatively(blockWith({ primary: lockedBody(primary, { lock }) }), 'x')).toBeNull()
  expect(unlockNatively(blockWith({ subkey: lockedBody(subkey, { lock }) }), 'x')).toBeNull()
})

test.each([
  ['an unlocked primary key', blockWith({ primary: primary.secretBody })],
  ['an unlocked subkey', blockWith({ subkey: subkey.secretBody })],
  ['an RSA primary key', blockWith({ primary: lockedBody(rsaKey(1024)) })],
  ['an RSA subkey', blockWith({ subkey: lockedBody(rsaKey(1024)) })],
  [
    'a truncated lock',
    blockWith({ subkey: lockedBody(subkey).subarray(0, subkey.body.length + 20) }),
  ],
  [
    'a lock with a hash alone',
    blockWith({ subkey: lockedBody(subkey).subarray(0, subkey.body.length + 4 + 8 + 1 + 16 + 20) }),
  ],
  [
    'a subkey in the first place',
    blockOf(packet(7, lockedBody(subkey)), packet(5, lockedBody(primary))),
  ],
  [
    'a user id in the first place',
    blockOf(packet(13, Buffer.from('a')), packet(5, lockedBody(primary))),
  ],
  ['a certificate', armor(concat(packet(6, primary.body)), { type: 'PRIVATE KEY BLOCK' })],
  ['an unknown packet', blockWith({ more: [packet(60, Buffer.from('x'))] })],
  ['an additional public subkey', blockWith({ more: [packet(14, subkey.body)] })],
  ['a repeated subkey', blockWith({ more: [packet(7, lockedBody(subkey))] })],
  ['a truncated packet', blockOf(concat(packet(5, lockedBody(primary)).subarray(0, -1)))],
  ['a public key block', armor(secret, { type: 'PUBLIC KEY BLOCK' })],
  ['no text', ''],
])('a private key block with %s is left to openpgp.js', (_, block) => {
  expect(unlockNatively(block, 'x')).toBeNull()
})

test('a locked secret of another key is left to openpgp.js', () => {
  const other = { body: primary.body, secretBody: concat(primary.body, 0, secretNumber(), 0, 0) }
  expect(unlockNatively(blockWith({ primary: lockedBody(other) }), 'x')).toBeNull()
})

/** A secret number of somebody else. */
const secretNumber = (): Buffer => concat(1, 0, seeded('another secret', 32).fill(0x80, 0, 1))

test.each([1, 8, 20])(
  'a locked key with a flipped bit in byte %i from its end does not unlock',
  (at) => {
    const body = lockedBody(primary)
    body[body.length - at] = (body.at(-at) ?? 0) ^ 1
    expect(() => unlockNatively(blockWith({ primary: body }), 'x')).toThrow('wrong-passphrase')
  },
)
