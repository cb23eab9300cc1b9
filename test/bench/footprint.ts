import { join } from 'node:path'
import { createSandbox } from '../../src/sandbox/create.ts'
import { resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { installPackage, takenBy } from './package.ts'
import { startBareServer, startPostern } from './processes.ts'

const PEER = 'fastify and undici'

/** Time, CPU and memory of the installed package until it is ready, on a store that has a key. */
export async function footprintJobs(): Promise<Result[]> {
  using installed = installPackage()
  using folder = temporaryFolder()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  const make = {
    main: installed.main,
    upstream: sandbox.url,
    token: sandbox.token,
    publish: true,
    dataDir: join(folder.path, 'data'),
  }
  // Makes the store and the key.
  await (await startPostern(make))[Symbol.asyncDispose]()
  await using bare = await startBareServer(sandbox.url)
  const theirs = takenBy(bare)
  await using postern = await startPostern(make)
  const ours = takenBy(postern)
  const row = resultOf('footprint-start', postern.readyMs, { [PEER]: bare.readyMs })
  return [
    {
      ...row,
      memory: { ours: Math.round(ours.memory), [PEER]: Math.round(theirs.memory) },
      notes: [
        `CPU until ready ${ours.cpuMs} ms, theirs ${theirs.cpuMs} ms; threads ${ours.threads}, theirs ${theirs.threads}`,
        `memory until ready ${round(ours.peak)} MiB at the most, theirs ${round(theirs.peak)} MiB`,
        `installed ${round(installed.bytes / 2 ** 20)} MiB on the disk`,
      ],
    },
  ]
}
