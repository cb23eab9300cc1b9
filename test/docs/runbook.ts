/** The commands of the documentation's runbooks, and a shell that runs them as they stand there. */
import { execFile } from '../support/programs.ts'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COMPILED, mainFile } from '../support/postern-process.ts'
import { readPages, type Page } from '../support/readme-tables.ts'
import type { Stage } from '../cli/secrets-stage.ts'

/** What stands under a heading, up to the next one. @throws Error unless one page alone has it */
function section(heading: string): string {
  const found = readPages().flatMap(({ text }) => {
    const [, ...sections] = text.split(new RegExp(`^##+ ${heading}$`, 'm'))
    return sections
  })
  const [own = '', ...others] = found
  if (own === '' || others.length > 0) throw new Error(`${found.length} headings say ${heading}`)
  return own.split(/\n##/)[0] ?? ''
}

/** The blocks of commands under a heading, a line each, comments left out. */
export function blocks(heading: string): string[][] {
  const found = [...section(heading).matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block ?? '')
  return found.map((block) => block.split('\n').filter((line) => line.trim() !== ''))
}

/** All of them, one after the other. */
export const commands = (heading: string): string[] => blocks(heading).flat()

/** Every block of commands of a page, with its name: page, heading, number below the heading. */
export function blocksOf({ path, text }: Page): { name: string; lines: string[] }[] {
  const found = [...text.matchAll(/^#+ (.+)$|^ *```(\w*)\n([^]*?)^ *```$/gm)]
  let under = ''
  let count = 0
  return found.flatMap(([, heading, language, block = '']) => {
    if (heading !== undefined) [under, count] = [heading, 0]
    if (language !== 'sh' && language !== 'console') return []
    count += 1
    const lines = typedIn(block.split('\n'), language === 'console')
    return [{ name: `${path} § ${under} ${count}`, lines }]
  })
}

/** What one types of a block: in a console, what stands behind a prompt. */
const typedIn = (lines: string[], isConsole: boolean): string[] =>
  lines.flatMap((line) => {
    const typed = isConsole ? (/^\$ (.*)$/.exec(line)?.[1] ?? '') : line
    return typed.trim() === '' ? [] : [typed]
  })

/**
 * Runs lines in a shell where `postern` is ours, and npm has its scripts.
 * @param o `more` environment; `typed` at them
 * @throws Error when one of them fails
 */
export async function shell(
  stage: Stage,
  lines: readonly string[],
  { more = {}, typed = '' }: { more?: Record<string, string>; typed?: string } = {},
) {
  const bin = stage.path('bin')
  mkdirSync(bin, { recursive: true })
  const command = [process.execPath, mainFile()].map((one) => `'${one}'`).join(' ')
  writeFileSync(join(bin, 'postern'), `#!/bin/sh\nexec ${command} "$@"\n`)
  chmodSync(join(bin, 'postern'), 0o755)
  // npm installs nothing there, and its scripts are those of package.json that start Postern
  const npm = `case "$*" in ci) ;; "run -s postern -- "*) shift 4; exec ${command} "$@" ;;
"run demo -- "*) shift 3; exec ${command} demo "$@" ;; *) exit 64 ;; esac`
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${npm}\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  const around = { PATH: `${bin}:/usr/bin:/bin`, HOME: stage.cwd, NODE_COMPILE_CACHE: COMPILED }
  const env = { ...stage.env(more), ...around }
  const script = ['set -eu', ...lines].join('\n')
  const running = promisify(execFile)('bash', ['-c', script], { cwd: stage.cwd, env })
  running.child.stdin?.end(typed)
  return await running
}
