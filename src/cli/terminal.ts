/**
 * The only writer to the terminal. stdout is data, stderr is for people. Messages start in lower case
 * and end without a full stop; `postern:` begins a refusal, `hint:` what to do about it.
 */
import { once } from 'node:events'
import { createReadStream, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { OperatorError, PosternError, Refusal, resultOr } from '../errors.ts'
import { REFUSAL_EXIT_CODES, type ExitCode } from '../operator-refusals.ts'
import { oneLine, printableJson, stripControls } from '../printable.ts'

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
 * Prints a line for the person, on stderr. Where it has more lines, they are indented: none of them
 * resembles a refusal or hint of ours.
 */
export function printNotice(line: string): void {
  process.stderr.write(`${asTyped(stripControls(line)).replace(/\n(?! {2})/g, '\n  ')}\n`)
}

/** Whether a person can be asked: stdin and stderr are terminals. */
export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Where questions are printed: stderr, not among the data. */
export const promptOutput: NodeJS.WriteStream = process.stderr

/** How many columns stdout has; 80 where it is no terminal. */
export const terminalWidth = (): number => process.stdout.columns || 80

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
    if (stream.writableLength > 0) {
      await new Promise((resolve) => {
        stream.once('close', resolve)
        stream.write('', () => {
          stream.off('close', resolve)
          resolve(undefined)
        })
      })
    }
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
    if (hint !== null) printNotice(`hint: ${hint}`)
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

/**
 * A text whose commands in backticks can be typed as they are, for any way of starting Postern: in
 * a clone there is no command \`postern\`.
 */
export const asTyped = (text: string): string =>
  text.replace(/`postern (?=[a-z<-])/g, `\`${invocation()} `)

/** The same for a line that is a command: `postern key show | gpg --import`. */
export const commandLine = (line: string): string => line.replace(/^postern(?= )/, invocation())

/** What starts Postern where this process was started. */
function invocation(): string {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const bin = join(root, 'bin', 'postern.cjs')
  const started = resultOr(() => realpathSync(process.argv[1] ?? ''), null)
  if (!import.meta.url.endsWith('.ts') || started !== bin) return 'postern'
  if (`${process.cwd()}/`.startsWith(root)) return 'npm run -s postern --'
  return /\s/.test(bin) ? `node '${bin}'` : `node ${bin}`
}

/** Colours a word, or a line of a picture, when stdout is a terminal that wants it. */
export function colourText(colour: 'green' | 'yellow' | 'red' | 'dim' | 'picture', text: string) {
  const stream = process.stdout
  return styleText(colour === 'picture' ? ['black', 'bgWhiteBright'] : colour, text, { stream })
}
