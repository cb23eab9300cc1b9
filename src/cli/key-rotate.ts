import type { Operations } from '../operators/operations.ts'
import type { RotationReport } from '../operators/reports.ts'
import { failedError, OperatorError, usageError } from '../errors.ts'
import { withSidecar } from './connect.ts'
import { OperatorCommand, type JsonFlag } from './operator-command.ts'
import { pauseUntilShutdown, handleShutdown, shutdownSignal } from './signals.ts'
import { print, printJson, printNotice } from './terminal.ts'

const LOOK_MS = 100

type RotateFlags = JsonFlag & { watch?: boolean; abandon?: boolean; algorithm?: 'classic' | 'pqc' }

/** `postern key rotate`: replaces the published key by a new one. */
export const keyRotateCommand = (): OperatorCommand =>
  new OperatorCommand('rotate')
    .description('replace the bot’s key by a new one, and print the new fingerprint')
    .option('--watch', 'follow it to the end, retries included')
    .option(
      '--abandon',
      'end the rotation under way, if the service has not been sent the new key yet',
    )
    .choice('--algorithm <kind>', 'of the new key, instead of `key.algorithm`', ['classic', 'pqc'])
    .option('--json', 'print each step as JSON, one line each')
    .example('postern key rotate --watch')
    .runs(async (sources, options: RotateFlags) => {
      if (options.abandon === true && options.watch === true) {
        const hint = '`postern key rotate --help` explains both'
        throw usageError('expected --watch or --abandon, not both', hint)
      }
      handleShutdown()
      await withSidecar(sources, async (sidecar) => {
        if (options.abandon === true) return printStep(await sidecar.keyAbandon(), options)
        await sidecar.keyRotate({ algorithm: options.algorithm })
        await follow(sidecar, options)
      })
    })

/** Prints each step, until the rotation ends or must wait for the service. */
async function follow(sidecar: Operations, options: RotateFlags): Promise<void> {
  let lastStep = ''
  while (!shutdownSignal.aborted) {
    const report = await sidecar.keyRotation()
    if (report === null) {
      throw failedError('the rotation is gone', 'run `postern key list`, and see the log')
    }
    const step = `${report.phase} ${report.attempts} ${report.detail}`
    if (step !== lastStep) printStep(report, options)
    lastStep = step
    if (report.endedAt !== null) return
    if (report.phase === 'waiting' && options.watch !== true) throw unfinished(report)
    await pauseUntilShutdown(LOOK_MS)
  }
  printNotice('the rotation goes on in the background')
}

function printStep(report: RotationReport, { json }: RotateFlags): void {
  const { phase, detail, nextAttemptAt, from, to } = report
  if (json === true) return printJson(report)
  const next = nextAttemptAt === null ? '' : `, tried again at ${nextAttemptAt}`
  if (phase === 'abandoned') return printNotice(`abandoned; ${from} stays the bot’s key`)
  if (phase !== 'done') return printNotice(`${phase}: ${detail}${next}`)
  printNotice(`done; ${from} still opens late messages`)
  print(to)
}

function unfinished({ detail, nextAttemptAt }: RotationReport): OperatorError {
  const when = nextAttemptAt === null ? 'later' : `at ${nextAttemptAt}`
  return failedError(
    `the rotation is not finished: ${detail}`,
    `a running sidecar tries again ${when}, a starting one at once; ` +
      '--watch follows it, --abandon ends it if that is still possible',
  )
}
