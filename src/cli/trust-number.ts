/** `postern trust show` and `compare`: the safety number of a person, shown and compared. */
import { createInterface } from 'node:readline/promises'
import type { Sources } from '../config/sources.ts'
import { refusedError } from '../errors.ts'
import * as shown from '../operators/trust/show-number.ts'
import { OperatorCommand, printAnswer, printDone, withSidecar } from './operator-command.ts'
import { readInput, refuseExisting, writeNewFile } from './files.ts'
import type { Switches } from './flags.ts'
import * as terminal from './terminal.ts'

type NumberFlags = Switches<'json' | 'listed'>

/** More than a number has, with its blanks. */
const INPUT = { maxBytes: 4096, what: 'the number that the person’s app shows' }

/** `postern trust show` and `compare`. */
export const numberCommands = (): OperatorCommand[] => [
  numberCommand('show')
    .description('show the safety number of a person and the bot, as digits, words and a QR code')
    .option('-o, --output <file>', 'write the QR code to a new file, .svg or .png, instead')
    .option('--force', 'replace the file')
    .option('--json', 'print the number as JSON')
    .example('postern trust show 4711 --output number.svg')
    .runs(show),
  numberCommand('compare')
    .description('compare the number that a person’s app shows, and verify them if it is ours')
    .argument('[number...]', 'its digits, or the text of its QR code; `-` reads them from stdin')
    .option('--json', 'print the result as JSON')
    .example('postern trust compare @alice')
    .runs(compare),
]

const numberCommand = (name: string): OperatorCommand =>
  new OperatorCommand(name)
    .argument('<person>', 'which person: an id, or a handle')
    .option('--listed', 'of the certificate that the service lists now, where another is believed')

async function show(
  sources: Sources,
  person: string,
  flags: NumberFlags & { output?: string; force?: boolean },
): Promise<void> {
  const { output, force = false } = flags
  const kind = output === undefined ? null : shown.pictureKind(output)
  if (output !== undefined) refuseExisting(output, { force })
  const report = await reportOf(sources, person, flags)
  const { digits, text } = report
  if (output !== undefined && kind !== null) {
    const picture = await shown.qrFile(text, kind)
    return terminal.print(writeNewFile(output, { text: picture }, { force }))
  }
  if (flags.json === true) return terminal.printJson(report)
  shown.describeHolders(report).forEach(terminal.printNotice)
  for (const line of shown.digitLines(digits)) terminal.print(line)
  if (terminal.isStdoutTerminal()) await printPicture(text)
  terminal.printNotice(shown.INVITATION)
  for (const line of shown.spokenLines(digits)) terminal.printNotice(`  ${line}`)
  terminal.printNotice(`then have them read theirs: \`postern trust compare ${report.userId}\``)
}

/** The number of a person who is named by id or handle. */
const reportOf = (sources: Sources, person: string, { listed: isListed = false }: NumberFlags) =>
  withSidecar(sources, (sidecar) => sidecar.trustNumber({ person, isListed }))

/** Black on white where the terminal has colours, else for light letters on a dark ground. */
async function printPicture(text: string): Promise<void> {
  const isInverted = terminal.colourText('picture', 'x') === 'x'
  const lines = await shown.qrLines(text, { isInverted })
  if ((lines[0]?.length ?? 0) > terminal.terminalWidth()) {
    return terminal.printNotice('the terminal is too narrow for the QR code: see --output')
  }
  for (const line of lines) terminal.print(terminal.colourText('picture', line))
}

async function compare(sources: Sources, person: string, words: string[], flags: NumberFlags) {
  const isAsked = words.length === 0 && terminal.isInteractive()
  // a connection of its own: typing may last longer than the control socket keeps one open
  if (isAsked)
    shown.describeHolders(await reportOf(sources, person, flags)).forEach(terminal.printNotice)
  const isArgument = words.length > 0 && words[0] !== '-'
  const typed = isArgument ? words.join(' ') : isAsked ? await askNumber() : undefined
  const given = typed ?? (await readInput(undefined, INPUT)).toString('utf8')
  const isListed = flags.listed === true
  const answer = await withSidecar(sources, (sidecar) =>
    sidecar.trustCompare({ person, isListed, given }),
  )
  printAnswer(answer, flags, printDone)
}

/**
 * Asks until sixty digits are there, or a text, or an empty line: apps show a number in several.
 * @throws OperatorError `refused` when the person gives up (Ctrl-C, Ctrl-D)
 */
async function askNumber(): Promise<string> {
  using lines = createInterface({ input: process.stdin, output: process.stderr })
  let given = ''
  lines.setPrompt('number in their app, or the text of its QR code: ')
  lines.prompt()
  // several lines are pasted at once
  for await (const line of lines) {
    given += `${line} `
    const count = given.replaceAll(/\s/g, '').length
    if (line.trim() === '' || count >= 60 || /[^\s\d]/.test(given)) return given.trim()
    lines.setPrompt(`${count} of 60 digits, go on: `)
    lines.prompt()
  }
  throw refusedError('nothing was compared', 'the question was cancelled; run the command again')
}
