/** How `--help` shows a command: what belongs to it alone, on one screen of 24 lines. */
import { Command, Option, type Help } from 'commander'
import { asTyped, commandLine, wrapLine, wrapText } from './terminal.ts'

/** The group of help with the flags of settings. */
export const SETTINGS_GROUP = 'Settings:'
/** The settings that one needs first; `postern config list` has all of them. */
const FIRST_SETTINGS =
  /^--(upstream-url|bot-token-file|key-passphrase-file|data-dir|listen-port|admin-port|bots)$/
/** Of a terminal, for what does not learn it. */
const WIDTH = 80
/** The columns before a term, and between it and its description. */
const MARGINS = 4

/** A command with texts below its help. */
export class PosternCommand extends Command {
  notes(text: string): this {
    const lines = asTyped(text).split('\n')
    return this.addHelpText('after', lines.map((line) => wrapLine(line, WIDTH)).join('\n'))
  }

  /** An option with one of these values. */
  choice(
    flags: string,
    description: string,
    choices: readonly string[],
    isMandatory = false,
  ): this {
    const option = new Option(flags, description).choices(choices)
    return this.addOption(option.makeOptionMandatory(isMandatory))
  }

  /** Shows one line of use. */
  example(line: string): this {
    const example = `example: ${commandLine(line)}`
    const lines = example.length > WIDTH ? wrapText(example, WIDTH - 2) : [example]
    return this.addHelpText('after', lines.join(' \\\n  '))
  }
}

type HelpItem = [term: string, description: string]

/** The help of a command. Options of all commands are in the help of `postern` alone. */
export function formatHelp(command: Command, help: Help): string {
  const columns = help.helpWidth ?? 80
  const section = <T>(title: string, things: readonly T[], describe: (thing: T) => HelpItem) => {
    const items = things.map(describe)
    const width = Math.max(...items.map(([term]) => term.length))
    const lines = items.map(([term, description]) => {
      const text =
        title === 'Commands:' ? summarize(description, columns - width - MARGINS) : description
      return help.formatItem(term, width, text, help)
    })
    // the list of all commands would not fit with its title
    if (command.parent === null) return lines
    return items.length === 0 ? [] : [title, ...lines]
  }
  const usage = help.commandUsage(command)
  const args = help.visibleArguments(command)
  const all = command.parent === null ? [] : help.visibleOptions(command)
  const options = all.filter((one) => isShown(one, usage))
  return [
    // that of all commands fills the screen without it
    ...(command.parent === null ? [] : [`Usage: ${usage}`]),
    help.boxWrap(command.description(), columns),
    ...section('Arguments:', args, (one) => [one.name(), help.argumentDescription(one)]),
    ...section('Options:', options, (one) => [one.flags, describeOption(one)]),
    ...section('Commands:', command.commands, (one) => [one.name(), one.description()]),
    '',
  ].join('\n')
}

function isShown({ long = '', helpGroupHeading }: Option, usage: string): boolean {
  if (long === '--help' || usage.split(' ').includes(long)) return false
  return helpGroupHeading !== SETTINGS_GROUP || FIRST_SETTINGS.test(long)
}

/** What an option does, and its default unless that is nothing; its choices are in its flags. */
const describeOption = ({ description, defaultValue = '' }: Option): string =>
  String(defaultValue) === '' ? description : `${description} (${String(defaultValue)})`

/** A description that does not fit its line, up to its last comma. */
function summarize(description: string, room: number): string {
  if (description.length <= room) return description
  return description.slice(0, description.lastIndexOf(',')) || description
}
