/** Several bots in one process: which there are, and what counts for each. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemCodeOf } from '../errors.ts'
import { describeOthersFolder } from '../util/file-owners.ts'
import { checkLevels, type CollectedSettings } from './collect.ts'
import { BOT_NAME } from './bot-names.ts'
import type { Problem } from './problems.ts'
import { presetOf } from './settings.ts'
import type { Sources } from './sources.ts'
import { placeOf } from './files.ts'
import { readBotFile, type BotEntry } from './yaml-file.ts'

/** Several bots, each with its effective settings: its own ones, and else those for all bots. */
export type SeveralBots = NonNullable<ReturnType<typeof findBots>>

/** A bot's file is named after the bot. */
const BOT_FILE = /^(?!\.)(.+)\.ya?ml$/

/** @returns null when the settings are of one bot */
export function findBots(collected: CollectedSettings, sources: Sources) {
  const { list, values } = collected
  const folder = values.get('bots')
  if (folder === undefined && list === null) return null
  const problems: Problem[] = refuseOneBot(collected)
  const path = typeof folder?.value === 'string' ? folder.value : null
  const entries =
    path === null
      ? withNames(list ?? [], problems)
      : readFolder(path, { place: folder?.place ?? '', cwd: sources.cwd, problems })
  const bots = entries.map(({ name, entry }) => ({
    name,
    /** Where its entry begins. */
    place: entry.place,
    collected: collectBot(name, entry, { collected, cwd: sources.cwd }),
  }))
  // The folder in which each has a file is absolute, and null where they are listed.
  return { folder: path, bots, problems }
}

/** The file of a bot in the folder of all. */
export const botFile = (folder: string, name: string): string => join(folder, `${name}.yaml`)

interface NamedEntry {
  name: string
  entry: BotEntry
}

/** Tokens beside several bots would be nobody's. */
function refuseOneBot({ levels }: CollectedSettings): Problem[] {
  const tokens = levels.flatMap((level) => [...level]).filter(([path]) => path.startsWith('bot.'))
  return tokens.map(([path, { place }]) => ({ place, path, message: OF_ONE_BOT }))
}

const OF_ONE_BOT = 'expected in the entry of each bot, since `bots` is set'

function withNames(list: readonly BotEntry[], problems: Problem[]): NamedEntry[] {
  const names = new Map<string, BotEntry>()
  return list.flatMap((entry, index) => {
    const { value = '', place = entry.place } = entry.name ?? {}
    const refuse = (message: string): [] => {
      problems.push({ place, path: `bots.${index}.name`, message })
      return []
    }
    if (entry.name === null) return refuse('is required')
    if (typeof value !== 'string' || !BOT_NAME.test(value)) return refuse(NAME_EXPECTED)
    const first = names.get(value)
    if (first !== undefined) return refuse(`is the name of another bot (${first.place})`)
    names.set(value, entry)
    return [{ name: value, entry }]
  })
}

const NAME_EXPECTED = 'expected at most 63 of a-z, 0-9, _ and -, with a letter or digit first'

function readFolder(
  folder: string,
  { place, cwd, problems }: { place: string; cwd: string; problems: Problem[] },
): NamedEntry[] {
  const files = listFolder(folder)
  if (!Array.isArray(files)) {
    problems.push({ place, path: 'bots', ...files, message: `${folder} ${files.message}` })
    return []
  }
  const seen = new Set<string>()
  return files.flatMap((file) => {
    const name = BOT_FILE.exec(file)?.[1]
    if (name === undefined) return []
    const path = join(folder, file)
    const at = placeOf(path, cwd)
    const read = readBotFile(path, { cwd, of: `bots.${name}` })
    problems.push(...read.problems)
    if (!BOT_NAME.test(name)) {
      problems.push({ place: at, path: 'bots', message: `its name: ${NAME_EXPECTED}` })
    } else if (seen.has(name)) {
      problems.push({ place: at, path: 'bots', message: `${name} has another file there` })
    }
    seen.add(name)
    if (read.entry === null) return []
    const entry = { ...read.entry, place: at }
    if (entry.name !== null && entry.name.value !== name) {
      const message = `expected ${name}, as the file is named, or nothing`
      problems.push({ place: entry.name.place, path: `bots.${name}.name`, message })
    }
    return [{ name, entry }]
  })
}

/** The names in a folder, or why its files are refused. */
function listFolder(folder: string): string[] | { message: string; hint?: string } {
  try {
    const names = readdirSync(folder).sort()
    return describeOthersFolder(folder) ?? names
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === 'ENOENT') return { message: 'is not there' }
    if (code === 'ENOTDIR') return { message: 'is no folder' }
    return { message: `cannot be read (${code})` }
  }
}

function collectBot(
  name: string,
  { values: own, place }: BotEntry,
  { collected, cwd }: { collected: CollectedSettings; cwd: string },
): CollectedSettings {
  const problems: Problem[] = []
  const checked = checkLevels([own], cwd, problems)
  const values = new Map([...collected.values, ...checked])
  values.delete('bots')
  const given = checked.get('dataDir')?.value
  const dataDir = typeof given === 'string' ? given : join(collected.dataDir, 'bots', name)
  if (!checked.has('store.schema') && BOT_NAME.test(name)) {
    // names differ, and so do schemas that are named after them
    const common = collected.values.get('store.schema')?.value ?? presetOf('store.schema')
    values.set('store.schema', { value: `${String(common)}_${name}`, place })
  }
  const levels = [own, ...collected.levels]
  return { ...collected, levels, values, list: null, dataDir, problems }
}
