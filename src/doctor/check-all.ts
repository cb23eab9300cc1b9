/** Every line of `postern check`, in the order shown. */
import type { Bot } from '../api/bot.ts'
import { checkCoreDumps } from './check-core-dumps.ts'
import { checkDatabase, type NamedDatabase } from './check-database.ts'
import { checkFolder } from './check-folder.ts'
import { checkKey, type KeyParts } from './check-key.ts'
import { checkService, type ServiceParts } from './check-service.ts'
import { checkTls } from './check-tls.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

/** What settings lead to, whether there is a store or not. */
export interface SettingsParts extends ServiceParts {
  /** Absolute. */
  dataDir: string
  /** Setting `upstream.caFile`. */
  caFile: string | undefined
  /** Setting `key.passphraseFile`, absolute. */
  passphraseFile: string | undefined
  /** Null when the store is in a file. */
  database: NamedDatabase | null
}

/** What the store holds, as whoever has it open sees it. */
export interface StoreParts extends KeyParts {
  /** Absolute. */
  dataDir: string
  /** Why the store does not open; null when it does, or when there never was one. */
  storeProblem: { message: string; hint: string } | null
  /** What the store rests under; null without a store, or when it keeps no secrets. */
  protection: 'passphrase' | 'keychain' | 'none' | null
  /** What a first start will put secrets under, or why it will not; null after that. */
  firstProtection: 'passphrase' | 'keychain' | 'none' | { message: string; hint: string } | null
  /** What is known of other people; null without a store. */
  people: { known: number; waiting: number; policy: string } | null
}

/** Looks once at what settings lead to; never throws for what it finds. @returns the bot, if it was had */
export async function checkSettings(
  parts: SettingsParts,
): Promise<{ bot: Bot | null; lines: CheckLine[] }> {
  const { dataDir, upstreamUrl, caFile, isProxied } = parts
  const [folder, database, tls, { bot, lines }] = await Promise.all([
    checkFolder(dataDir),
    checkDatabase(parts.database),
    checkTls(upstreamUrl, { caFile, isProxied }),
    checkService(parts),
  ])
  return { bot, lines: [...folder, ...passphraseLine(parts), ...database, ...tls, ...lines] }
}

/**
 * Looks once at the store, and at the process that holds it; never throws for what it finds.
 * @param bot as the service has it just now; null when that is not known
 */
export function checkStore(bot: Bot | null, parts: StoreParts): CheckLine[] {
  return [
    storeLine(parts),
    ...protectionLine(parts),
    ...checkCoreDumps(),
    ...(bot === null ? [] : checkKey(bot, parts)),
    ...trustLine(parts),
  ]
}

function storeLine({ keys, storeProblem }: StoreParts): CheckLine {
  if (storeProblem !== null) return fail('store', storeProblem.message, storeProblem.hint)
  return keys === null
    ? pass('store', 'there is none yet; `postern run` makes one')
    : pass('store', `opens, with ${keys.all.length} of our keys`)
}

function protectionLine({ protection, firstProtection: first, dataDir }: StoreParts): CheckLine[] {
  if (first !== null && typeof first === 'object')
    return [fail('protection', first.message, first.hint)]
  const kind = protection ?? first
  if (kind === null) return []
  const isFirst = protection === null
  if (kind === 'none') {
    return [
      warn(
        'protection',
        `none: whoever has ${dataDir}, or a copy of it, has the bot’s secret keys`,
        isFirst
          ? 'set key.protection to passphrase before the first start'
          : '`postern key protect passphrase`, or `postern key protect keychain`',
      ),
    ]
  }
  const messages = {
    passphrase: [
      'a passphrase opens the store',
      'the first start puts secrets under the passphrase',
    ],
    keychain: [
      'the OS keychain opens the store',
      'the first start puts secrets into the OS keychain, which can be used',
    ],
  }[kind]
  return [pass('protection', messages[isFirst ? 1 : 0]!)]
}

/** Whoever takes the folder must not have what opens it. */
function passphraseLine({ passphraseFile, dataDir }: SettingsParts): CheckLine[] {
  if (passphraseFile === undefined) return []
  const isInside = `${passphraseFile}/`.startsWith(`${dataDir.replace(/\/$/, '')}/`)
  return isInside
    ? [
        warn(
          'passphrase',
          `its file lies inside ${dataDir}, so a copy of that folder opens itself`,
          'move the file elsewhere, and set key.passphraseFile to where it is then',
        ),
      ]
    : [pass('passphrase', 'its file lies outside the data folder')]
}

function trustLine({ people }: StoreParts): CheckLine[] {
  if (people === null) return []
  const { known, waiting, policy } = people
  const message = `policy ${policy}, ${known} people known`
  return waiting === 0
    ? [pass('trust', message)]
    : [
        warn(
          'trust',
          `${message}, ${waiting} of them await your approval and receive nothing`,
          '`postern trust list` shows them; `postern trust accept` or `trust verify` settles it',
        ),
      ]
}
