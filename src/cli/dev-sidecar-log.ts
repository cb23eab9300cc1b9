import type { Activity } from './activity-printer.ts'

/** Levels of the log from which on somebody should look. */
const ERRORS = new Set<unknown>([50, 60, 'error', 'fatal'])
/** Fields that every line has. */
const COMMON = new Set(['level', 'time', 'msg'])

/** A line of the sidecar's log: its message and fields. @param line JSON */
export function describeLogLine(line: string): Activity {
  const fields = JSON.parse(line) as Record<string, unknown>
  const shown = Object.entries(fields)
    .filter(([name, value]) => !COMMON.has(name) && value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const message = String(fields['msg'])
  const isError = ERRORS.has(fields['level'])
  return {
    who: 'sidecar',
    text: shown.length === 0 ? message : `${message} (${shown.join(', ')})`,
    mark: isError ? { colour: 'red', text: '✗ error' } : { colour: 'yellow', text: 'warning' },
  }
}
