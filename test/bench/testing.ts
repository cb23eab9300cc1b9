import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { startSidecar } from '../../src/testing/index.ts'
import { startSidecarProcess, untilReady } from '../support/sidecar-process.ts'
import { compare, type Result } from './measure.ts'

const ROUNDS = 9

/** From the start of a sidecar in a test until it is ready; beside it one as a process of its own. */
export async function testingJobs(): Promise<Result[]> {
  await using sandbox = await createSandbox()
  return [
    await compare({
      job: 'testing-start',
      ours: { run: () => startInside(sandbox) },
      peers: [{ name: 'a process of its own', run: () => startProcess(sandbox) }],
      rounds: ROUNDS,
    }),
  ]
}

async function startInside(sandbox: Sandbox): Promise<number> {
  const token = await newToken(sandbox)
  const startedAt = performance.now()
  await using _sidecar = await startSidecar({ upstream: sandbox.url, token })
  return performance.now() - startedAt
}

async function startProcess(sandbox: Sandbox): Promise<number> {
  const token = await newToken(sandbox)
  const cwd = mkdtempSync(join(tmpdir(), 'postern-bench-'))
  using _folder = { [Symbol.dispose]: () => rmSync(cwd, { recursive: true, force: true }) }
  const env = {
    POSTERN_UPSTREAM_URL: sandbox.url,
    POSTERN_BOT_TOKEN: token,
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_DATA_DIR: join(cwd, 'data'),
    POSTERN_LOG_LEVEL: 'info',
  }
  const startedAt = performance.now()
  await using sidecar = await startSidecarProcess({ cwd, env })
  await untilReady(sidecar.admin)
  return performance.now() - startedAt
}

/** Of a bot that has no key yet. */
async function newToken({ control }: Sandbox): Promise<string> {
  const { length } = await control.bots()
  return (await control.addBot({ username: `bot_${length}` })).token
}
