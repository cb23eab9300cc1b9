import type { Loaded } from '../config/load.ts'
import { createLogger } from '../logger.ts'
import type { Log } from '../logger.ts'

/**
 * The log that settings ask for, with all their secrets scrubbed from it.
 * @param preset the level when none was set
 */
export function createLog({ settings, secrets, origins }: Loaded, preset?: string): Log {
  const { httpsProxy, httpProxy } = settings.upstream.proxy
  const sources = [secrets.botToken, secrets.clientToken, secrets.passphrase, secrets.alertUrl]
  return createLogger({
    level: origins.has('log.level') ? settings.log.level : (preset ?? settings.log.level),
    pretty: settings.log.pretty,
    // The token: known to whoever runs the bot, and to nobody who only reads its log.
    ...(settings.log.ids === 'hash' && { hashIdsWith: secrets.botToken.reveal() }),
    secrets: [
      ...sources.filter((secret) => secret != null),
      ...[httpsProxy, httpProxy].flatMap(passwordOf),
    ],
  })
}

function passwordOf(proxy: string | undefined): string[] {
  const password = proxy === undefined ? '' : new URL(proxy).password
  return password === '' ? [] : [password, decodeURIComponent(password)]
}
