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

const KEYS: [string, PacketKey, number][] = [
  ['legacy Ed25519', alice.primary, 22],
  ['legacy Curve25519', alice.subkey, 18],
  ['Ed25519', ed25519Native('new', MADE_MS), 27],
  ['X25519', x25519Native('new', MADE_MS), 25],
]

test.each(KEYS)('a key of %s is read, written again as it was, and named', (_, key, algorithm) => {
  const read = publicKeyOf(key.body)
  expect(read).toMatchObject({ algorithm, createdS: MADE_MS / 1000 })
  if (read === null) return
  expect(read.point).toHaveLength(32)
  expect(publicKeyBody(read)).toEqual(Buffer.from(key.body))
  expect(fingerprintOf(read).toString('hex')).toBe(key.fingerprint)
})

test('each key has its own name, whichever was named before', () => {
  const names = [alice, mallory, alice].map(({ subkey }) => {
    return fingerprintOf(publicKeyOf(subkey.body) as NativePublicKey).toString('hex')
  })
  expect(names).toEqual([alice, mallory, alice].map(({ subkey }) => subkey.fingerprint))
  const key = publicKeyOf(alice.subkey.body) as NativePublicKey
  const later = fingerprintOf({ ...key, createdS: key.createdS + 1 }).toString('hex')
  expect(later).not.toBe(alice.subkey.fingerprint)
})

test.each(KEYS)('whatever follows a key of %s is not its own', (_, key) => {
  const rest = concat(key.body, '00ff')
  expect(readPublicKey(rest)).toMatchObject({ read: key.body.length })
  expect(publicKeyOf(rest)).toBeNull()
})

test.each(KEYS)('a key of %s that is cut short anywhere is none', (_, key) => {
  for (let length = 0; length < key.body.length; length++) {
    const short = key.body.subarray(0, length)
    expect([readPublicKey(short), publicKeyOf(short)], `${length}`).toEqual([null, null])
  }
})

test.each(KEYS)('a key of %s of another form is none', (_, key) => {
  const point = readPublicKey(key.body)?.key.point ?? Buffer.alloc(0)
  const start = Buffer.from(key.body).indexOf(Buffer.from(point))
  const fixed = [0, 5, ...Array.from(key.body.keys()).slice(6)].filter(
    (at) => at < start || at >= start + 32,
  )
  for (const at of fixed) {
    const changed = Buffer.from(key.body)
    changed[at] = (changed[at] ?? 0) ^ 0x40
    expect(readPublicKey(changed), `byte ${at}`).toBeNull()
  }
})

test('a key of RSA is none of these', () => {
  expect(readPublicKey(rsaKey(2048).body)).toBeNull()
})
