/** What commands need to know that open a store, or talk to a sidecar that runs. */
import { existsSync } from 'node:fs'
import { onlyBot, pickBot } from './bot-names.ts'
import { findBots } from './bots.ts'
import { collect, findFile, type CollectedSettings } from './collect.ts'
import { readGivenSecret } from './given-secrets.ts'
import { keyAccess } from './key-commands.ts'
import { settingsError } from './problems.ts'
import { presetOf, type Settings } from './settings.ts'
import type { Sources } from './sources.ts'

/**
 * Finds out where a running sidecar would be, for commands that talk to it; whether the rest of
 * the settings would do for a start is not asked.
 * @returns `dataDir`, absolute: that of the process where there are several bots
 * @throws OperatorError `settings` when any source holds something wrong or unknown
 */
export const loadDataDir = (sources: Sources): string => unlessWrong(collect(sources)).dataDir

/** @throws OperatorError `settings` with every problem of every source */
function unlessWrong(collected: CollectedSettings): CollectedSettings {
  if (collected.problems.length > 0) throw settingsError(collected.problems)
  return collected
}

/**
 * Whether any source names the service or the bot. Without either, a command knows only where a
 * sidecar runs.
 */
export const namesService = (sources: Sources): boolean =>
  collect(sources).levels.some((level) =>
    ['upstream.url', 'bot.token', 'bot.tokenFile'].some((path) => level.has(path)),
  )

/** Whether no source gives any setting, and nothing is in the default data directory. */
export function isNothingSet(sources: Sources): boolean {
  if (findFile(sources) !== null) return false
  const { levels, dataDir, problems } = collect(sources, null)
  return problems.length === 0 && levels.every(({ size }) => size === 0) && !existsSync(dataDir)
}

/**
 * Finds the folder with the files of several bots, without reading them.
 * @returns absolute; null where the bots are listed, or there is one
 * @throws OperatorError `settings` when any source holds something wrong or unknown
 */
export function loadBotFolder(sources: Sources): string | null {
  const folder = unlessWrong(collect(sources)).values.get('bots')?.value
  return typeof folder === 'string' ? folder : null
}

/** What opens a store, or a copy of one. */
export type StoreAccess = ReturnType<typeof loadStoreAccess>

/**
 * Loads what commands need that open a store and never reach the service.
 * @throws OperatorError `settings`, with every problem of every source at once; `usage` as `load` does
 */
export function loadStoreAccess(sources: Sources) {
  const collected = collectNamed(sources)
  const { dataDir, values, problems } = collected
  const [passphrase = null, storeUrl = null] = ['key.passphrase', 'store.url'].map(
    (path) => readGivenSecret(path, collected, { problems, sources })?.secret ?? null,
  )
  if (problems.length > 0) throw settingsError(problems)
  const valueOf = (path: string): unknown => values.get(path)?.value ?? presetOf(path)
  const protection = valueOf('key.protection') as Settings['key']['protection']
  const passphraseCommand = valueOf('key.passphraseCommand') as string[] | undefined
  return {
    /** Absolute. */
    dataDir,
    key: keyAccess({ protection, passphraseCommand }, passphrase),
    /** The database that holds the store; null when it is in `dataDir`. */
    storeUrl,
    engine: valueOf('openpgp.engine') as Settings['openpgp']['engine'],
    store: {
      schema: valueOf('store.schema') as string,
      caFile: valueOf('store.caFile') as string | undefined,
    },
  }
}

/**
 * Finds out where the store is that a command is about.
 * @returns its folder, absolute
 * @throws OperatorError `settings`, `usage` as `load` does
 */
export const loadStoreDir = (sources: Sources): string => unlessWrong(collectNamed(sources)).dataDir

/** What counts for the only bot, or for the one that `sources.bot` names. */
function collectNamed(sources: Sources): CollectedSettings {
  const collected = collect(sources)
  const found = findBots(collected, sources)
  if (found === null) {
    if (sources.bot !== null) throw onlyBot()
    return collected
  }
  const bot = pickBot(found.bots, sources.bot)
  const problems = [...collected.problems, ...found.problems, ...bot.collected.problems]
  return { ...bot.collected, problems }
}
