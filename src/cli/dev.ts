import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import type { Command } from 'commander'
import { placeOf } from '../config/files.ts'
import { commandEnvironment, userRuntimeFolders } from '../config/sources.ts'
import { startCommand, type ChildCommand } from './child-command.ts'
import { openDevFolder, type DevPorts } from './dev-folder.ts'
import { readPort, withLimitFlags, type LimitFlags, type Switches, type Texts } from './flags.ts'
import { PosternCommand } from './help.ts'
import { flush, print, printJsonLine, printNotice } from './terminal.ts'
import { announceSandbox } from '../operators/running-sandboxes.ts'
import { readLimits, readSeedFile } from './seed-file.ts'
import { shutdownRequested, shutdownSignal } from './signals.ts'
import { Mutex } from '../util/scheduling.ts'
import type { Dev } from './dev-setup.ts'

type DevFlags = Partial<DevPorts> &
  LimitFlags &
  Switches<'fresh' | 'open' | 'json'> &
  Texts<'seed' | 'bot'> & { dataDir: string }

/** `postern dev`: sandbox, sidecar and page for a bot of one's own. */
export const devCommand = (): PosternCommand =>
  withLimitFlags(new PosternCommand('dev'))
    .argument('[command...]', 'what starts the bot, after --')
    .option('--data-dir <folder>', 'folder of world, keys, token and ports', '.postern-dev')
    .option('--fresh', 'begin the world anew')
    .option('--seed <file>', 'begin a new world as a YAML or JSON file says')
    .option('--bot <handle>', 'which bot, where the world has several')
    .option('--open', 'open the page in your browser')
    .option('--json', 'print one line of JSON once all is ready; the log then goes to stderr')
    .option('--port <number>', 'port that the bot calls; 0 is any free one', readPort)
    .option('--admin-port <number>', 'port of /readyz and /status', readPort)
    .option('--sandbox-port <number>', 'port of the service', readPort)
    .option('--control-port <number>', 'port of the sandbox’s control', readPort)
    .option('--page-port <number>', 'port of the page', readPort)
    .notes(
      `Ports, token and world are the same at each start. The command finds the bot's
address in BASE_URL, and a file with its token in BOT_TOKEN_FILE.`,
    )
    .example('postern dev -- node my-bot.js')
    .action(run)

async function run(command: string[], _flags: DevFlags, self: Command): Promise<void> {
  // Includes `--bot`, which the parser assigns to the parent command.
  const flags: DevFlags = self.optsWithGlobals()
  const stop = shutdownRequested()
  const path = resolve(flags.dataDir)
  const seed = flags.seed === undefined ? null : readSeedFile(flags.seed)
  const { checkSeed, startDev } = await import('./dev-setup.ts')
  // Before the folder: with --fresh a mistake would cost the world.
  const rules = { rates: flags.rates, limits: await readLimits(flags.limits) }
  if (seed !== null && flags.fresh === true) checkSeed(seed, flags.bot)
  using folder = openDevFolder(path, { fresh: flags.fresh === true })
  await using dev = await startDev({
    folder,
    seed,
    ports: flags,
    botName: flags.bot,
    open: flags.open === true,
    rules,
    print: flags.json === true ? (lines) => printNotice(stripVTControlCharacters(lines)) : print,
  })
  const { controlUrl } = dev.sandbox
  using entry = announceSandbox(userRuntimeFolders(), { command: 'dev', controlUrl, dataDir: path })
  dev.log.onTrouble = entry.tell
  if (!dev.sandbox.isNew && seed !== null) {
    printNotice('the world goes on, and the seed is not applied to it; --fresh begins it anew')
  }
  // Before the address is printed: there may be no such program.
  await using bot = await runBot(command, dev)
  introduce(dev, { path, isJson: flags.json === true })
  // oxlint-disable-next-line typescript/no-floating-promises -- a failure ends the process
  void dev.log.follow()
  await stop
  printNotice('stopping')
  await bot[Symbol.asyncDispose]()
  await dev.log.settled()
}

/**
 * Runs the command, which the page and Enter at a terminal start anew. When it ends by itself,
 * everything else goes on.
 */
async function runBot(words: string[], dev: Dev): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const [program, ...args] = words
  if (program === undefined) return parts.move()
  const command = [program, ...args] as const
  let bot: ChildCommand | null = null
  const start = async (): Promise<void> => {
    const started = await startBot(command, dev)
    bot = started
    dev.log.trouble(null)
    const showEnd = async (): Promise<void> => {
      const end = await started.ended
      if (shutdownSignal.aborted || bot !== started) return
      const how = end.signal === null ? `with code ${end.code}` : `by ${end.signal}`
      dev.log.trouble(`the bot ended ${how}`)
      dev.log.show({
        who: 'dev',
        text: `\`${words.join(' ')}\` ended ${how}; everything else goes on, Ctrl-C ends it`,
        mark: end.code === 0 ? undefined : { colour: 'red', text: '✗' },
      })
    }
    // oxlint-disable-next-line typescript/no-floating-promises -- the command runs until the end
    void showEnd()
  }
  parts.defer(() => bot?.[Symbol.asyncDispose]())
  await start()
  const turns = new Mutex()
  const restart = (): Promise<void> =>
    turns.run(async () => {
      const before = bot
      bot = null
      await before?.[Symbol.asyncDispose]()
      if (!shutdownSignal.aborted) await start()
    })
  dev.restarts.set('bot', restart)
  if (process.stdin.isTTY) {
    const lines = createInterface({ input: process.stdin })
    parts.defer(() => lines.close())
    lines.on('line', () => {
      dev.log.show({ who: 'dev', text: 'starts the bot anew' })
      // oxlint-disable-next-line typescript/no-floating-promises -- a failure is in the log
      void restart().catch((error: unknown) => dev.log.show({ who: 'dev', text: String(error) }))
    })
  }
  return parts.move()
}

async function startBot(command: readonly [string, ...string[]], dev: Dev): Promise<ChildCommand> {
  const { botUrl, tokenFile, log } = dev
  const { env, hasWithheld } = commandEnvironment({
    added: { BASE_URL: botUrl, BOT_TOKEN_FILE: tokenFile },
    // A bot that prefers it would call with a token that this world does not know.
    withheld: 'BOT_TOKEN',
  })
  if (hasWithheld) printNotice('the BOT_TOKEN of your shell is not handed on to the command')
  return await startCommand({
    command,
    env,
    onLine: (line, stream) => log.show({ who: stream === 'stdout' ? '  |' : '  !', text: line }),
    untilTaken: async () => {
      await log.settled()
      await flush()
    },
  })
}

function introduce(dev: Dev, { path, isJson }: { path: string; isJson: boolean }): void {
  const { pageUrl, botUrl, tokenFile, sandbox, bot } = dev
  if (isJson) {
    const { url: sandboxUrl, controlUrl } = sandbox
    printJsonLine({ pageUrl, botUrl, tokenFile, sandboxUrl, controlUrl })
    return
  }
  printNotice(`page            ${pageUrl}`)
  printNotice(`BASE_URL        ${botUrl}`)
  printNotice(`BOT_TOKEN_FILE  ${placeOf(tokenFile, process.cwd())}`)
  const [person] = sandbox.people
  const chat = sandbox.bots.length === 1 ? 'dm' : bot.username
  if (person !== undefined) {
    printNotice(`try             \`postern sandbox say ${person.username} ${chat} "hi"\``)
  }
  const enter = dev.restarts.has('bot') && process.stdin.isTTY ? 'Enter starts the bot anew, ' : ''
  printNotice(
    `the world of @${bot.username} is in ${placeOf(path, process.cwd())}; ${enter}Ctrl-C ends everything`,
  )
  printNotice('')
}
