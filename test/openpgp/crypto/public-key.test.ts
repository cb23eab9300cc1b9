import { expect, test } from 'vitest'
import type { NativePublicKey } from '../../../src/openpgp/crypto/algorithm.ts'
import {
  fingerprintOf,
  publicKeyBody,
  publicKeyOf,
  readPublicKey,
} from '../../../src/openpgp/crypto/public-key.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import type { PacketKey } from '../../support/openpgp-key.ts'
import { MADE_MS, alice, mallory, rsaKey } from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const KEYS: [string, PacketKey, number][] = [
  ['legacy Ed25519', alice.primary, 22],
  ['legacy Curve25519', alice.subkey, 18],
  ['Ed25519', ed25519Native('new', MADE_MS), 27],
  ['X25519', x25519Native('new', MADE_MS), 25],
]

test.each(KEYS)(
  'a public key of %s is read, written unchanged, and has the right fingerprint',
  (_, key, algorithm) => {
    const read = publicKeyOf(key.body)
    expect(read).toMatchObject({ algorithm, createdS: MADE_MS / 1000 })
    if (read === null) return
    expect(read.point).toHaveLength(32)
    expect(publicKeyBody(read)).toEqual(Buffer.from(key.body))
    expect(fingerprintOf(read).toString('hex')).toBe(key.fingerprint)
  },
)

test('`fingerprintOf` distinguishes keys that differ in point or date, in any order of calls', () => {
  const names = [alice, mallory, alice].map(({ subkey }) => {
    return fingerprintOf(publicKeyOf(subkey.body) as NativePublicKey).toString('hex')
  })
  expect(names).toEqual([alice, mallory, alice].map(({ subkey }) => subkey.fingerprint))
  const key = publicKeyOf(alice.subkey.body) as NativePublicKey
  const later = fingerprintOf({ ...key, createdS: key.createdS + 1 }).toString('hex')
  expect(later).not.toBe(alice.subkey.fingerprint)
})

test.each(KEYS)(
  '`readPublicKey` stops behind a key of %s, and `publicKeyOf` rejects trailing bytes',
  (_, key) => {
    const rest = concat(key.body, '00ff')
    expect(readPublicKey(rest)).toMatchObject({ read: key.body.length })
    expect(publicKeyOf(rest)).toBeNull()
  },
)

test.each(KEYS)('a public key of %s that is truncated at any byte is rejected', (_, key) => {
  for (let length = 0; length < key.body.length; length++) {
    const short = key.body.subarray(0, length)
    expect([readPublicKey(short), publicKeyOf(short)], `${length}`).toEqual([null, null])
  }
})

test.each(KEYS)(
  'a public key of %s with a changed byte outside its point and date is rejected',
  (_, key) => {
    const point = readPublicKey(key.body)?.key.point ?? Buffer.alloc(0)
    const start = Buffer.from(key.body).indexOf(Buffer.from(point))
    const fixed = [0, 5, ...Array.from(key.body.keys()).slice(6)].filter(
      (at) => at < start || at >= start + 32,
    )
    for (const at of fixed) {
      const changed = flipByte(key.body, at, 0x40)
      expect(readPublicKey(changed), `byte ${at}`).toBeNull()
    }
  },
)

test('`readPublicKey` rejects an RSA key', () => {
  expect(readPublicKey(rsaKey(2048).body)).toBeNull()
})
