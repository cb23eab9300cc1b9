/** `postern trust log`: the journal of trust, printed, followed and verified. */
import type { LogRow } from '../operators/trust.ts'
import type { Operations } from '../operators/operations.ts'
import type { Sources } from '../config/sources.ts'
import { failedError, OperatorError, usageError } from '../errors.ts'
import { connectServing, findSidecar, OperatorCommand } from './operator-command.ts'
import { printAnswer, withSidecar } from './operator-command.ts'
import { readInput } from './files.ts'
import type { Switches } from './flags.ts'
import { handleShutdown, pauseUntilShutdown, shutdownSignal } from './signals.ts'
import { printTable } from './table.ts'
import { print, printJsonLine, printNotice } from './terminal.ts'

const FOLLOW_MS = 1000
const MAX_HEAD_BYTES = 65_536

/** Where the printed part begins. */
interface Beginning {
  sinceMs: number
  after: number
}

type LogFlags = Switches<'follow' | 'verify' | 'json'> & { since?: Beginning; head?: string | true }

export const logCommand = (): OperatorCommand =>
  new OperatorCommand('log')
    .description('print all changes of certificates, key lists and trust, oldest first')
    .option('--since <when>', 'from this entry, day or time on: 4711, 2026-01-31', readSince)
    .option('--follow', 'print new ones as they come, until stopped')
    .option('--verify', 'recompute the chain and its heads instead; exits with 1 for a change')
    .option('--head [file]', 'print the last entry, signed; with --verify: compare with this one')
    .option('--json', 'print one JSON object per line')
    .example('postern trust log --verify --head head.asc')
    .runs(async (sources, { since, follow, verify, head, json = false }: LogFlags) => {
      const from = since ?? { sinceMs: 0, after: 0 }
      if (verify === true) return await verifyLog(sources, head, json)
      if (head !== undefined) {
        if (head !== true) throw usageError('--head takes a file only with --verify', 'omit it')
        return print((await withSidecar(sources, (sidecar) => sidecar.trustLogHead())).signed)
      }
      if (follow === true) return await followLog(sources, from, json)
      await withSidecar(sources, (sidecar) => printFrom(sidecar, from, { json }))
    })

const printFrom = (
  sidecar: Operations,
  { sinceMs, after }: Beginning,
  o: { json: boolean; isFollowed?: boolean },
): Promise<number> =>
  printJournal((range) => sidecar.trustLog({ sinceMs, ...range }), { ...o, after })

async function followLog(sources: Sources, from: Beginning, json: boolean): Promise<void> {
  await using sidecar = await connectServing(findSidecar(sources))
  if (sidecar === null) {
    const hint = 'start it with `postern run`; without --follow the journal is printed as it is'
    throw new OperatorError('not-running', 'no sidecar runs that could change anything', hint)
  }
  handleShutdown()
  let { after } = from
  while (!shutdownSignal.aborted) {
    after = await printFrom(sidecar, { ...from, after }, { json, isFollowed: true })
    await pauseUntilShutdown(FOLLOW_MS)
  }
}

async function verifyLog(sources: Sources, head: LogFlags['head'], json: boolean): Promise<void> {
  if (head === true) throw usageError('--verify --head needs a file', 'name a head kept elsewhere')
  const what = { maxBytes: MAX_HEAD_BYTES, what: 'a head' }
  const given = head === undefined ? null : (await readInput(head, what)).toString()
  const report = await withSidecar(sources, (sidecar) => sidecar.trustLogVerify({ head: given }))
  printAnswer(report, { json }, ({ lines }) => {
    for (const line of lines) print(line)
  })
  if (report.fault === null) return
  const { entry, what: fault } = report.fault
  throw failedError(
    `the journal was changed: entry ${entry}: ${fault}`,
    'compare it with a backup or with what you keep of it elsewhere (`postern trust log --json`)',
  )
}

/** Entries per request. */
const PAGE = 1000

/**
 * Prints all entries of a journal that `read` gives, page by page.
 * @returns the last one's id
 */
export async function printJournal(
  read: (range: { afterId: number; limit: number }) => Promise<LogRow[]>,
  { json, after = 0, isFollowed = false }: { json: boolean; after?: number; isFollowed?: boolean },
): Promise<number> {
  let afterId = after
  for (;;) {
    const rows = await read({ afterId, limit: PAGE })
    if (json) for (const row of rows) printJsonLine(row)
    else if (rows.length === 0 && afterId === 0 && !isFollowed) printNotice('nothing has changed')
    else printTable(rows.map(cells))
    const last = rows.at(-1)
    afterId = last?.id ?? afterId
    if (rows.length < PAGE) return afterId
  }
}

function cells({ at, kind, userId, chatId, detail }: LogRow): string[] {
  if ('forgotten' in detail) return [at, kind, 'forgotten', '']
  const who = [userId === null ? '' : `person ${userId}`, chatId === null ? '' : `chat ${chatId}`]
  const more = Object.entries(detail).map(([name, value]) => `${name} ${formatValue(value)}`)
  return [at, kind, who.filter(Boolean).join(', ') || 'the bot', more.join('; ')]
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'nobody'
  if (value === null) return 'as in the setting'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function readSince(text: string): Beginning {
  if (/^\d{1,15}$/.test(text)) return { sinceMs: 0, after: Math.max(Number(text) - 1, 0) }
  const sinceMs = Date.parse(text)
  if (!Number.isNaN(sinceMs)) return { sinceMs, after: 0 }
  const hint = 'write it like 4711, 2026-01-31 or 2026-01-31T12:00Z'
  throw usageError('this is no entry, and not a date', hint)
}
