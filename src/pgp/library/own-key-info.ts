/** What the library says of one of our own keys, for using it natively. */
import type { PrivateKey } from 'openpgp'
import { secretKeyOf } from './key-cache.ts'
import { infoOf } from './certificate-info.ts'
import type { UnlockedKey } from '../engine.ts'
import type { CertificateInfo } from '../native/certificate-info.ts'

export interface OwnKeyInfo {
  /** Key ids that messages may be opened with, at any time. */
  opens: string[]
  /** Ciphers of session keys, by number, that the key says it reads; as long as `info` holds. */
  ciphers: number[]
  /** Of its certificate; null when it cannot sign and be sealed to natively now. */
  info: CertificateInfo | null
}

/** The library has these, its types do not. */
type Whole = PrivateKey & {
  getDecryptionKeys(keyId: undefined, date: null): Promise<PrivateKey[]>
  getPrimarySelfSignature(date: Date): Promise<{ preferredSymmetricAlgorithms: number[] | null }>
}

/** Describes an unlocked key as it is at `nowMs`. */
export async function describeOwnKey(key: UnlockedKey, nowMs: number): Promise<OwnKeyInfo> {
  const secretKey = (await secretKeyOf(key)) as Whole
  const opening = await secretKey.getDecryptionKeys(undefined, null).catch(() => [])
  const self = await secretKey.getPrimarySelfSignature(new Date(nowMs)).catch(() => null)
  return {
    opens: opening.map((one) => one.getKeyID().toHex()),
    ciphers: self?.preferredSymmetricAlgorithms ?? [],
    info: await infoOf(secretKey.toPublic(), nowMs),
  }
}
