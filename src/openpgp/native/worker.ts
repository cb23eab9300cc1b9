/** The thread in which much is computed at once that is no library's: without openpgp.js. */
import { refillEphemerals } from '../crypto/curve25519.ts'
import { armorShared } from '../format/armor-writer.ts'
import { serve } from '../pool.ts'
import { readCommonCertificate } from './common-certificate.ts'
import { packRecord } from './certificate-record.ts'
import { wrapBlocks } from './wrap-session-key.ts'
import { unlockNatively } from './own-secrets.ts'

/** The jobs of the threads, by name; arguments and results are structured clones. */
export const NATIVE_JOBS = {
  wrap: wrapBlocks,
  armor: armorShared,
  refillEphemerals,
  unlock: unlockNatively,
  /** Records of certificates, null for those that are not of the common shape. */
  read(certificates: string[], atMs: number): (Uint8Array | null)[] {
    return certificates.map((armored) => {
      const info = readCommonCertificate(armored, atMs)
      return info && packRecord(info)
    })
  },
}

export type NativeJobs = typeof NATIVE_JOBS

serve(NATIVE_JOBS)
