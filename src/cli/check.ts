import { Command } from 'commander'
import { refuseUnsafeProcess } from '../config/environment.ts'
import type { Sources } from '../config/sources.ts'
import type { CheckLine } from '../control/reports.ts'
import { OperatorError } from '../errors.ts'
import { addExample, sourcesOf, addSettingFlags } from './flags.ts'
import { checkChats } from './chat-show.ts'
import { withSidecar, withSidecarFrom } from './connect.ts'
import { colourText, stripControls, print, printJson } from './terminal.ts'

const COLOURS = { pass: 'green', warn: 'yellow', fail: 'red' } as const

/** `postern check`: the doctor. */
export function checkCommand(): Command {
  const command = new Command('check')
    .description(
      'check settings, store, network, token and key, and show what a first publication changes',
    )
    .option(
      '--chats',
      'look at the known chats instead: who could read a message, who would be skipped',
    )
    .option('--json', 'print the findings as JSON')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern check --json').action(check)
}

async function check(
  options: { json?: boolean; chats?: boolean },
  command: Command,
): Promise<void> {
  if (options.chats === true) {
    return await withSidecar(command, (sidecar) => checkChats(sidecar, options))
  }
  await checkSources(sourcesOf(command), options)
}

/**
 * Checks everything that these sources lead to, and prints the findings.
 * @throws OperatorError `failed` when a check failed; any other when the checks cannot run
 */
export async function checkSources(sources: Sources, { json }: { json?: boolean }): Promise<void> {
  const lines = await withSidecarFrom(sources, async (sidecar) => [
    ...checkProcess(sources),
    ...(await sidecar.check()),
  ])
  if (json === true) printJson(lines)
  else for (const line of lines) putLine(line)
  const failed = lines.filter(({ level }) => level === 'fail').length
  if (failed === 0) return
  throw new OperatorError(
    'failed',
    `${failed} of ${lines.length} checks failed`,
    'do what their lines say, then run `postern check` again',
  )
}

function putLine({ level, name, message, hint }: CheckLine): void {
  print(`${colourText(COLOURS[level], level)}  ${stripControls(name)}: ${stripControls(message)}`)
  if (hint !== undefined && level !== 'pass') print(`      ${stripControls(hint)}`)
}

/** What `run` would refuse in a process like this one. */
function checkProcess(sources: Sources): CheckLine[] {
  try {
    refuseUnsafeProcess(sources)
    return []
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [{ name: 'process', level: 'fail', message: error.message, hint: error.hint }]
  }
}
