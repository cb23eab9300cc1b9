/** The commands there are, and how the command line is read. */
import { Command, CommanderError } from 'commander'
import { VERSION } from '../config/version.ts'
import { OperatorError } from '../errors.ts'
import { backupAcceptCommand } from './backup-accept.ts'
import { backupCreateCommand } from './backup-create.ts'
import { backupRestoreCommand } from './backup-restore.ts'
import { backupVerifyCommand } from './backup-verify.ts'
import { chatAllowReadableCommand } from './chat-allow-readable.ts'
import { chatListCommand } from './chat-list.ts'
import { checkCommand } from './check.ts'
import { configSchemaCommand } from './config-schema.ts'
import { configShowCommand } from './config-show.ts'
import { demoCommand } from './demo.ts'
import { explainCommand } from './explain.ts'
import { initCommand } from './init.ts'
import { keyDeleteCommand } from './key-delete.ts'
import { keyExportCommand } from './key-export.ts'
import { keyGenerateCommand } from './key-generate.ts'
import { keyImportCommand } from './key-import.ts'
import { keyListCommand } from './key-list.ts'
import { keyProtectCommand } from './key-protect.ts'
import { keyPublishCommand } from './key-publish.ts'
import { keyRotateCommand } from './key-rotate.ts'
import { keyShowCommand } from './key-show.ts'
import { openCommand } from './open.ts'
import { runCommand } from './run.ts'
import { sandboxCommand } from './sandbox.ts'
import { statusCommand } from './status.ts'
import { put, say } from './terminal.ts'
import { trustListCommand } from './trust-list.ts'
import { trustLogCommand } from './trust-log.ts'
import { trustPolicyCommand } from './trust-policy.ts'
import { trustAcceptCommand, trustBlockCommand, trustVerifyCommand } from './trust-say.ts'

/** What stands first and asks for no command. */
const ASKS = ['-h', '--help', '-V', '--version']

/**
 * Runs the command that the arguments name.
 * @param args without the names of program and script
 * @returns when the command is done
 * @throws what the command throws; OperatorError `usage` when the arguments are wrong
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(withDefault(args), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return
    throw new OperatorError(
      'usage',
      error.code === 'commander.help' ? 'a command is missing' : sentence(error.message),
      '`postern --help` lists the commands, `postern <command> --help` what each takes',
    )
  }
}

/** The parser's words in the form that all refusals have. */
function sentence(message: string): string {
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ')
  return text.replace('. Expected', ', expected').replace(/\.$/, '')
}

/** Every command, with its options and help. */
export function createProgram(): Command {
  const root = new Command('postern')
    .description('lets an ordinary plain-text bot take part in end-to-end encrypted chats')
    .version(VERSION, '-V, --version', 'print the version')
    .option('--config <file>', 'settings file; else $POSTERN_CONFIG, else config/postern.yaml')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: put,
      writeErr: (text) => say(text.trimEnd()),
      // Said once, by main.ts, in the form of every other refusal.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', '\nexample: postern demo --once')
  adopt(root, runCommand())
  adopt(root, demoCommand())
  adopt(root, sandboxCommand())
  adopt(root, initCommand())
  adopt(root, checkCommand())
  adopt(root, statusCommand())
  adopt(root, group('config', 'the settings', [configShowCommand(), configSchemaCommand()]))
  const keys = [
    keyListCommand(),
    keyShowCommand(),
    keyGenerateCommand(),
    keyPublishCommand(),
    keyRotateCommand(),
    keyDeleteCommand(),
  ]
  const secrets = [keyExportCommand(), keyImportCommand(), keyProtectCommand()]
  adopt(root, group('key', 'the bot’s keys', [...keys, ...secrets]))
  const copies = [backupCreateCommand(), backupVerifyCommand()]
  const ways = [backupRestoreCommand(), backupAcceptCommand()]
  adopt(root, group('backup', 'copies of the whole store', [...copies, ...ways]))
  const chats = [chatListCommand(), chatAllowReadableCommand()]
  adopt(root, group('chat', 'what is known of the bot’s chats', chats))
  const trust = [
    trustListCommand(),
    trustAcceptCommand(),
    trustVerifyCommand(),
    trustBlockCommand(),
    trustPolicyCommand(),
    trustLogCommand(),
  ]
  adopt(root, group('trust', 'whose certificates are believed', trust))
  adopt(root, openCommand())
  adopt(root, explainCommand())
  return root
}

function group(name: string, description: string, commands: Command[]): Command {
  const command = new Command(name).description(description)
  for (const child of commands) command.addCommand(child)
  return command.addHelpText('after', `\nexample: postern ${name} ${commands[0]?.name() ?? ''}`)
}

/** `addCommand` alone leaves a command with its own output and exits. */
function adopt(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent)
  for (const child of command.commands) child.copyInheritedSettings(command)
  parent.addCommand(command)
}

/** `postern` alone, or with settings alone, is `postern run`. */
function withDefault(args: readonly string[]): string[] {
  if (args.length === 1 && args[0] === '--config') return [...args]
  const skip = args[0] === '--config' ? 2 : args[0]?.startsWith('--config=') === true ? 1 : 0
  const first = args[skip]
  const named = first !== undefined && (!first.startsWith('-') || ASKS.includes(first))
  return named ? [...args] : [...args.slice(0, skip), 'run', ...args.slice(skip)]
}
