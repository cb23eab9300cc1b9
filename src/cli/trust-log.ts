import { Command } from 'commander'
import type { LogRow } from '../control/trust.ts'
import { OperatorError } from '../errors.ts'
import { takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printTable } from './table.ts'
import { printJsonLine } from './terminal.ts'

/** Entries per request. */
const PAGE = 1000

interface TrustLogFlags {
  since?: string
  json?: boolean
}

/** `postern trust log`: every change, in the order in which it was written down. */
export function trustLogCommand(): Command {
  const command = new Command('log')
    .description('print all changes of certificates, key lists and trust, oldest first')
    .option('--since <date>', 'from this day or time on, such as 2026-01-31')
    .option('--json', 'print one JSON object per line')
  return takeSettings(command, 'postern trust log --json > trust.ndjson').action(log)
}

async function log({ since, json }: TrustLogFlags, command: Command): Promise<void> {
  const sinceMs = readDate(since)
  await withSidecar(command, async (sidecar) => {
    let afterId = 0
    for (;;) {
      const rows = await sidecar.trustLog({ afterId, sinceMs, limit: PAGE })
      if (json === true) for (const row of rows) printJsonLine(row)
      else printTable(rows.map(cells))
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) return
      afterId = last.id
    }
  })
}

function cells({ at, kind, userId, chatId, detail }: LogRow): string[] {
  const who = [userId === null ? '' : `person ${userId}`, chatId === null ? '' : `chat ${chatId}`]
  const more = Object.entries(detail).map(([name, value]) => `${name} ${formatValue(value)}`)
  return [at, kind, who.filter(Boolean).join(', ') || 'the bot', more.join('; ')]
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'nobody'
  if (value === null) return 'as in the setting'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function readDate(text: string | undefined): number {
  if (text === undefined) return 0
  const ms = Date.parse(text)
  if (!Number.isNaN(ms)) return ms
  throw new OperatorError(
    'usage',
    'this is not a date',
    'write it like 2026-01-31 or 2026-01-31T12:00Z',
  )
}
