/** Sandbox, sidecar and page in one process, with the ports, the token and the world of a folder. */
import { createServer } from 'node:net'
import { once } from 'node:events'
import { SecretSource } from '../config/secrets.ts'
import { settingsFrom } from '../config/settings.ts'
import { createSidecar } from '../context.ts'
import { OperatorError, usageError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../sandbox/create.ts'
import type { BotExchange } from '../api/envelope.ts'
import { createBotTraffic } from '../sandbox/page/bot-traffic.ts'
import type { PageSidecar } from '../sandbox/page/sidecar.ts'
import { SeedError } from '../sandbox/seed/problem.ts'
import { readSeed } from '../sandbox/seed/read.ts'
import { DEV_PORTS, USUAL_PORTS, type DevFolder, type DevPorts } from './dev-folder.ts'
import { createDevLog, describeLogLine } from './dev-log.ts'
import { Mutex } from '../util/scheduling.ts'
import { refuseStart, servePage } from './page.ts'
import type { SeedFile } from './seed-file.ts'
import { untilReady } from '../testing/readiness.ts'
import { timeOf } from '../util/clock.ts'

/** What `postern dev` runs. Disposing it ends all of it. */
export type Dev = Awaited<ReturnType<typeof startDev>>

interface DevOptions {
  folder: DevFolder
  /** Ports that were named; 0 is any free one. */
  ports: Partial<DevPorts>
  seed: SeedFile | null
  /** Handle of the bot, where the world has several. */
  botName: string | undefined
  open: boolean
  /** What the service enforces. */
  rules?: Pick<SandboxOptions, 'rates' | 'limits'>
  /** As the setting `cache`. */
  cache?: Record<'keyListSeconds' | 'chatSeconds', number>
  /** Receives the lines of the log. */
  print: (lines: string) => void
}

/**
 * Starts all of it, and waits until the bot's key is published.
 * @throws OperatorError
 */
export async function startDev(options: DevOptions) {
  const { folder, seed, botName, open, print } = options
  await using stack = new AsyncDisposableStack()
  const ports = await choosePorts(options)
  const sandbox = stack.use(
    await createSandbox({
      port: ports.sandboxPort,
      controlPort: ports.controlPort,
      data: folder.world,
      phones: 'all',
      webhooks: 'local',
      ...options.rules,
      world: seed?.content,
    }).catch((error: unknown) => refuseStart(error, seed, '--sandbox-port or --control-port')),
  )
  const bot = chooseBot(sandbox.bots, botName)
  const token =
    tokenOf(sandbox, bot.id) || (await sandbox.control.issueToken({ botId: bot.id })).token
  const tokenFile = folder.keepToken(token)
  const log = createDevLog({ sandbox, botId: bot.id, print })
  const botTraffic = createBotTraffic({ botId: bot.id, now: () => sandbox.now() })
  const onBotExchange = (exchange: BotExchange): void => {
    if (exchange.kind !== 'deliveryStart') botTraffic.record(exchange)
    log.exchange(exchange)
    // The owner may have issued another one: sidecar and bot find it in the file.
    const renewed = exchange.status === 401 ? tokenOf(sandbox, bot.id) : ''
    if (renewed !== '') folder.keepToken(renewed)
  }
  const onLine = (line: string): void => log.show(describeLogLine(line))
  const start = async ({ port, adminPort }: Pick<DevPorts, 'port' | 'adminPort'>) => {
    await using starting = new AsyncDisposableStack()
    const sidecar = await createSidecar({
      settings: settingsFrom({
        upstream: { url: sandbox.url },
        listen: { port },
        admin: { port: adminPort },
        dataDir: folder.sidecar,
        // The phones' keys lie beside it, and nobody's words are at stake.
        key: { protection: 'none' },
        cache: options.cache,
      }),
      secrets: { botToken: SecretSource.fromFile(tokenFile), clientToken: null, passphrase: null },
      log: createLogger({ level: 'warn', pretty: false, onLine }),
      parts: { onBotExchange, time: timeOf(sandbox) },
    })
    starting.use(sidecar)
    const urls = await sidecar.listen().catch(namePortFlags)
    await untilReady(sidecar.health, { withinMs: 20_000, isStart: true })
    return { sidecar, urls, parts: starting.move() }
  }
  let running = await start(ports)
  stack.defer(() => running.parts.disposeAsync())
  const { bot: botUrl, admin } = running.urls
  const sidecarPorts = { port: portOf(botUrl), adminPort: portOf(admin) }
  const turns = new Mutex()
  const restarts: PageSidecar['restarts'] = new Map()
  restarts.set('sidecar', () =>
    turns.run(async () => {
      await running.parts.disposeAsync()
      running = await start(sidecarPorts)
    }),
  )
  const page = await servePage(sandbox, {
    port: ports.pagePort,
    open,
    botTraffic,
    sidecar: { botUrl, readiness: () => running.sidecar.operations.status(), restarts },
  })
  folder.keepPorts({
    ...sidecarPorts,
    sandboxPort: portOf(sandbox.url),
    controlPort: portOf(sandbox.controlUrl),
    pagePort: portOf(page.url),
  })
  const resources = stack.move()
  return {
    sandbox,
    bot,
    pageUrl: page.url,
    /** The bot's door of the sidecar. */
    botUrl,
    tokenFile,
    log,
    /** What the page can start anew. */
    restarts,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Refuses a seed that is wrong, or has no such bot. @throws OperatorError `settings` or `usage` */
export function checkSeed(seed: SeedFile, botName: string | undefined): void {
  try {
    const { bots } = readSeed(seed.content)
    const named = Object.keys(bots).map((username) => ({ username }))
    chooseBot(named, botName)
  } catch (error) {
    throw error instanceof SeedError ? seed.refusal(error) : error
  }
}

/** Those that were named, else those of the last start, else the usual ones that are free. */
async function choosePorts({ ports, folder }: DevOptions): Promise<DevPorts> {
  const chosen = DEV_PORTS.map(async (name) => {
    const known = ports[name] ?? folder.ports[name]
    return [name, known ?? ((await isFree(USUAL_PORTS[name])) ? USUAL_PORTS[name] : 0)] as const
  })
  return Object.fromEntries(await Promise.all(chosen)) as DevPorts
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  const canListen = await once(server, 'listening').then(Boolean, () => false)
  server.close()
  return canListen
}

function chooseBot<Bot extends { username: string }>(
  bots: readonly Bot[],
  name: string | undefined,
): Bot {
  const [first, ...others] = bots
  const handles = bots.map(({ username }) => username).join(', ')
  if (name !== undefined) {
    const handle = name.replace(/^@/, '').toLowerCase()
    const named = bots.find(({ username }) => username.toLowerCase() === handle)
    if (named !== undefined) return named
    throw usageError(`no bot is called ${name}`, `there are ${handles}`)
  }
  if (first === undefined) throw usageError('there is no bot in this world', 'name one in the seed')
  if (others.length === 0) return first
  throw usageError('this world has several bots', `choose with --bot: ${handles}`)
}

/** The bot's token, empty when it is revoked. */
const tokenOf = ({ bots }: Sandbox, botId: number): string =>
  bots.find(({ id }) => id === botId)?.token ?? ''

const portOf = (url: string): number => Number(new URL(url).port)

/** @throws what the sidecar could not listen for, with the flags of this command */
function namePortFlags(error: unknown): never {
  if (!(error instanceof OperatorError) || error.code !== 'listen') throw error
  const hint =
    'stop what listens there, or choose another with --port or --admin-port; 0 takes any free one'
  throw new OperatorError('listen', error.message, hint, { cause: error })
}
