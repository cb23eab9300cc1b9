/** The thread in which openpgp.js runs: one job at a time, and it may be killed in any of them. */
import { serve } from '../pool.ts'
import { adopt } from './adopt.ts'
import { describeOwnKey } from './certificate-info.ts'
import { judgeFully } from './certificate.ts'
import { open, openWhole, unpackWhole, unwrap } from './open.ts'
import { applyProfile } from './profile.ts'
import { allListAes256, recipientPackets, seal } from './seal.ts'
import { generate, relock, unlock } from './secret-key.ts'
import { verify } from './verify.ts'

const JOBS = {
  generate,
  unlock,
  relock,
  adopt,
  judge: judgeFully,
  seal,
  open,
  verify,
  unwrap,
  openWhole,
  unpackWhole,
  describeOwnKey,
  recipientPackets,
  allListAes256,
}

/** What the threads do, by name; arguments and results are structured clones. */
export type Jobs = typeof JOBS

applyProfile()
serve(JOBS)
