import { expect, test } from 'vitest'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'
import { packRecord, unpackRecord } from '../../../src/openpgp/native/certificate-record.ts'
import { seeded } from '../../support/openpgp-bytes.ts'

function info(name: number): CertificateInfo {
  const point = (what: string): Buffer => seeded(`${what} ${name}`, 32)
  return {
    fingerprint: seeded(`fingerprint ${name}`, 20),
    recipientKey: { algorithm: name % 2 ? 18 : 25, createdS: name, point: point('sealing') },
    signingKey:
      name % 5 === 0
        ? null
        : { algorithm: name % 3 ? 22 : 27, createdS: name + 1, point: point('signing') },
    primarySigns: name % 5 !== 0 && name % 7 !== 0,
    hasNoOtherKey: name % 4 === 0,
    readsAes256: name % 6 === 0,
    fromS: name,
    untilS: 0xffff_ffff - name,
  }
}

test('`unpackRecord` returns the `CertificateInfo` that `packRecord` packed into 103 bytes, 71 without a `signingKey`', () => {
  for (let name = 0; name < 100; name++) {
    const record = packRecord(info(name))
    expect(record).toHaveLength(name % 5 === 0 ? 71 : 103)
    expect(unpackRecord(record)).toEqual(info(name))
  }
})
