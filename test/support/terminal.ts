/** A person at a terminal: a program on a pseudo-terminal of its own (script(1)), and its answers. */
import { isInstalled, spawn } from './programs.ts'
import { stripVTControlCharacters } from 'node:util'
import { mortal } from './mortal.ts'

/** Whether there can be terminals here. */
export const hasTerminals = isInstalled('script')

/** What the person sees, and then types. */
export interface Answer {
  when: RegExp
  types: string
}

/**
 * Runs a command at a terminal and answers what it asks, in order.
 * @returns its exit code and all that stood on the screen, without colours and movements
 */
export async function atTerminal(
  command: readonly string[],
  answers: readonly Answer[],
  o: { cwd?: string; env: Record<string, string> },
): Promise<{ code: number | null; screen: string }> {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  const args = ['--quiet', '--flush', '--return', '--command', quoted, '/dev/null']
  const child = spawn(...mortal('script', args), {
    ...(o.cwd === undefined ? {} : { cwd: o.cwd }),
    env: { TERM: 'dumb', SHELL: '/bin/sh', ...o.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let screen = ''
  let seen = 0
  const waiting = [...answers]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += stripVTControlCharacters(text)
    for (let next = waiting[0]; next; next = waiting[0]) {
      const match = next.when.exec(screen.slice(seen))
      if (!match) return
      waiting.shift()
      seen += match.index + match[0].length
      child.stdin.write(next.types)
    }
  })
  child.stdin.on('error', () => {})
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, screen }
}
