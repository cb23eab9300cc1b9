/**
 * The only writer to the terminal. stdout is data, stderr is for people. Messages start in lower case
 * and end without a full stop; `postern:` begins a refusal, `hint:` what to do about it.
 */
import { once } from 'node:events'
import { createReadStream, existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { styleText } from 'node:util'
import { wrapAnsi } from 'fast-wrap-ansi'
import { placeOf } from '../config/files.ts'
import { OperatorError, PosternError, Refusal, resultOr } from '../errors.ts'
import { REFUSAL_EXIT_CODES, type ExitCode } from '../operator-refusals.ts'
import { oneLine, printableJson, stripControls } from '../printable.ts'
import { quotePath } from '../util/file-owners.ts'

/** Of a terminal that does not know its width. */
const COLUMNS = 80

/** A reader that went away (`postern key list | head -1`) is no failure. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

/** Prints data to stdout; a missing last newline is added. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints a person's text to stdout: as it is, but without control characters at a terminal. */
export const printText = (text: string): void =>
  print(process.stdout.isTTY ? stripControls(text) : text)

/** Begins a new screen, where stdout is a terminal. */
export function clearScreen(): void {
  if (process.stdout.isTTY) process.stdout.write('\u001B[H\u001B[2J')
}

/**
 * Prints a line for the person, on stderr, at a terminal wrapped to its width. Where it has more
 * lines, they are indented: none of them resembles a refusal or hint of ours.
 */
export const printNotice = (line: string): void => writeNotice(line)

/** @param hasCommands indented lines are commands to copy, and stay whole */
function writeNotice(text: string, hasCommands = false): void {
  const width = process.stderr.isTTY ? process.stderr.columns || COLUMNS : Infinity
  const lines = asTyped(stripControls(text)).split('\n')
  const shown = lines.map((line, at) => {
    if (hasCommands && line.startsWith('  ')) return line
    return wrapLine(at === 0 || line.startsWith('  ') ? line : `  ${line}`, width)
  })
  process.stderr.write(`${shown.join('\n')}\n`)
}

/** Wraps a line; what follows of it is indented by two more. */
export function wrapLine(line: string, width: number): string {
  if (line.length <= width) return line
  const [indent = ''] = /^ */.exec(line) ?? []
  const lines = wrapText(line.slice(indent.length), width - indent.length - 2)
  return indent + lines.join(`\n${indent}  `)
}

/** Wraps between words. Commands in backticks and long words stay whole, so that they can be copied. */
export function wrapText(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return [text]
  const whole = text.replace(/`[^`]*`/g, (command) => command.replaceAll(' ', '\u00a0'))
  return wrapAnsi(whole, Math.max(1, width)).replaceAll('\u00a0', ' ').split('\n')
}

/** Whether a person can be asked: stdin and stderr are terminals. */
export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Where questions are printed: stderr, not among the data. */
export const promptOutput: NodeJS.WriteStream = process.stderr

/** How many columns stdout has; 80 where it is no terminal. */
export const terminalWidth = (): number => process.stdout.columns || COLUMNS

/** Whether what `print` prints goes to a terminal. */
export const isStdoutTerminal = (): boolean => process.stdout.isTTY

/** Sends a file to stdout, byte for byte. */
export async function printFile(path: string): Promise<void> {
  for await (const chunk of createReadStream(path)) {
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
  }
}

/** Resolves once everything was written, or its reader is gone. */
export async function flush(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    stream.once('close', resolve).write('', resolve)
    await promise
  }
}

/** Prints a value as JSON to stdout: one line, or indented when stdout is a terminal. */
export const printJson = (value: unknown): void =>
  print(printableJson(value, process.stdout.isTTY ? 2 : undefined))

/** Prints a value as one line of JSON to stdout, also at a terminal. */
export const printJsonLine = (value: unknown): void => print(printableJson(value))

/**
 * Prints why a command failed. Of any other error than a PosternError only the name is shown,
 * because its message may hold anything.
 */
export function printError(error: unknown): void {
  if (error instanceof PosternError) {
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : null
    printNotice(`postern: ${error.message}`)
    if (hint !== null) writeNotice(`hint: ${hint}`, true)
    printNotice(`code: ${oneLine(error.code)}`)
  } else {
    const name = error instanceof Error ? error.name : typeof error
    printNotice(`postern: internal failure (${oneLine(name)})`)
    printNotice('hint: this is a fault of Postern; log.level: debug logs what led to it')
  }
}

/** The exit code for an error; 1 for one that is not in the tables of `operator-refusals.ts`. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof OperatorError) return error.exitCode
  return (error instanceof Refusal ? REFUSAL_EXIT_CODES[error.code] : undefined) ?? 1
}

/** Flags that lead another command to the same settings, and the commands that do not know them. */
const KEPT = {
  config: /^(demo|dev|sandbox|[^a-z])/,
  bot: /^(demo|dev|sandbox|[^a-z]|agent|bot|config|init|run)/,
}
let kept: Readonly<Record<string, unknown>> = {}

/** From now on commands in texts have the flags among these that lead to the same settings. */
export const keepFlags = (flags: typeof kept): void => void (kept = flags)

/** A text whose commands in backticks can be typed as they are, however Postern was started. */
export const asTyped = (text: string): string =>
  text.replace(/`(postern [a-z<-][^`]*)/g, (_, line: string) => `\`${commandLine(line)}`)

/** The same for a line that is a command: `postern key show | gpg --import`. */
export const commandLine = (line: string): string =>
  line.replace(/^postern (?=(\S+))/, (_, command: string) => {
    const flags = Object.entries(KEPT).map(([name, without]) => {
      const value = kept[name]
      return typeof value !== 'string' || without.test(command)
        ? ''
        : `--${name} ${quotePath(value)} `
    })
    return `${invocation()} ${flags.join('')}`
  })

const OURS = /[\\/](?:bin[\\/]postern\.cjs|dist[\\/]main\.js)$/

/** What starts Postern again where this process was started. */
function invocation(): string {
  const started = process.argv[1] ?? ''
  const file = resultOr(() => realpathSync(started), started)
  const [, folder, bin] = /^(.*)[\\/]node_modules[\\/](\.bin|postern)[\\/]/.exec(started) ?? []
  if (!OURS.test(file) || (basename(started) === 'postern' && bin !== '.bin')) return 'postern'
  // Elsewhere npx would offer a package of that name from the registry.
  if (npmFolder(process.cwd()) === folder) return 'npx postern'
  return `node ${quotePath(placeOf(file, process.cwd()))}`
}

/** The folder whose packages npm uses in a folder. */
function npmFolder(folder: string): string {
  const isOne = ['package.json', 'node_modules'].some((name) => existsSync(join(folder, name)))
  return isOne || dirname(folder) === folder ? folder : npmFolder(dirname(folder))
}

/** Colours a word, or a line of a picture, when stdout is a terminal that wants it. */
export function colourText(colour: 'green' | 'yellow' | 'red' | 'dim' | 'picture', text: string) {
  const stream = process.stdout
  return styleText(colour === 'picture' ? ['black', 'bgWhiteBright'] : colour, text, { stream })
}
