/** A command at a terminal: a real one, made by `script` (util-linux), with somebody who types. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { isInstalled } from './openpgp-run.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export const KEYS = { enter: '\r', down: '\u001B[B', end: '\u0003' }

export const hasTerminals = (): boolean => isInstalled('script')

export interface Terminal {
  /** Resolves once this stands on the screen, after what was waited for before. */
  shows: (text: string) => Promise<void>
  types: (keys: string) => void
  /** Exit code, and all that was ever on the screen. */
  ended: Promise<{ code: number | null; screen: string }>
}

/** Starts `postern` at a terminal of its own; it is killed when the test is over. */
export function atTerminal(args: string[], o: { cwd: string; env?: object }): Terminal {
  const command = [process.execPath, MAIN, ...args].map(quote).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--flush', '-c', command, '/dev/null'], {
    cwd: o.cwd,
    env: { PATH: '/usr/bin:/bin', HOME: o.cwd, TERM: 'xterm', ...o.env },
  })
  let screen = ''
  let seen = 0
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      screen += stripVTControlCharacters(text)
      for (const look of waiting) look()
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, screen }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const shows = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const at = screen.indexOf(text, seen)
        if (at === -1) return
        seen = at + text.length
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
      void ended.then(() => reject(new Error(`it ended without "${text}": ${screen}`)))
    })
  return { shows, types: (keys) => child.stdin.write(keys), ended }
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
