/** The commands there are, each loaded when it is asked for. */
import { Command } from 'commander'
import { addExample } from './flags.ts'

type CommandLoader = () => Promise<Command>

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
  group('config', 'the settings', async () => (await import('./config.ts')).configCommands()),
  group('key', 'the bot’s keys', async () => (await import('./key.ts')).keyCommands()),
  group('bot', 'the bots of a process that serves several', async () =>
    (await import('./bot.ts')).botCommands(),
  ),
  group('backup', 'copies of the whole store', async () =>
    (await import('./backup.ts')).backupCommands(),
  ),
  group('store', 'where the store is', async () =>
    (await import('./store-move.ts')).storeCommands(),
  ),
  group('chat', 'what Postern knows of the bot’s chats', async () =>
    (await import('./chat.ts')).chatCommands(),
  ),
  group('trust', 'which certificates are trusted', async () =>
    (await import('./trust.ts')).trustCommands(),
  ),
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

function group(
  name: string,
  description: string,
  load: () => Promise<Command[]>,
): [string, CommandLoader] {
  const loadGroup = async (): Promise<Command> => {
    const command = new Command(name).description(description)
    const commands = await load()
    for (const child of commands) command.addCommand(child)
    return addExample(command, `postern ${name} ${commands[0]?.name() ?? ''}`)
  }
  return [name, loadGroup]
}
