/** What counts for several bots, for the process that they share, and what must differ between them. */
import { botIdOf } from '../api/bot.ts'
import type { SeveralBots } from './bots.ts'
import type { CollectedSettings } from './collect.ts'
import { readGivenSecret } from './given-secrets.ts'
import { settingsError, type Problem } from './problems.ts'
import { nest, originsOf, presentedToken, readOne, type Loaded } from './read-one.ts'
import { applyProcessRules } from './rules.ts'
import { processSettingsFrom } from './settings.ts'
import type { Sources } from './sources.ts'

/** One of several bots. */
export type LoadedBot = Loaded & { name: string }

/** Several bots, and what they have in common. */
export type LoadedBots = ReturnType<typeof readSeveral>

/**
 * Reads all that is of several bots.
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export function readSeveral(
  collected: CollectedSettings,
  { folder, bots, problems: wrongBots }: SeveralBots,
  sources: Sources,
) {
  const problems = [...collected.problems, ...wrongBots]
  const given = new Set<string>()
  const [alertUrl, storeUrl] = ['alert.url', 'store.url'].map((path) => {
    const found = readGivenSecret(path, collected, { problems, sources })
    if (found === null) return undefined
    given.add(path)
    return found.secret ?? undefined
  })
  problems.push(...applyProcessRules({ ...collected, secrets: given, sources }))
  const loaded = bots.map(({ name, place, collected: own }): LoadedBot | null => {
    const wrong = [...own.problems]
    const one = readOne(own, { sources, problems: wrong, isOneOfSeveral: true })
    problems.push(...wrong.map((problem) => ofBot(problem, { name, place })))
    return one === null ? null : { ...one, name }
  })
  const complete = loaded.filter((one) => one !== null)
  problems.push(...refuseTwins(complete))
  if (problems.length > 0) throw settingsError(dedupe(problems))
  return {
    settings: processSettingsFrom(nest(collected), { pretty: sources.terminal }),
    secrets: { alertUrl, storeUrl },
    origins: originsOf(collected),
    bots: complete,
    /** Where each has a file, absolute; null where they are listed in the settings file. */
    folder,
  }
}

/** Reports a problem of all bots once. */
function dedupe(problems: readonly Problem[]): Problem[] {
  const said = new Set<string>()
  return problems.filter(({ place, path, message }) => {
    const name = [place, path, message].join('\n')
    return !said.has(name) && said.add(name)
  })
}

/** Names the bot; a missing setting is reported at its entry. */
function ofBot(problem: Problem, { name, place }: { name: string; place: string }): Problem {
  // As it is written in an entry.
  const own = problem.path.replace(/^bot\./, '')
  const path = ['bots', name, ...(own === '' ? [] : [own])].join('.')
  return { ...problem, path, place: problem.place === '' ? place : problem.place }
}

/** What must differ between two bots. */
interface Telling {
  what: string
  of: (bot: LoadedBot) => string | number | null
  /** The setting that holds the value. */
  path: string
  hint?: string
}

const TELLING: readonly Telling[] = [
  {
    what: 'the token of the same bot',
    of: ({ secrets }) => botIdOf(secrets.botToken.reveal()),
    path: 'bot.token',
  },
  {
    what: 'the same token for the local bot',
    of: ({ secrets }) => presentedToken(secrets).reveal(),
    path: 'bot.token',
  },
  { what: 'the same dataDir', of: ({ settings }) => settings.dataDir, path: 'dataDir' },
  {
    what: 'the same store.schema',
    of: ({ settings, secrets }) => (secrets.storeUrl === undefined ? null : settings.store.schema),
    path: 'store.schema',
    hint: 'a schema is of one bot: give one of them another store.schema',
  },
]

/** Refuses two bots with the same value of a setting that identifies a bot. */
const refuseTwins = (bots: readonly LoadedBot[]): Problem[] =>
  TELLING.flatMap(({ what, of, path, hint }) => {
    const first = new Map<string | number, string>()
    return bots.flatMap((bot) => {
      const value = of(bot)
      const other = value === null ? undefined : first.get(value)
      if (value !== null && other === undefined) first.set(value, bot.name)
      if (other === undefined) return []
      const place = bot.origins.get(path) ?? bot.origins.get('bot.token') ?? ''
      return [{ place, path: `bots.${bot.name}`, message: `has ${what} as bots.${other}`, hint }]
    })
  })
