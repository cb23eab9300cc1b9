import { createEngine, type EngineOptions } from '../../src/openpgp/create.ts'
import { compare, type Contender, type Result } from './measure.ts'
import { makeCast } from './people.ts'

const TEXT = 'x'.repeat(480)
/** As many as `sample` takes one of. */
const MESSAGES = 256
const ROUNDS = 5
/** Checks wait half a second, and end one after the other. */
const QUIET_MS = 1500

/** CPU of a message that is sealed, opened and verified, with what openpgp.js does again of it. */
export async function checkJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  if (!wanted('check-cpu')) return []
  await using stack = new AsyncDisposableStack()
  const { signer, certificate } = stack.use(await makeCast(0))
  const contender = (name: string, options: EngineOptions, messages = MESSAGES): Contender => {
    const engine = stack.use(createEngine(options))
    let lastMs = 0
    engine.onCheck(({ result }) => {
      if (result !== 'same') throw new Error(`a check found ${result}`)
      lastMs = performance.now()
    })
    const one = async (): Promise<void> => {
      const request = { text: TEXT, certificates: [certificate], signer, cipher: 'aes256' } as const
      const opened = await engine.open(await engine.seal(request), [signer])
      if (opened.outcome !== 'opened') throw new Error(opened.outcome)
      const [result] = await engine.verify(opened.signed, certificate, Date.now())
      if (result !== 'valid') throw new Error('not verified')
    }
    const checked = async (): Promise<void> => {
      lastMs = performance.now()
      while (performance.now() - lastMs < QUIET_MS) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    const run = async (): Promise<number> => {
      const before = process.cpuUsage()
      for (let count = 0; count < messages; count++) await one()
      if (options.check !== 'off') await checked()
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000 / messages
    }
    return { name, run }
  }
  const ours = contender('ours', { check: 'sample' })
  const peers = [
    contender('unchecked', { check: 'off' }),
    contender('all checked', { check: 'all' }, 64),
    contender('openpgp.js alone', { engine: 'library', check: 'off' }, 64),
  ]
  return [await compare({ job: 'check-cpu', ours, peers, rounds: ROUNDS })]
}
