import { expect, test } from 'vitest'
import { holdsAt } from '../../../src/openpgp/certificate-statuses.ts'
import { NEVER_S } from '../../../src/openpgp/bounds.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { MADE_MS, NOW_MS, alice } from '../../support/openpgp-people.ts'
import { statusOf } from '../../../src/openpgp/native/certificate-cache.ts'

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
])('`holdsAt` of %j at %i ms is %s', (times, atMs, expected) => {
  expect(holdsAt(times, atMs)).toBe(expected)
})

test('`statusOf` returns the fingerprint, encryption key, sizes and expiry of a `CertificateInfo`', () => {
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
