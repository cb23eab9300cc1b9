/** Runs scripts: text files in which each line does something, or says what must be so. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import { runInProcess, start, type Ended, type Started } from '../cli/support.ts'
import { COMPILED, mainFile } from './postern-process.ts'
import { run, works } from './programs.ts'
import { atTerminal, hasTerminals, type Answer } from './terminal.ts'

/** A word of a line. In quotes it is left as it is, unless it is a pattern. */
interface Word {
  raw: string
  isQuoted: boolean
}

/** What a line does; a line that can be negated gives whether it is so, once or of each word. */
export type Verb = (script: Script, words: Word[], rest: string) => unknown

/** Ends a script early: what it needs is not there. */
class SkipError extends Error {}

export class Script {
  /** The folder in which commands run, which holds the script's files; `$WORK` in its lines. */
  readonly work = mkdtempSync(`${tmpdir()}/script-`)
  readonly env: Record<string, string> = {
    WORK: this.work,
    NODE: process.execPath,
    MAIN: mainFile(),
  }
  readonly background = new Map<string, Started>()
  /** How the last command ended, and what it printed. */
  last: Ended = { code: 0, stdout: '', stderr: '' }
  input = ''
  readonly answers: Answer[] = []

  environment(): Record<string, string> {
    return { PATH: '/usr/bin:/bin', HOME: this.work, ...this.env }
  }

  text({ raw, isQuoted }: Word): string {
    return isQuoted ? raw : this.expand(raw)
  }

  path(word: Word): string {
    return resolve(this.work, this.text(word))
  }

  /** Matches line by line; the value of a `$NAME` in it stands for itself. */
  pattern({ raw }: Word): RegExp {
    return new RegExp(this.expand(raw, escaped), 'm')
  }

  expand(text: string, escape: (value: string) => string = String): string {
    return text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (_all, bare?: string, braced = '') => {
      const name = bare ?? braced
      const value = this.env[name]
      if (value === undefined) throw new Error(`$${name} has no value`)
      return escape(value)
    })
  }

  /** The output of the last command, or a file. */
  read(word: Word): string {
    const { raw } = word
    return raw === 'stdout' || raw === 'stderr'
      ? this.last[raw]
      : readFileSync(this.path(word), 'utf8')
  }

  started(word: Word | undefined): Started {
    const found = this.background.get(word?.raw ?? '')
    if (!found) throw new Error(`nothing was started as ${word?.raw}`)
    return found
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
const mode = (path: string): string => (statSync(path).mode & 0o7777).toString(8)
const matches = (s: Script, text: string, words: Word[]): boolean[] =>
  words.map((word) => s.pattern(word).test(text))

/** Reads `{"a": "~x"}` as an object whose `a` matches x. */
const expected = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith('~')
      ? expect.stringMatching(new RegExp(value.slice(1)))
      : value,
  )

const STRANGER = ['--reuid=12345', '--regid=12345', '--clear-groups', process.execPath]
const NEEDS: Record<string, boolean> = {
  root: process.getuid?.() === 0,
  terminal: hasTerminals,
  /** To run Postern as a user without an entry in /etc/passwd. */
  get stranger() {
    return works('root', 'setpriv', ...STRANGER, mainFile(), '--version')
  },
}

async function exec(s: Script, words: Word[]): Promise<boolean | undefined> {
  const name = /^&(\w+)$/.exec(words.at(-1)?.raw ?? '')?.[1]
  const [program = '', ...args] = (name ? words.slice(0, -1) : words).map((word) => s.text(word))
  const { input } = s
  s.input = ''
  const given = { cwd: s.work, env: { ...s.env }, input }
  if (name) {
    const started = start(args, given)
    s.background.set(name, started)
    s.env['PID'] = String(started.process.pid)
    return undefined
  }
  if (program === 'postern') s.last = await start(args, given).ended
  else {
    const ran = await run(program, args, { ...given, env: s.environment() })
    s.last = { ...ran, stdout: ran.stdout.toString() }
  }
  return s.last.code === 0
}

const VERBS: Record<string, Verb> = {
  exec,
  postern: async (s, words) => {
    const before = process.cwd()
    process.chdir(s.work)
    try {
      s.last = await runInProcess(
        words.map((word) => s.text(word)),
        { HOME: s.work, ...s.env },
      )
    } finally {
      process.chdir(before)
    }
    return s.last.code === 0
  },
  terminal: async (s, words) => {
    const command = [process.execPath, mainFile(), ...words.map((word) => s.text(word))]
    const given = { cwd: s.work, env: { NODE_COMPILE_CACHE: COMPILED, ...s.environment() } }
    const { code, screen } = await atTerminal(command, s.answers.splice(0), given)
    s.last = { code, stdout: screen, stderr: '' }
    return code === 0
  },
  wait: async (s, [name]) => {
    s.last = await s.started(name).ended
    return s.last.code === 0
  },
  kill: (s, [signal, name]) => void s.started(name).process.kill(signal?.raw as NodeJS.Signals),
  until: async (s, [name, stream, pattern]) => {
    const { waitForStdout, waitForStderr } = s.started(name)
    const wait = stream?.raw === 'stdout' ? waitForStdout : waitForStderr
    const late = pause(30_000, null, { ref: false }).then(() =>
      Promise.reject(new Error('30 s have passed')),
    )
    const [all, first = all] = await Promise.race([wait(s.pattern(pattern!)), late])
    s.env['FOUND'] = first
  },
  eventually: async (s, [pattern, name, ...words]) => {
    const isSo = async () => {
      await VERBS[name!.raw]?.(s, words, '')
      return s.pattern(pattern!).test(s.last.stdout)
    }
    await vi.waitUntil(isSo, { timeout: 20_000, interval: 100 })
  },
  stdin: (s, [file]) => void (s.input = s.read(file!)),
  types: (s, [when, text]) =>
    void s.answers.push({ when: s.pattern(when!), types: JSON.parse(`"${s.expand(text!.raw)}"`) }),
  env: (s, words) => {
    for (const word of words) {
      const [name = '', ...value] = s.text(word).split('=')
      s.env[name] = value.join('=')
    }
  },
  unset: (s, words) => words.forEach(({ raw }) => delete s.env[raw]),
  save: (s, [name, from, pattern]) => {
    const text = s.read(from!)
    const value = pattern ? s.pattern(pattern).exec(text)?.[1] : text.trim()
    if (!value) throw new Error(`nothing is to be saved in ${text}`)
    s.env[name!.raw] = value
  },
  stdout: (s, words) => matches(s, s.last.stdout, words),
  stderr: (s, words) => matches(s, s.last.stderr, words),
  grep: (s, [file, ...words]) => matches(s, s.read(file!), words),
  empty: (s, words) => words.map((word) => s.read(word) === ''),
  cmp: (s, [one, other]) => s.read(one!) === s.read(other!),
  json: (s, _words, rest) => {
    expect(JSON.parse(s.last.stdout)).toMatchObject(expected(s.expand(rest)) as object)
  },
  exists: (s, words) => words.map((word) => existsSync(s.path(word))),
  files: (s, [folder, ...names]) =>
    expect(readdirSync(s.path(folder!)).toSorted()).toEqual(names.map((word) => s.text(word))),
  mode: (s, [bits, ...paths]) => paths.map((path) => mode(s.path(path)) === bits?.raw),
  keep: (s, [file]) => writeFileSync(s.path(file!), s.last.stdout, { mode: 0o600 }),
  needs: (_s, [what]) => {
    if (!NEEDS[what!.raw]) throw new SkipError(what!.raw)
  },
}

/** Expects what every refusal prints: nothing on stdout, and what to do on stderr. */
function expectRefusal({ stdout, stderr }: Ended, reason: RegExp): void {
  expect(stdout).toBe('')
  expect(stderr).toMatch(reason)
  expect(stderr).toMatch(/^postern: [^A-Z][^]*[^.]\nhint: [^]*[^.]\ncode: \S+\n$/m)
}

/** A verb and its words; before it what must come of it: that it fails, how, and why. */
const LINE = /^(?:(?:(!)|exits (\d+)) (?:'([^']*)' )?)?([a-z]\w*) ?(.*)$/

function wordsOf(line: string): Word[] {
  if (line.split("'").length % 2 === 0) throw new Error('a quote is not closed')
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([raw]) => ({
    raw: raw.replaceAll("'", ''),
    isQuoted: raw.includes("'"),
  }))
}

/** The behaviour in a sentence: a script's first line. */
export const sentenceOf = (file: string): string =>
  readFileSync(file, 'utf8').split('\n')[0]!.replace(/^# /, '')

/** Runs a script. @returns what it needs, where that is not there */
export async function runScript(file: string, more: Record<string, Verb>): Promise<string | null> {
  const [text = '', ...files] = readFileSync(file, 'utf8').split(/^-- (.+) --\n/m)
  const script = new Script()
  onTestFinished(() => rmSync(script.work, { recursive: true, force: true }))
  for (let at = 0; at < files.length; at += 2) {
    const path = resolve(script.work, files[at]!)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, files[at + 1]!, { mode: 0o600 })
  }
  const verbs = { ...VERBS, ...more }
  for (const [index, line] of text.split('\n').entries()) {
    const [, not, code, reason, name = '', rest = ''] = LINE.exec(line) ?? []
    if (name === '') continue
    try {
      const verb = verbs[name]
      if (!verb) throw new Error(`there is no verb ${name}`)
      const are = [await verb(script, wordsOf(rest), rest)].flat()
      if (not && are.includes(undefined)) throw new Error(`${name} cannot be negated`)
      const isSo = code ? script.last.code === Number(code) : !are.includes(not === '!')
      if (!isSo || are.length === 0) throw new Error(`ended with ${script.last.code}`)
      if (reason) expectRefusal(script.last, script.pattern({ raw: reason, isQuoted: true }))
    } catch (error) {
      if (error instanceof SkipError) return error.message
      const { stdout, stderr } = script.last
      const where = `${basename(file)}:${index + 1}: ${line}`
      const printed = `--- stdout\n${stdout.slice(0, 4000)}--- stderr\n${stderr.slice(-4000)}`
      throw new Error(`${where}\n${(error as Error).message}\n${printed}`, { cause: error })
    }
  }
  return null
}
