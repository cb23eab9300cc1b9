/** The commands there are, each loaded when it is asked for. */
import { Command } from 'commander'
import { commandLine } from './terminal.ts'

type CommandLoader = () => Promise<Command>

const KEY: CommandLoader[] = [
  async () => (await import('./key.ts')).keyListCommand(),
  async () => (await import('./key.ts')).keyShowCommand(),
  async () => (await import('./key.ts')).keyGenerateCommand(),
  async () => (await import('./key.ts')).keyPublishCommand(),
  async () => (await import('./key-rotate.ts')).keyRotateCommand(),
  async () => (await import('./key-delete.ts')).keyDeleteCommand(),
  async () => (await import('./key-transfer.ts')).keyExportCommand(),
  async () => (await import('./key-transfer.ts')).keyImportCommand(),
  async () => (await import('./key-protect.ts')).keyProtectCommand(),
]
const BACKUP: CommandLoader[] = [
  async () => (await import('./backup.ts')).backupCreateCommand(),
  async () => (await import('./backup.ts')).backupVerifyCommand(),
  async () => (await import('./backup.ts')).backupRestoreCommand(),
  async () => (await import('./backup.ts')).backupAcceptCommand(),
]
const BOT: CommandLoader[] = [
  async () => (await import('./bot.ts')).botListCommand(),
  async () => (await import('./bot.ts')).botAddCommand(),
  async () => (await import('./bot.ts')).botRemoveCommand(),
]
const STORE: CommandLoader[] = [async () => (await import('./store-move.ts')).storeMoveCommand()]
const CHAT: CommandLoader[] = [
  async () => (await import('./chat.ts')).chatListCommand(),
  async () => (await import('./chat-show.ts')).chatShowCommand(),
  async () => (await import('./chat.ts')).chatAllowReadableCommand(),
  async () => (await import('./chat.ts')).chatBindCommand(),
  async () => (await import('./chat-kind.ts')).chatCorrectKindCommand(),
]
const CONFIG: CommandLoader[] = [
  async () => (await import('./config.ts')).configShowCommand(),
  async () => (await import('./config.ts')).configSchemaCommand(),
]
const TRUST: CommandLoader[] = [
  async () => (await import('./trust.ts')).trustListCommand(),
  async () => (await import('./trust.ts')).trustAcceptCommand(),
  async () => (await import('./trust.ts')).trustVerifyCommand(),
  async () => (await import('./trust.ts')).trustBlockCommand(),
  async () => (await import('./trust.ts')).trustPolicyCommand(),
  async () => (await import('./trust.ts')).trustLogCommand(),
]

/** It must see all the others. */
const COMPLETION = 'completion'

/** By name, in the order in which help shows them. */
const COMMANDS = new Map<string, CommandLoader>([
  ['run', async () => (await import('./run.ts')).runCommand()],
  ['demo', async () => (await import('./demo.ts')).demoCommand()],
  ['dev', async () => (await import('./dev.ts')).devCommand()],
  ['sandbox', async () => (await import('./sandbox.ts')).sandboxCommand()],
  ['init', async () => (await import('./init.ts')).initCommand()],
  ['check', async () => (await import('./check.ts')).checkCommand()],
  ['status', async () => (await import('./status.ts')).statusCommand()],
  ['config', () => group('config', 'the settings', CONFIG)],
  ['key', () => group('key', 'the bot’s keys', KEY)],
  ['bot', () => group('bot', 'the bots of a process that serves several', BOT)],
  ['backup', () => group('backup', 'copies of the whole store', BACKUP)],
  ['store', () => group('store', 'where the store is', STORE)],
  ['chat', () => group('chat', 'what Postern knows of the bot’s chats', CHAT)],
  ['trust', () => group('trust', 'which certificates are trusted', TRUST)],
  ['open', async () => (await import('./open.ts')).openCommand()],
  ['explain', async () => (await import('./explain.ts')).explainCommand()],
  [COMPLETION, async () => (await import('./completion.ts')).completionCommand()],
])

/** Gives the command of a name alone, or all where there is none of that name or it needs them. */
export async function loadCommands(name?: string): Promise<Command[]> {
  const one = name === COMPLETION ? undefined : COMMANDS.get(name ?? '')
  if (one !== undefined) return [await one()]
  return await Promise.all([...COMMANDS.values()].map((load) => load()))
}

async function group(name: string, description: string, loads: CommandLoader[]): Promise<Command> {
  const command = new Command(name).description(description)
  const commands = await Promise.all(loads.map((load) => load()))
  for (const child of commands) command.addCommand(child)
  const example = commandLine(`postern ${name} ${commands[0]?.name() ?? ''}`)
  return command.addHelpText('after', `\nexample: ${example}`)
}
