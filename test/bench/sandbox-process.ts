/** A sandbox without rates, in a process of its own: adds bots for its parent, and ends with it. */
import { createSandbox } from '../../src/sandbox/create.ts'
import { addBots, type BenchBot } from './bench-bots.ts'
import { startChild } from './processes.ts'

export interface SandboxProcess extends AsyncDisposable {
  pid: number
  url: string
  /** Makes so many bots, with a file of settings each. */
  addBots(count: number, folder: string): Promise<BenchBot[]>
}

interface Request {
  count: number
  folder: string
}

export async function startSandbox(): Promise<SandboxProcess> {
  const child = startChild('sandbox-process.ts')
  const url = (await child.hears()) as string
  return {
    ...child,
    url,
    addBots: async (count, folder) =>
      (await child.ask({ count, folder } satisfies Request)) as BenchBot[],
  }
}

if (import.meta.main) {
  const sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  process.on('disconnect', () => process.exit(0))
  process.on('message', ({ count, folder }: Request) => {
    void addBots(sandbox, count, folder).then((bots) => process.send?.(bots))
  })
  process.send?.(sandbox.url)
}
