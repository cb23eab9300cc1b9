import { expect, test } from 'vitest'
import { statusOf } from '../../../src/openpgp/native/certificate-info.ts'
import { holdsAt, unusableStatus } from '../../../src/openpgp/certificate-statuses.ts'
import { NEVER_S } from '../../../src/openpgp/bounds.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { MADE_MS, NOW_MS, alice } from '../../support/openpgp-people.ts'

const info = readCommonCertificate(alice.certificate, NOW_MS)
if (info === null) throw new Error('not common')

test.each([
  [{ fromS: 10, untilS: 20 }, 9999, false],
  [{ fromS: 10, untilS: 20 }, 10_000, true],
  [{ fromS: 10, untilS: 20 }, 19_999, true],
  [{ fromS: 10, untilS: 20 }, 20_000, false],
  [{ fromS: 10, untilS: NEVER_S }, NEVER_S * 1000 - 1, true],
  [{ fromS: 10, untilS: NEVER_S }, NEVER_S * 1000, true],
  [{ fromS: 10, untilS: NEVER_S - 1 }, (NEVER_S - 1) * 1000, false],
])('%j holds at %i ms: %s', (times, atMs, expected) => {
  expect(holdsAt(times, atMs)).toBe(expected)
})

test('the status of what is known says who it is, which key is sealed to, and until when', () => {
  const status = statusOf({ ...info, untilS: 2_000_000_000 }, 'armored')
  expect(status).toEqual({
    fingerprint: alice.primary.fingerprint,
    unusable: null,
    notBeforeMs: MADE_MS,
    expiresMs: 2_000_000_000_000,
    revocations: false,
    encryptionKeys: [alice.subkey.fingerprint],
    recipientBytes: { aes256: 96, aes128: 80 },
    algorithm: status.algorithm,
    armored: 'armored',
  })
  expect(status.algorithm).toMatch(/25519/)
  expect(statusOf(info, 'armored').expiresMs).toBe(Infinity)
})

test('what cannot be used has no name, no key, and takes no room', () => {
  expect(unusableStatus('hello', 'unparseable')).toEqual({
    fingerprint: null,
    unusable: 'unparseable',
    notBeforeMs: 0,
    expiresMs: Infinity,
    revocations: false,
    encryptionKeys: [],
    recipientBytes: { aes256: 0, aes128: 0 },
    algorithm: 'unknown',
    armored: 'hello',
  })
})
