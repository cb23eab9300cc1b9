import { setTimeout as elapsed } from 'node:timers/promises'
import { Command } from 'commander'
import type { Operations } from '../control/operations.ts'
import type { RotationReport } from '../control/rotation.ts'
import { OperatorError } from '../errors.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { shutdownRequested, shutdownSignal } from './shutdown.ts'
import { print, printJson, printNotice } from './terminal.ts'

const LOOK_MS = 100

interface Options {
  watch?: boolean
  abandon?: boolean
  json?: boolean
}

/** `postern key rotate`: a new key in the place of the published one, watched to its end. */
export function keyRotateCommand(): Command {
  const command = new Command('rotate')
    .description('put a new key in the place of the bot’s key, and print its fingerprint')
    .option('--watch', 'follow it to its end, also where the service must be tried again later')
    .option(
      '--abandon',
      'end the rotation under way, before the service is lastStep of the new key',
    )
    .option('--json', 'print each step as JSON, one line each')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern key rotate --watch').action(rotate)
}

async function rotate(options: Options, command: Command): Promise<void> {
  if (options.abandon === true && options.watch === true) {
    throw new OperatorError(
      'usage',
      'expected --watch or --abandon, not both',
      '`postern key rotate --help` says what each does',
    )
  }
  const stop = shutdownRequested()
  await withSidecar(command, async (sidecar) => {
    if (options.abandon === true) return printStep(await sidecar.keyAbandon(), options)
    await sidecar.keyRotate()
    await follow(sidecar, options, stop)
  })
}

/** Tells each step, until it ends or must wait for the service. */
async function follow(sidecar: Operations, options: Options, stop: Promise<void>): Promise<void> {
  let lastStep = ''
  while (!shutdownSignal.aborted) {
    const report = await sidecar.keyRotation()
    if (report === null) throw new OperatorError('failed', 'the rotation is gone', AGAIN)
    const step = `${report.phase} ${report.attempts} ${report.detail}`
    if (step !== lastStep) printStep(report, options)
    lastStep = step
    if (report.endedAt !== null) return
    if (report.phase === 'waiting' && options.watch !== true) throw unfinished(report)
    await Promise.race([elapsed(LOOK_MS), stop])
  }
  printNotice('the rotation goes on without being watched')
}

function printStep(report: RotationReport, { json }: Options): void {
  const { phase, detail, nextAttemptAt, from, to } = report
  if (json === true) return printJson(report)
  const next = nextAttemptAt === null ? '' : `, tried again at ${nextAttemptAt}`
  if (phase === 'abandoned') return printNotice(`abandoned; ${from} stays the bot’s key`)
  if (phase !== 'done') return printNotice(`${phase}: ${detail}${next}`)
  printNotice(`done; ${from} goes on opening what is late`)
  print(to)
}

const AGAIN = 'run postern key list, and see the log'

function unfinished({ detail, nextAttemptAt }: RotationReport): OperatorError {
  const when = nextAttemptAt === null ? 'later' : `at ${nextAttemptAt}`
  return new OperatorError(
    'failed',
    `the rotation is not finished: ${detail}`,
    `a running sidecar tries again ${when}, and a starting one at once; ` +
      '--watch follows it, --abandon ends it where it still can be',
  )
}
