/** The sidecar in the tests' own process: it costs less, and mutants are in no other (`mutants.ts`). */
import { tmpdir } from 'node:os'
import { load } from '../../src/config/load.ts'
import { createSidecar } from '../../src/context.ts'
import type { RunningSidecar } from './sidecar-process.ts'
import { sourcesOf } from './sources.ts'
import { watchedLog } from './watched-log.ts'

/**
 * Starts one and waits until it listens.
 * @param env all of its settings, as the environment names them
 * @throws OperatorError for everything that keeps a sidecar from starting
 */
export async function startSidecarInside(env: Record<string, string>): Promise<RunningSidecar> {
  const { settings, secrets } = load(sourcesOf(env, tmpdir()))
  const lines: string[] = []
  const log = watchedLog((fields) => lines.push(JSON.stringify(fields)))
  const sidecar = await createSidecar({ settings, secrets, log })
  const { bot, admin } = await sidecar.listen()
  let ending: Promise<void> | null = null
  return {
    pid: process.pid,
    bot,
    admin,
    output: () => lines.join('\n'),
    stop: async () => {
      await (ending ??= Promise.resolve(sidecar[Symbol.asyncDispose]()))
      return 0
    },
  }
}
