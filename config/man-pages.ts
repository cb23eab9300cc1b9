/**
 * Pages for `man`, made from the commands' table: `postern.1`, and one a command. Run by itself, it
 * writes them into `dist/man`, for the package alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Help, Option } from 'commander'
import { createFullProgram } from '../src/cli/program.ts'
import { VERSION } from '../src/config/version.ts'

const EXIT_CODES: [code: string, meaning: string][] = [
  ['0', 'done'],
  ['1', 'it went wrong now, and may go right later'],
  ['2', 'the command line, a setting or another input is wrong'],
  ['3', 'the store does not open'],
  ['4', 'an operator must decide first'],
]

/** @returns the text of each page by the name of its file, in roff (man(7)) */
export async function manPages(): Promise<Map<string, string>> {
  const root = await createFullProgram()
  return new Map(withChildren(root).map((command) => [`${nameOf(command)}.1`, page(command)]))
}

const withChildren = (command: Command): Command[] => [
  command,
  ...childrenOf(command).flatMap(withChildren),
]
const childrenOf = ({ commands }: Command): Command[] =>
  commands.filter((one) => one.name() !== 'help')

/** `postern-backup-create`. */
function nameOf(command: Command): string {
  const { parent } = command
  return parent === null ? command.name() : `${nameOf(parent)}-${command.name()}`
}

function page(command: Command): string {
  const help = command.createHelp()
  const name = nameOf(command)
  const description = help.commandDescription(command)
  const usage = help.commandUsage(command)
  const sections = [
    `.TH ${name.toUpperCase()} 1 "" "Postern ${VERSION}" "Postern"`,
    section('NAME', `${roff(name)} \\- ${roff(description)}`),
    section('SYNOPSIS', `.B ${roff(usage)}`),
    section('DESCRIPTION', `${roff(sentenceOf(description))}`),
    section('ARGUMENTS', items(help.visibleArguments(command).map((one) => termsOf(help, one)))),
    ...optionSections(help, command),
    section('COMMANDS', items(childrenOf(command).map((one) => commandItem(one)))),
    section('NOTES', notesOf(command)),
    section('EXIT STATUS', command.parent === null ? items(EXIT_CODES) : ''),
    section('SEE ALSO', seeAlso(command)),
  ]
  return `${sections.filter((text) => text !== '').join('\n')}\n`
}

type Item = [term: string, description: string]

const termsOf = (help: Help, one: Parameters<Help['argumentTerm']>[0]): Item => [
  help.argumentTerm(one),
  help.argumentDescription(one),
]

const commandItem = (command: Command): Item => [`${nameOf(command)}(1)`, command.description()]

function optionSections(help: Help, command: Command): string[] {
  const all = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const groups = Map.groupBy(all, (one: Option) => one.helpGroupHeading ?? 'Options:')
  return [...groups].map(([heading, options]) =>
    section(
      heading.replace(/:$/, '').toUpperCase(),
      items(options.map((one) => [help.optionTerm(one), help.optionDescription(one)])),
    ),
  )
}

/** What `--help` prints below the tables, as it is laid out there. */
function notesOf(command: Command): string {
  let printed = ''
  const output = command.configureOutput()
  command.configureOutput({ ...output, writeOut: (text) => (printed += text) })
  command.outputHelp()
  command.configureOutput(output)
  const notes = printed.slice(command.helpInformation().length).trim()
  return notes === '' ? '' : `.nf\n${roff(notes)}\n.fi`
}

function seeAlso(command: Command): string {
  const around = command.parent === null ? [] : [command.parent, ...childrenOf(command.parent)]
  const others = around.filter((one) => one !== command).slice(0, 24)
  return others.map((one) => `.BR ${roff(nameOf(one))} (1)`).join('\n')
}

const section = (title: string, text: string): string =>
  text === '' ? '' : `.SH ${roff(title)}\n${text}`

const items = (all: Item[]): string =>
  all.map(([term, text]) => `.TP\n.B ${roff(term)}\n${roff(text)}`).join('\n')

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Text as it is: no letter of it is taken for a request or an escape. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replace(/[^\0-\x7f]/gu, (one) => `\\[u${hex(one)}]`)
    .replace(/^\./gm, '\\&.')
}

const hex = (one: string): string =>
  (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')

if (import.meta.main) {
  const folder = join(import.meta.dirname, '../dist/man')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of await manPages()) writeFileSync(join(folder, name), text)
}
