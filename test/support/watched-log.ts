import { pino, stdSerializers, type Logger } from 'pino'
import { canaries } from './canaries.ts'

const { err } = stdSerializers

/**
 * A log at `trace` for what runs inside the test's own process. It cleans nothing, so that it holds
 * whatever the code hands to it, and it is searched like the log of a process.
 * @param line is told every line, parsed
 */
export function watchedLog(line: (fields: Record<string, unknown>) => void = () => {}): Logger {
  const lines: string[] = []
  canaries()?.watch('a log in the test’s own process', () => lines.join(''))
  return pino(
    { level: 'trace', base: null, serializers: { err, error: err } },
    {
      write: (text: string) => {
        lines.push(text)
        line(JSON.parse(text) as Record<string, unknown>)
      },
    },
  )
}
