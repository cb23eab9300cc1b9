import { refuseUnsafeProcess, type Sources } from '../config/sources.ts'
import { load } from '../config/load.ts'
import { loadDataDir, namesService } from '../config/store-access.ts'
import type { CheckLine } from '../operators/reports.ts'
import { failedError, OperatorError, operatorErrorOf } from '../errors.ts'
import { checkChats } from './chat-show.ts'
import { connectServing, findSidecar, OperatorCommand } from './operator-command.ts'
import { printAnswer, withSidecar, type JsonFlag } from './operator-command.ts'
import { printWrapped } from './table.ts'
import { colourText } from './terminal.ts'

/** As wide as a level and the gap behind it. */
const INDENT = 6
const COLOURS = { pass: 'green', warn: 'yellow', fail: 'red' } as const

/** `postern check`: the doctor. */
export const checkCommand = (): OperatorCommand =>
  new OperatorCommand('check')
    .option(
      '--chats',
      'look at the known chats instead: who could read a message, who would be skipped',
    )
    .option('--json', 'print the findings as JSON')
    .example('postern check --json')
    .runs(async (sources, options: JsonFlag & { chats?: boolean }) => {
      if (options.chats !== true) return await checkSources(sources, options)
      await withSidecar(sources, (sidecar) => checkChats(sidecar, options))
    })

/**
 * Checks everything that these sources lead to, and prints the findings.
 * @throws OperatorError `failed` when a check failed; any other when the checks cannot run
 */
export async function checkSources(sources: Sources, flags: JsonFlag): Promise<void> {
  const lines = [...checkProcess(sources), ...(await findingsFor(sources))]
  printAnswer(lines, flags, () => lines.forEach(putLine))
  const failed = lines.filter(({ level }) => level === 'fail').length
  if (failed === 0) return
  const hint = 'do what their lines say, then run `postern check` again'
  throw failedError(`${failed} of ${lines.length} checks failed`, hint)
}

/**
 * Examines the settings that were given. What only the process with the open store can see is asked
 * of the sidecar that runs; where nothing but its data directory is named, so is all else.
 */
async function findingsFor(given: Sources): Promise<CheckLine[]> {
  const sources = findSidecar(given)
  const dataDir = loadDataDir(sources)
  await using running = await connectServing(sources)
  if (running === null) {
    return await withSidecar(sources, (sidecar) => sidecar.check({ about: 'everything' }))
  }
  const where = `one runs on ${dataDir}`
  if (!namesService(sources)) {
    const said = `${where} and was asked: no settings are given here, these are its own`
    return [sidecarLine(said), ...(await running.check({ about: 'everything' }))]
  }
  const loaded = load(sources)
  const { checkSettings } = await import('../context.ts')
  const { createLog } = await import('../config/log.ts')
  const lines = await checkSettings({ ...loaded, log: createLog(loaded, 'warn') })
  const said = `${where} and was asked about the store; all else is checked by the settings given here`
  return [sidecarLine(said), ...lines, ...(await running.check({ about: 'store' }))]
}

const sidecarLine = (message: string): CheckLine => ({ name: 'sidecar', level: 'pass', message })

function putLine({ level, name, message, hint }: CheckLine): void {
  const first = `${colourText(COLOURS[level], level)}  `
  printWrapped(`${name}: ${message}`, { first, indent: INDENT })
  if (hint !== undefined && level !== 'pass') {
    printWrapped(hint, { first: ' '.repeat(INDENT), indent: INDENT })
  }
}

/** What `run` would refuse in a process like this one. */
function checkProcess(sources: Sources): CheckLine[] {
  const unsafe = operatorErrorOf(() => refuseUnsafeProcess(sources))
  if (!(unsafe instanceof OperatorError)) return []
  return [{ name: 'process', level: 'fail', message: unsafe.message, hint: unsafe.hint }]
}
