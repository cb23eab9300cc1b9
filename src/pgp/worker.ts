/** The thread in which openpgp.js runs: one job at a time, and it may be killed in any of them. */
import './brainpool.ts'
import { parentPort } from 'node:worker_threads'
import { adopt } from './adopt.ts'
import { openWhole, unpackWhole, unwrap } from './bulk/library.ts'
import { judgeFully } from './certificate.ts'
import { open } from './open.ts'
import { describeOwn } from './own-facts.ts'
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
  describeOwn,
  recipientPackets,
  allListAes256,
}

/** What the threads do, by name; arguments and results are structured clones. */
export type Jobs = typeof JOBS

applyProfile()
parentPort?.on('message', (job: { name: keyof Jobs; args: unknown[] }) => {
  const run = JOBS[job.name] as (...args: unknown[]) => Promise<unknown>
  run(...job.args).then(
    (value) => parentPort?.postMessage({ ok: true, value }),
    (error: unknown) =>
      parentPort?.postMessage({ ok: false, message: error instanceof Error ? error.message : '' }),
  )
})
// Only now does a job's own time begin.
parentPort?.postMessage('ready')
