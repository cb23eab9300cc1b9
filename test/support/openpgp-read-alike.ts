/** Compares natively read certificates with the results of the library. */
import { expect } from 'vitest'
import { judgeFully } from '../../src/openpgp/library/certificate-info.ts'
import type { CertificateInfo } from '../../src/openpgp/native/certificate-info.ts'
import { readCommonCertificate } from '../../src/openpgp/native/common-certificate.ts'
import { packRecord } from '../../src/openpgp/native/record-table.ts'
import './openpgp-engine.ts'
import { NOW_MS } from './openpgp-people.ts'

const packed = (info: CertificateInfo): string => Buffer.from(packRecord(info)).toString('hex')

/** Reads a certificate natively and expects the result of the library; null where it is left to that. */
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
