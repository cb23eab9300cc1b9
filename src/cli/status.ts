import { Option } from 'commander'
import { loadDataDir } from '../config/store-access.ts'
import { connectControl } from '../operators/client.ts'
import type { BotsReport, StatusReport } from '../operators/reports.ts'
import { failedError, OperatorError } from '../errors.ts'
import { counted } from '../printable.ts'
import { printBots } from './bot.ts'
import { findSidecar, OperatorCommand, type JsonFlag } from './operator-command.ts'
import { pauseUntilShutdown, handleShutdown, shutdownSignal } from './signals.ts'
import { printTable, printWrapped } from './table.ts'
import { clearScreen, colourText, print, printJson, printNotice } from './terminal.ts'

const WATCH_MS = 2000

/** `postern status`: how the running sidecar is doing. */
export const statusCommand = (): OperatorCommand =>
  new OperatorCommand('status')
    .option('--watch', 'print it again every two seconds, until stopped')
    .option('--json', 'print it as JSON, one line each time')
    // Asks for what it always does; health checks of former versions give it.
    .addOption(new Option('--ready').conflicts('watch').hideHelp())
    .example('postern status --watch')
    .runs(async (given, { json: isJson = false, ...options }: JsonFlag & { watch?: boolean }) => {
      const sources = findSidecar(given)
      const dataDir = loadDataDir(sources)
      const readReport: ReadReport = () => fetchReport(dataDir, sources.bot)
      const report = await readReport()
      if (report === null) {
        const hint = 'start it with `postern run`, or name its data directory with --data-dir'
        throw new OperatorError('not-running', `no sidecar runs on ${dataDir}`, hint)
      }
      if (options.watch === true) return await watch(dataDir, isJson, readReport)
      printReport(report, { isJson })
      assertReady(report)
    })

/** Of one bot; of all, where there are several and none is named. */
type ShownReport = StatusReport | BotsReport
type ReadReport = () => Promise<ShownReport | null>

/** The running sidecar's report of itself; null when none runs. */
async function fetchReport(dataDir: string, bot: string | null): Promise<ShownReport | null> {
  await using sidecar = await connectControl(dataDir, undefined, bot)
  if (sidecar === null) return null
  try {
    return await sidecar.status()
  } catch (error) {
    const isUnnamed = bot === null && error instanceof OperatorError && error.code === 'usage'
    if (!isUnnamed) throw error
    return await sidecar.botList()
  }
}

function printReport(report: ShownReport, { isJson }: { isJson: boolean }): void {
  if (isJson) return printJson(report)
  print(report.ready ? colourText('green', 'ready') : colourText('red', 'not ready'))
  if ('bots' in report) printSeveral(report)
  else printStatus(report)
}

/** Which process answered. */
const processRow = ({ version, pid, startedAt }: ShownReport): string[] => [
  'sidecar',
  `version ${version}, process ${pid}, since ${startedAt}`,
]

function printSeveral(report: BotsReport): void {
  printReasons([], report.warnings)
  printTable([processRow(report)])
  printBots(report.bots)
}

/** Shows it until stopped, also over restarts of the sidecar. */
async function watch(dataDir: string, isJson: boolean, readReport: ReadReport): Promise<void> {
  handleShutdown()
  while (!shutdownSignal.aborted) {
    const report = await readReport().catch(() => null)
    // It may stop while it answers.
    if (shutdownSignal.aborted) return
    if (!isJson) clearScreen()
    if (report === null) printNotice(`no sidecar runs on ${dataDir} just now`)
    else printReport(report, { isJson })
    if (!isJson)
      printNotice(`as of ${new Date().toISOString()}; updated every two seconds, until Ctrl-C`)
    await pauseUntilShutdown(WATCH_MS)
  }
}

function assertReady(report: ShownReport): void {
  if (report.ready) return
  const reasons = 'bots' in report ? report.bots.flatMap((bot) => bot.reasons) : report.reasons
  throw failedError(
    `the sidecar is not ready: ${[...new Set(reasons.map(({ code }) => code))].join(', ')}`,
    reasons[0]?.hint ?? 'try again in a moment',
  )
}

function printReasons(reasons: StatusReport['reasons'], warnings: StatusReport['warnings']): void {
  const all = [...reasons, ...warnings.map((one) => ({ ...one, code: `warning, ${one.code}` }))]
  for (const { code, message, hint, sinceMs } of all) {
    const since = new Date(sinceMs).toISOString()
    printWrapped(`${code}: ${message} (since ${since})`, { first: '  ', indent: 4 })
    printWrapped(hint, { first: '    ', indent: 4 })
  }
}

function printStatus(report: StatusReport): void {
  const { bot, key, upstream, chats, updates, calls } = report
  printReasons(report.reasons, report.warnings)
  printTable([
    processRow(report),
    ['bot', bot === null ? 'not known yet' : `@${bot.username}, id ${bot.id}, ${bot.mode}`],
    ['published', bot?.fingerprint ?? 'no key'],
    ['our key', key === null ? 'none' : `${key.fingerprint}, ${key.state}`],
    rotationRow(report),
    ['service', `${upstream.url}, ${upstream.reachable ? 'reachable' : 'not reachable'}`],
    ['chats', `${chats.known} known, ${chats.latched} latched, ${chats.refused} refused`],
    ['webhook', webhookLine(report.webhook)],
    ['updates', waitingLine(updates)],
    ['own calls', `${calls.usedLastMinute} of ${calls.limit} in the last minute`],
  ])
}

function waitingLine({ waiting, oldestSeconds }: StatusReport['updates']): string {
  if (waiting === null) return 'not known yet'
  const oldest = oldestSeconds === null ? '' : `, the oldest for ${oldestSeconds} s`
  return `${waiting} waiting${oldest}`
}

function webhookLine(webhook: StatusReport['webhook']): string {
  if (webhook === null) return 'none is set here'
  const { origin, failures, lastError, nextAttemptAt } = webhook
  if (failures === 0) return `${origin}, works`
  const next = nextAttemptAt === null ? 'now' : `at ${nextAttemptAt}`
  return `${origin}, ${counted(failures, 'failure')} in a row, the last: ${lastError}; next try ${next}`
}

function rotationRow({ rotation }: StatusReport): string[] | null {
  if (rotation === null) return null
  const { phase, to, detail, nextAttemptAt, endedAt } = rotation
  const when = endedAt === null ? '' : `, ${endedAt}`
  const next = nextAttemptAt === null ? '' : `, tried again at ${nextAttemptAt}`
  return ['rotation', `${phase}${detail === '' ? '' : ` (${detail})`} to ${to}${when}${next}`]
}
