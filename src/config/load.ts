/**
 * Loads the settings: flags over environment over file over defaults. Gives values, has no effect.
 */
import { onlyBot, pickBot } from './bot-names.ts'
import { findBots } from './bots.ts'
import { collect } from './collect.ts'
import { settingsError } from './problems.ts'
import { readOne, type Loaded } from './read-one.ts'
import { readSeveral, type LoadedBots } from './read-several.ts'
import type { Sources } from './sources.ts'

/**
 * Loads everything that `run` needs.
 * @returns the settings of the one bot, or of several
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export function loadAll(sources: Sources): { one: Loaded } | { several: LoadedBots } {
  const collected = collect(sources)
  const found = findBots(collected, sources)
  if (found !== null) return { several: readSeveral(collected, found, sources) }
  const problems = [...collected.problems]
  const one = readOne(collected, { sources, problems, isOneOfSeveral: false })
  if (problems.length > 0 || one === null) throw settingsError(problems)
  return { one }
}

/**
 * Loads the settings of several bots again.
 * @throws OperatorError `settings`, also when they are of one bot now
 */
export function loadSeveral(sources: Sources): LoadedBots {
  const loaded = loadAll(sources)
  if ('several' in loaded) return loaded.several
  const message = 'is gone, and one bot takes a restart'
  throw settingsError([{ place: '', path: 'bots', message }])
}

/**
 * Loads the settings of one bot: of the only one, or of the one of several that `sources.bot` names.
 * @throws OperatorError `settings`, with every problem of every source at once; `usage` when no bot
 *   is of that name, or none is named and there are several
 */
export function load(sources: Sources): Loaded {
  const loaded = loadAll(sources)
  if ('one' in loaded) {
    if (sources.bot !== null) throw onlyBot()
    return loaded.one
  }
  return pickBot(loaded.several.bots, sources.bot)
}
