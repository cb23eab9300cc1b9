/** How the command line is read. */
import { Command, CommanderError } from 'commander'
import { VERSION } from '../config/version.ts'
import { nearestName } from '../config/problems.ts'
import { usageError } from '../errors.ts'
import { loadCommands } from './commands.ts'
import { formatHelp } from './help.ts'
import { signalPolicy } from './signals.ts'
import { commandLine, keepFlags, print, printNotice } from './terminal.ts'

/** What other programs call something, and where it is here. */
const OTHER_NAMES: readonly [names: string, hint: string][] = [
  ['withheld', '`postern explain --withheld` lists what was withheld'],
  ['doctor', '`postern check` looks at settings, disk, network, token and key'],
  ['log logs', '`postern run` prints the log to stderr; `postern trust log` is about trust'],
  ['health ready', '`postern status` shows how it is, and ends with 1 unless it is ready'],
  ['start serve stop', '`postern run` runs the sidecar, until Ctrl-C or SIGTERM'],
  ['setup install', '`postern init` writes the settings'],
  ['settings', '`postern config list` lists them, `postern config show` those in effect'],
  ['people users', '`postern trust list` lists the people'],
  ['rotate publish', '`postern key rotate` and `postern key publish` are about the bot’s key'],
  ['import export restore', '`postern key import`, `postern key export`, `postern backup restore`'],
  ['say send', '`postern sandbox say` writes as a person of a running sandbox'],
]
/** First arguments that name no command. */
const GLOBAL_FLAGS = ['-h', '--help', '-V', '--version']

/**
 * Runs the command that the arguments name.
 * @param args without the names of program and script
 * @returns when the command is done
 * @throws what the command throws; OperatorError `usage` when the arguments are wrong
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  const { named, first } = withDefault(args)
  keepFlags({})
  if (first === 'run') signalPolicy.outlivesTerminal = true
  const about = first === 'help' ? (named[named.indexOf(first) + 1] ?? '') : first
  const program = createProgram(await loadCommands(about))
  try {
    await program.parseAsync(named, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw refusal(error, program, named)
  }
}

/** The parser's error in the form that all refusals have. */
function refusal({ code, message }: CommanderError, program: Command, args: readonly string[]) {
  const path = [program]
  for (const word of args) path.push(...namedIn(path.at(-1), word))
  const [, ...names] = path.map((command) => command.name())
  const hint =
    names.length > 0
      ? `\`postern ${names.join(' ')} --help\` shows what it takes`
      : (OTHER_NAMES.find(([others]) => others.split(' ').includes(args[0] ?? ''))?.[1] ??
        '`postern --help` lists the commands, `postern <command> --help` what each takes')
  if (code === 'commander.help') return usageError('a command is missing', hint)
  const [, flag] = /^error: unknown option '--([^'=]+)/.exec(message) ?? []
  const flags = path.at(-1)?.options.map(({ long }) => long?.slice(2) ?? '') ?? []
  // A secret has none, and its file has one.
  const near = flag && (nearestName(flag, flags) ?? nearestName(`${flag}-file`, flags))
  if (near) return usageError(`unknown option '--${flag}', did you mean --${near}?`, hint)
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ')
  return usageError(text.replace('. Expected', ', expected').replace(/\.$/, ''), hint)
}

const namedIn = (command: Command | undefined, word: string): Command[] =>
  command?.commands.filter((one) => one.name() === word) ?? []

/** Every command, with its options and help. */
export const createFullProgram = async (): Promise<Command> => createProgram(await loadCommands())

function createProgram(commands: Command[]): Command {
  const root = new Command('postern')
    .description('a plain-text bot in encrypted chats; --config, --bot; commands have --help')
    .version(VERSION, '-V, --version', 'print the version')
    .option('--config <file>', 'settings file; else $POSTERN_CONFIG, else config/postern.yaml')
    .option('--bot <name>', 'the bot that it is about, where `bots` sets several')
    .configureHelp({ formatHelp, minWidthToWrap: 30 })
    .configureOutput({
      writeOut: print,
      writeErr: (text) => text.trimEnd().split('\n').forEach(printNotice),
      // main.ts prints it once, in the form of every other refusal.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', `example: ${commandLine('postern demo --once')}`)
  // without the settings of `root`, a command would print and exit by itself
  for (const command of commands) {
    command.copyInheritedSettings(root)
    for (const child of command.commands) child.copyInheritedSettings(command)
    root.addCommand(command)
  }
  return root
}

/** Flags of every command, each with a value. */
const COMMON_FLAGS = ['--config', '--bot']

/** `postern` alone, or with settings alone, is `postern run`. `first` is the name of the command. */
function withDefault(args: readonly string[]): { named: string[]; first: string } {
  let skip = 0
  for (let given = args[0]; given !== undefined; given = args[skip]) {
    if (COMMON_FLAGS.includes(given)) skip += 2
    else if (COMMON_FLAGS.some((flag) => given.startsWith(`${flag}=`))) skip += 1
    else break
  }
  if (skip > args.length) return { named: [...args], first: '' }
  const first = args[skip]
  const isNamed = first !== undefined && (!first.startsWith('-') || GLOBAL_FLAGS.includes(first))
  if (isNamed) return { named: [...args], first }
  return { named: [...args.slice(0, skip), 'run', ...args.slice(skip)], first: 'run' }
}
