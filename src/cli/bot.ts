/** `postern bot`: the bots of a process that serves several. */
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { BOT_NAME, pickBot } from '../config/bot-names.ts'
import { botFile } from '../config/bots.ts'
import { load, loadAll } from '../config/load.ts'
import type { LoadedBots } from '../config/read-several.ts'
import type { Sources } from '../config/sources.ts'
import { loadBotFolder, loadDataDir } from '../config/store-access.ts'
import { botEntry } from '../config/template.ts'
import { connectControl, type RunningSidecar } from '../operators/client.ts'
import type { BotReport } from '../operators/reports.ts'
import { ownerOf } from '../operators/socket/ownership.ts'
import {
  failedError,
  OperatorError,
  operatorErrorOf,
  refusedError,
  systemFailure,
  usageError,
} from '../errors.ts'
import { OperatorCommand, printAnswer, type JsonFlag } from './operator-command.ts'
import { printTable } from './table.ts'
import { print, printNotice } from './terminal.ts'
import { writeNewFile } from './files.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list the bots of a process that serves several, and how each is')
    .option('--json', 'print them as JSON')
    .example('postern bot list')
    .runs(async (sources, flags: JsonFlag) => {
      await using sidecar = await connectControl(loadDataDir(sources))
      const all = sidecar === null ? notRunning(several(sources)) : (await sidecar.botList()).bots
      const bots = sources.bot === null ? all : [pickBot(all, sources.bot)]
      printAnswer(bots, flags, printBots)
    }),
  new OperatorCommand('add')
    .description('add a bot to the folder that `bots` names; a running sidecar serves it at once')
    .argument('<name>', 'the bot’s name in commands, metrics and log')
    .requiredOption('--token-file <path>', 'file that holds the bot’s token at the service')
    .option('--client-token-file <path>', 'file that holds the token that the local bot presents')
    .example('postern bot add echo --token-file /etc/postern/echo-token')
    .runs(add),
  new OperatorCommand('remove')
    .description('take a bot out of the folder that `bots` names; its store stays')
    .argument('<name>', 'the bot’s name')
    .example('postern bot remove echo')
    .runs(remove),
]

/** Prints bots as a table. */
export function printBots(bots: readonly BotReport[]): void {
  if (bots.length === 0) return printNotice('there is no bot; `postern bot add` adds one')
  printTable([
    ['NAME', 'READY', 'BOT', 'REASONS'],
    ...bots.map(({ name, ready, reasons, bot }) => [
      name,
      ready ? 'yes' : 'no',
      bot === null ? '-' : `@${bot.username}, id ${bot.id}`,
      reasons.map(({ code }) => code).join(', ') || '-',
    ]),
  ])
}

function notRunning({ bots }: LoadedBots): BotReport[] {
  const message = 'no sidecar runs on the data directory'
  const hint = 'start it with `postern run`'
  const reasons = [{ code: 'not-running', message, hint, sinceMs: 0 }]
  return bots.map(({ name }) => ({ name, ready: false, served: false, reasons, bot: null }))
}

async function add(
  sources: Sources,
  name: string,
  options: { tokenFile: string; clientTokenFile?: string },
): Promise<void> {
  if (!BOT_NAME.test(name)) {
    throw usageError(
      'a bot’s name is at most 63 of a-z, 0-9, _ and -, with a letter or digit first',
      'choose another name',
    )
  }
  await using running = await connectControl(loadDataDir(sources))
  const folder = await folderOf(sources, running)
  if (fileOf(folder, name) !== undefined) {
    throw refusedError(`there is a bot ${name} already`, 'choose another name')
  }
  const text = botEntry({
    tokenFile: resolve(sources.cwd, options.tokenFile),
    ...(options.clientTokenFile !== undefined && {
      clientTokenFile: resolve(sources.cwd, options.clientTokenFile),
    }),
  })
  const file = writeNewFile(botFile(folder, name), { text }, { force: false })
  try {
    await reload(sources, running)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
  print(file)
  printNotice(
    running === null
      ? `\`postern run\` will serve ${name}`
      : `${name} is being started; \`postern bot list\` shows how it is`,
  )
}

async function remove(sources: Sources, name: string): Promise<void> {
  await using running = await connectControl(loadDataDir(sources))
  const folder = await folderOf(sources, running)
  const file = BOT_NAME.test(name) ? fileOf(folder, name) : undefined
  if (file === undefined) {
    throw refusedError(`there is no bot ${name} in ${folder}`, '`postern bot list` lists them')
  }
  const store = storeOf(name, sources)
  // Of this name, it is nobody's file.
  const aside = join(folder, `.${basename(file)}.removed`)
  rename(file, aside)
  try {
    await reload(sources, running)
  } catch (error) {
    rename(aside, file)
    throw error
  }
  rmSync(aside)
  printNotice(
    `${name} is served no more; its store with its keys stays${store}: ` +
      'remove it when nobody will need them',
  )
}

/** Where the store of a bot is, as far as its file can be read: it may be removed for being wrong. */
function storeOf(name: string, sources: Sources): string {
  const loaded = operatorErrorOf(() => load({ ...sources, bot: name }))
  if (loaded instanceof OperatorError) return ''
  const { settings, secrets } = loaded
  if (secrets.storeUrl === undefined) return ` in ${settings.dataDir}`
  return ` in the schema ${settings.store.schema} of the database`
}

function fileOf(folder: string, name: string): string | undefined {
  const yaml = botFile(folder, name)
  const isFile = (file: string): boolean =>
    lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === false
  return [yaml, yaml.replace(/\.yaml$/, '.yml')].find(isFile)
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    const hint = 'run this command as the user that owns the folder'
    throw systemFailure(`${from} cannot be renamed`, hint, error)
  }
}

/** @throws OperatorError `settings` when they are refused, by the sidecar or where none runs here */
const reload = async (sources: Sources, running: RunningSidecar | null): Promise<unknown> =>
  running === null ? several(sources) : await running.botReload()

function several(sources: Sources): LoadedBots {
  const loaded = loadAll(sources)
  if ('several' in loaded) return loaded.several
  const hint = 'name a folder with a file for each bot in `bots` (or --bots), in place of `bot`'
  throw refusedError('the settings are of one bot', hint)
}

/** The folder with a file for each bot: that of the running sidecar, else that of the settings. */
async function folderOf(sources: Sources, running: RunningSidecar | null): Promise<string> {
  const named = loadBotFolder(sources)
  const folder =
    running === null ? (named ?? several(sources).folder) : (await running.botFolder()).folder
  if (folder === null) {
    throw refusedError(
      'the bots are listed in the settings file',
      'change the list and send SIGHUP to the sidecar, or let `bots` name a folder with a file for each',
    )
  }
  if (running === null || named === folder) return folder
  const owner = ownerOf(loadDataDir(sources))
  // Root writes nowhere only because a process of another user names the place.
  if (named === null && owner === (process.getuid?.() ?? owner)) return folder
  throw failedError(
    `the running sidecar reads its bots from ${folder}, not from ${named ?? 'a folder named here'}`,
    'run this command as the user that the sidecar runs as, without `bots`',
  )
}
