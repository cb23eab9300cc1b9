import { join } from 'node:path'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { startSidecar } from '../../src/testing/index.ts'
import { compare, temporaryFolder, type Result } from './measure.ts'
import { startPostern } from './processes.ts'

const ROUNDS = 9

/** From the start of a sidecar in a test until it is ready; beside it one as a process of its own. */
export async function testingJobs(): Promise<Result[]> {
  await using sandbox = await createSandbox()
  const upstream = sandbox.url
  const startInside = async (): Promise<number> => {
    const token = await newToken(sandbox)
    const startedAt = performance.now()
    await using _sidecar = await startSidecar({ upstream, token })
    return performance.now() - startedAt
  }
  const startProcess = async (): Promise<number> => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const token = await newToken(sandbox)
    await using sidecar = await startPostern({ upstream, token, publish: true, dataDir })
    return sidecar.readyMs
  }
  const peers = [{ name: 'a process of its own', run: startProcess }]
  const job = 'testing-start'
  return [await compare({ job, ours: { run: startInside }, peers, rounds: ROUNDS })]
}

/** Of a bot that has no key yet. */
async function newToken({ control }: Sandbox): Promise<string> {
  const { length } = await control.bots()
  return (await control.addBot({ username: `bot_${length}` })).token
}
