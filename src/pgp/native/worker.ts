/** The thread in which much is computed at once that is no library's: without openpgp.js. */
import { serve } from '../serve.ts'
import { armorShared } from '../format/armored-packets.ts'
import { readCommonCertificate } from './common-certificate.ts'
import { packSome, restock } from './wrap-session-key.ts'
import { recordOf } from './packed-record.ts'
import { unlockNatively } from './unlock.ts'

const JOBS = {
  pack: packSome,
  armor: armorShared,
  restock,
  unlock: unlockNatively,
  /** Records of certificates, null for those that are not of the common shape. */
  read(certificates: string[], atMs: number): (Uint8Array | null)[] {
    return certificates.map((armored) => {
      const facts = readCommonCertificate(armored, atMs)
      return facts && recordOf(facts)
    })
  },
}

export type NativeJobs = typeof JOBS

serve(JOBS)
