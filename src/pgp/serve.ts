/** A thread's side of a pool: one job after the other. */
import { parentPort } from 'node:worker_threads'

type Done = (value: unknown) => void

/** Does jobs by name until the thread is ended; arguments and results are structured clones. */
export function serve(jobs: Record<string, (...args: never[]) => unknown>): void {
  const reply: Done = (message) => parentPort?.postMessage(message)
  parentPort?.on('message', (job: { name: string; args: never[] }) => {
    new Promise((resolve) => resolve(jobs[job.name]?.(...job.args))).then(
      (value) => reply({ ok: true, value }),
      (error: unknown) =>
        reply({ ok: false, message: error instanceof Error ? error.message : '' }),
    )
  })
  // Only now does a job's own time begin.
  reply('ready')
}
