/** What is read of a certificate natively, held against what the library says of it. */
import { expect } from 'vitest'
import { judgeFully } from '../../src/openpgp/library/certificate-info.ts'
import type { CertificateInfo } from '../../src/openpgp/native/certificate-info.ts'
import { readCommonCertificate } from '../../src/openpgp/native/common-certificate.ts'
import { packRecord } from '../../src/openpgp/native/record-table.ts'
import './openpgp-engine.ts'
import { NOW_MS } from './openpgp-people.ts'

const packed = (info: CertificateInfo): string => Buffer.from(packRecord(info)).toString('hex')

/** What is read natively, which must be what the library says; null where it is left to that. */
export async function readAlike(
  certificate: string,
  nowMs = NOW_MS,
): Promise<CertificateInfo | null> {
  const info = readCommonCertificate(certificate, nowMs)
  if (info === null) return null
  const judged = await judgeFully(certificate, nowMs)
  expect(judged.status).toMatchObject({ unusable: null, revocations: false })
  expect(judged.info && packed(judged.info)).toBe(packed(info))
  return info
}
