import type { Loaded } from './read-one.ts'
import type { LoadedBot, LoadedBots } from './read-several.ts'
import { SecretSource } from './secrets.ts'
import { pairsOf } from './traces.ts'
import { resultOr } from '../errors.ts'
import { createLogger, type Log } from '../logger.ts'

type Logged = Pick<Loaded, 'settings' | 'secrets' | 'origins'> | LoadedBot

/**
 * The log that settings ask for, with all their secrets scrubbed from it.
 * @param preset the level when none was set
 */
export function createLog(loaded: Logged, preset?: string): Log {
  const { settings, secrets, origins } = loaded
  return createLogger({
    level: origins.has('log.level') ? settings.log.level : (preset ?? settings.log.level),
    pretty: settings.log.pretty,
    // The token: known to the bot's operator, and to nobody who only reads its log.
    ...(settings.log.ids === 'hash' && { hashIdsWith: secrets.botToken.reveal() }),
    secrets: secretsOf(loaded),
    ...('name' in loaded && { bot: loaded.name }),
  })
}

/** The log of a process that serves several bots, with the secrets of all of them scrubbed from it. */
export const createProcessLog = ({ settings }: LoadedBots, bots: () => readonly LoadedBot[]): Log =>
  createLogger({
    level: settings.log.level,
    pretty: settings.log.pretty,
    secrets: () => bots().flatMap(secretsOf),
  })

function secretsOf({ settings, secrets }: Logged): (string | SecretSource)[] {
  const { httpsProxy, httpProxy } = settings.upstream.proxy
  return [
    ...Object.values(secrets).filter((one) => one instanceof SecretSource),
    ...[httpsProxy, httpProxy, secrets.storeUrl?.reveal()].flatMap(passwordIn),
    ...(pairsOf(secrets.traceHeaders?.reveal() ?? '') ?? []).map(([, value]) => value),
  ]
}

function passwordIn(url: string | undefined): string[] {
  const password = URL.parse(url ?? '')?.password ?? ''
  // As it is, where it is no encoding: a wrong address is refused elsewhere.
  return password === '' ? [] : [password, resultOr(() => decodeURIComponent(password), password)]
}
