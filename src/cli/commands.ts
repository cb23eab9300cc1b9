/** The commands there are, each loaded when it is asked for. */
import type { Command } from 'commander'
import { PosternCommand } from './help.ts'

/** In the order in which help shows them. */
const DESCRIPTIONS = {
  run: 'run the sidecar (the default command)',
  demo: 'show a plain-text bot in encrypted chats, with sandbox and echo bot',
  dev: 'run sandbox, sidecar and page for a bot of your own, and start the bot',
  sandbox: 'run a sandbox of the service, with people whose phones hold real keys',
  init: 'ask a few questions, write a settings file and a passphrase, and check them',
  check: 'check settings, store, network, token and key, and show what a first publication changes',
  status: 'show how the sidecar is doing; ends with 1 unless it is ready',
  config: 'the settings',
  key: 'the bot’s keys',
  agent: 'a process that has the secret keys',
  bot: 'the bots of a process that serves several',
  backup: 'copies of the whole store',
  store: 'where the store is',
  chat: 'what Postern knows of the bot’s chats',
  trust: 'which certificates are trusted',
  person: 'what is known of a person',
  outbox: 'calls that are made later',
  approve: 'calls that need a person’s word',
  client: 'who else may call the bot’s door',
  open: 'open an armored message from stdin, and print its text and verdict',
  explain: 'show why an update was withheld and which key opened it, without its text',
}

type Name = keyof typeof DESCRIPTIONS
const NAMES = Object.keys(DESCRIPTIONS) as Name[]

/** Loads a command, or the commands of a group. */
const LOADERS: Record<Name, () => Promise<Command | Command[]>> = {
  run: async () => (await import('./run.ts')).runCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  dev: async () => (await import('./dev.ts')).devCommand(),
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  config: async () => (await import('./config.ts')).commandsOfGroup(),
  key: async () => (await import('./key.ts')).commandsOfGroup(),
  agent: async () => (await import('./agent.ts')).commandsOfGroup(),
  bot: async () => (await import('./bot.ts')).commandsOfGroup(),
  backup: async () => (await import('./backup.ts')).commandsOfGroup(),
  store: async () => (await import('./store-move.ts')).commandsOfGroup(),
  chat: async () => (await import('./chat.ts')).commandsOfGroup(),
  trust: async () => (await import('./trust.ts')).commandsOfGroup(),
  person: async () => (await import('./person.ts')).commandsOfGroup(),
  outbox: async () => (await import('./outbox.ts')).commandsOfGroup(),
  approve: async () => (await import('./outbox.ts')).approveCommands(),
  client: async () => (await import('./client.ts')).commandsOfGroup(),
  open: async () => (await import('./explain.ts')).openCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
}

/** Gives every command, or the one of a name; for an unknown name, all with their description alone. */
export async function loadCommands(name?: string): Promise<Command[]> {
  const named = NAMES.filter((one) => name === undefined || one === name)
  return named.length > 0 ? await Promise.all(named.map(loadCommand)) : NAMES.map(listed)
}

const listed = (name: Name): PosternCommand =>
  new PosternCommand(name).description(DESCRIPTIONS[name])

async function loadCommand(name: Name): Promise<Command> {
  const loaded = await LOADERS[name]()
  if (!Array.isArray(loaded)) return loaded.description(DESCRIPTIONS[name])
  const group = listed(name)
  for (const child of loaded) group.addCommand(child)
  return group.example(`postern ${name} ${loaded[0]?.name() ?? ''}`)
}
