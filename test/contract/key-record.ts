import assert from 'node:assert/strict'
import type { Fields } from './expect.ts'

/** How an armored certificate begins. */
export const CERTIFICATE = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const isFingerprint = (value: unknown): boolean =>
  typeof value === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(value)

/** A key record contains these three under any names (spec, UserKey). */
export function checkKeyRecord(record: Fields, userId: number): void {
  const values = Object.values(record)
  assert.ok(values.includes(userId), 'the user id')
  assert.ok(values.some(isFingerprint), 'the fingerprint')
  assert.ok(
    values.some((value) => typeof value === 'string' && value.includes(CERTIFICATE)),
    'the public key',
  )
}
