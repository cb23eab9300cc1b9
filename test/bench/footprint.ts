import { join } from 'node:path'
import { createSandbox } from '../../src/sandbox/create.ts'
import { median, resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { installPackage, takenBy, type Taken } from './package.ts'
import { startBareServer, startPostern, type Process } from './processes.ts'

const PEER = 'fastify and undici'
const ROUNDS = 9

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
  const ours: Started[] = []
  const theirs: Started[] = []
  for (let turn = 0; turn < ROUNDS; turn++) {
    theirs.push(await startedBy(() => startBareServer(sandbox.url)))
    ours.push(await startedBy(() => startPostern(make)))
  }
  const of = (starts: Started[], what: keyof Started): number =>
    round(median(starts.map((start) => start[what])))
  const both = (what: keyof Started, unit: string): string =>
    `${of(ours, what)} ${unit}, theirs ${of(theirs, what)} ${unit}`
  const row = resultOf('footprint-start', of(ours, 'readyMs'), { [PEER]: of(theirs, 'readyMs') })
  return [
    {
      ...row,
      memory: { ours: of(ours, 'memory'), [PEER]: of(theirs, 'memory') },
      notes: [
        `CPU until ready ${both('cpuMs', 'ms')}`,
        `memory until ready, at the most ${both('peak', 'MiB')}`,
        `installed ${round(installed.bytes / 2 ** 20)} MiB on the disk`,
      ],
    },
  ]
}

type Started = Taken & Pick<Process, 'readyMs'>

async function startedBy(start: () => Promise<Process>): Promise<Started> {
  await using started = await start()
  return { ...takenBy(started), readyMs: started.readyMs }
}
