/** The thread in which much is computed at once that is no library's: without openpgp.js. */
import { serve } from '../serve.ts'
import { readCommonCertificate } from './common-certificate.ts'
import { pack, restock } from './pack.ts'
import { recordOf } from './record.ts'
import type { SessionKey } from './session-key.ts'
import { unlockNatively } from './unlock.ts'

const JOBS = {
  /** Recipient packets; this thread's copy of the session key is zeroed. */
  pack(members: Uint8Array, { cipher, data }: { cipher: SessionKey['cipher']; data: Uint8Array }) {
    const own = { cipher, data: Buffer.from(data.buffer, data.byteOffset, data.length) }
    try {
      return pack(members, own)
    } finally {
      own.data.fill(0)
    }
  },
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
