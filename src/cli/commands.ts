/** The commands there are, each loaded when it is asked for. */
import type { Command } from 'commander'
import { PosternCommand } from './help.ts'

type CommandLoader = () => Promise<Command>

/** By name, in the order in which help shows them. */
const COMMANDS = new Map<string, CommandLoader>([
  ['run', async () => (await import('./run.ts')).runCommand()],
  ['demo', async () => (await import('./demo.ts')).demoCommand()],
  ['dev', async () => (await import('./dev.ts')).devCommand()],
  ['sandbox', async () => (await import('./sandbox.ts')).sandboxCommand()],
  ['init', async () => (await import('./init.ts')).initCommand()],
  ['check', async () => (await import('./check.ts')).checkCommand()],
  ['status', async () => (await import('./status.ts')).statusCommand()],
  group('config', 'the settings', () => import('./config.ts')),
  group('key', 'the bot’s keys', () => import('./key.ts')),
  group('agent', 'a process that has the secret keys', () => import('./agent.ts')),
  group('bot', 'the bots of a process that serves several', () => import('./bot.ts')),
  group('backup', 'copies of the whole store', () => import('./backup.ts')),
  group('store', 'where the store is', () => import('./store-move.ts')),
  group('chat', 'what Postern knows of the bot’s chats', () => import('./chat.ts')),
  group('trust', 'which certificates are trusted', () => import('./trust.ts')),
  group('person', 'what is known of a person', () => import('./person.ts')),
  group('outbox', 'calls that are made later', () => import('./outbox.ts')),
  group('approve', 'calls that need a person’s word', async () => {
    return { commandsOfGroup: (await import('./outbox.ts')).approveCommands }
  }),
  group('client', 'who else may call the bot’s door', () => import('./client.ts')),
  ['open', async () => (await import('./explain.ts')).openCommand()],
  ['explain', async () => (await import('./explain.ts')).explainCommand()],
])

/** Gives the command of a name alone, or all where there is none of that name. */
export async function loadCommands(name?: string): Promise<Command[]> {
  const one = COMMANDS.get(name ?? '')
  if (one !== undefined) return [await one()]
  return await Promise.all([...COMMANDS.values()].map((load) => load()))
}

function group(
  name: string,
  description: string,
  load: () => Promise<{ commandsOfGroup: () => Command[] }>,
): [string, CommandLoader] {
  const loadGroup = async (): Promise<Command> => {
    const command = new PosternCommand(name).description(description)
    const commands = (await load()).commandsOfGroup()
    for (const child of commands) command.addCommand(child)
    return command.example(`postern ${name} ${commands[0]?.name() ?? ''}`)
  }
  return [name, loadGroup]
}
