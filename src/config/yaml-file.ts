/** Settings files: YAML, strict, every value with its line. */
import { statSync } from 'node:fs'
import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml'
import { resultOr } from '../errors.ts'
import { describeExposure } from './secrets.ts'
import { describeOthersChange } from '../util/file-owners.ts'
import { placeOf, readBounded } from './files.ts'
import { parseYaml } from './parse-yaml.ts'
import { nearestName, withGroups, type Problem } from './problems.ts'
import { isOfEachBot } from './options.ts'
import { SETTINGS } from './settings.ts'

const MAX_BYTES = 1024 * 1024
const MAX_PROBLEMS = 50
const BOTS = 'bots'
const PATHS = SETTINGS.map(({ path }) => path)
const BOT_TOKENS = /^bot\.(?=(client)?token)/i
/** Settings in the entry of one of several bots, in which tokens have no group. */
const BOT_PATHS = ['name', ...PATHS.filter(isOfEachBot).map((path) => path.replace(BOT_TOKENS, ''))]

/** A value as one source gives it, not yet checked. */
export interface GivenSetting {
  value: unknown
  place: string
}

/** One of several bots, as a list or a file of its own names it. */
export interface BotEntry {
  /** Where it begins. */
  place: string
  /** As it was given; null when it was not. */
  name: GivenSetting | null
  /** By dotted path, as in the settings of one bot. */
  values: Map<string, GivenSetting>
}

/** What a settings file holds. */
export interface FileSettings {
  /** By dotted path; of `bots` the path of a folder alone. */
  values: Map<string, GivenSetting>
  /** The list under `bots`; null when there is none. */
  bots: BotEntry[] | null
  problems: Problem[]
  /** False when it could not be read as YAML, so that what it lacks is not known. */
  readable: boolean
}

/**
 * Reads a settings file of at most 1 MiB. Aliases and tags are refused: settings need neither, and
 * a few lines of aliases unfold to gigabytes.
 * @param path absolute
 * @param cwd what places are named relative to
 */
export const readSettingsFile = (path: string, cwd: string): FileSettings =>
  readFile(path, { cwd }, (contents, into) => collect(contents, [], { ...into, paths: PATHS }))

/**
 * Reads the file of one of several bots, as strictly.
 * @param path absolute
 * @param cwd what places are named relative to
 * @param of the path of the bot's settings, which problems name
 * @returns `entry` null when it could not be read as YAML
 */
export function readBotFile(path: string, { cwd, of }: { cwd: string; of: string }) {
  // A pipe in the folder would be waited for, with all that is served.
  const kind = statSync(path, { throwIfNoEntry: false })
  if (kind?.isFile() === false && !kind.isDirectory()) {
    const problem = { place: placeOf(path, cwd), path: of, message: 'is no ordinary file' }
    return { entry: null, problems: [problem] }
  }
  const { bots, problems } = readFile(path, { cwd, of }, (contents, into) => {
    into.found.bots = [entryOf(contents, { ...into, of })]
  })
  return { entry: bots?.[0] ?? null, problems }
}

/** @param take collects the settings of the document */
function readFile(
  path: string,
  { cwd, of = '' }: { cwd: string; of?: string },
  take: (contents: Node | null, into: Pick<Into, 'at' | 'plain'> & { found: FileSettings }) => void,
): FileSettings {
  const name = placeOf(path, cwd)
  const problem = describeOthersChange(path)
  if (problem !== null) return unreadable([{ place: name, path: of, ...problem }])
  const read = readBounded(path, MAX_BYTES)
  if ('problem' in read) return unreadable([{ place: name, path: of, message: read.problem }])

  const parsed = resultOr(() => parseYaml(read.text), null)
  if (parsed === null) return unreadable([{ place: name, path: of, message: 'is nested too deep' }])
  const { document } = parsed
  const at = (offset: number): string => `${name}:${parsed.at(offset)}`
  const errors = [...document.errors, ...document.warnings]
  if (errors.length > 0) {
    return unreadable(
      errors.slice(0, MAX_PROBLEMS).map(({ code, pos }) => ({
        place: at(pos[0]),
        path: of,
        // The parser's own words may quote the line, and with it a secret.
        message: `is not YAML (${code.toLowerCase().replaceAll('_', ' ')})`,
      })),
    )
  }
  const plain = (node: Node): unknown => node.toJS(document, { maxAliasCount: 0 })
  const found: FileSettings = { values: new Map(), bots: null, problems: [], readable: true }
  take(document.contents, { at, plain, found })
  for (const values of [found.values, ...(found.bots ?? []).map((one) => one.values)]) {
    const secret = SETTINGS.find((one) => one.kind === 'secret' && values.has(one.path))?.path
    const exposed = secret === undefined ? null : describeExposure(path, read.facts)
    if (secret === undefined || exposed === null) continue
    const place = values.get(secret)?.place ?? ''
    found.problems.push({ place, path: named([secret], { of }), message: `the file ${exposed}` })
  }
  found.problems = found.problems.slice(0, MAX_PROBLEMS)
  return found
}

const unreadable = (problems: Problem[]): FileSettings => ({
  values: new Map(),
  bots: null,
  problems,
  readable: false,
})

/** The target of a reading, and the names known there. */
interface Into {
  at: (offset: number) => string
  /** @throws ReferenceError where it holds an alias */
  plain: (node: Node) => unknown
  found: Pick<FileSettings, 'values' | 'problems'> & { bots?: BotEntry[] | null }
  paths: readonly string[]
  /** Prefix of the paths of problems: the bot's entry. */
  of?: string
}

function collect(node: Node | null, path: string[], into: Into): void {
  const { at, found } = into
  const empty = node === null || (isScalar(node) && node.value === null)
  if (empty) return
  const problem = (message: string) =>
    found.problems.push({ place: at(node.range?.[0] ?? 0), path: named(path, into), message })
  if (isAlias(node)) problem('aliases are not taken')
  else if (!isMap(node)) problem('expected a group of settings')
  else for (const pair of node.items) collectPair(pair, path, into)
}

function collectPair(pair: YAMLMap['items'][number], above: string[], into: Into): void {
  const { at, plain, found, paths } = into
  const key = pair.key as Node
  const value = pair.value as Node | null
  const name = isScalar(key) ? String(key.value) : '?'
  const path = [...above, name]
  const dotted = path.join('.')
  const place = at((value ?? key).range?.[0] ?? key.range?.[0] ?? 0)
  if (dotted === BOTS && isSeq(value) && paths === PATHS) {
    found.bots = value.items.map((item, index) => {
      const given = isMap(item) ? item.get('name') : undefined
      const of = `${BOTS}.${typeof given === 'string' ? given : index}`
      return entryOf(item as Node, { ...into, of })
    })
  } else if (paths.includes(dotted)) {
    const read = resultOr(() => ({ value: value && plain(value), place }), null)
    if (read !== null) found.values.set(dotted, read)
    else found.problems.push({ place, path: named(path, into), message: 'aliases are not taken' })
  } else if (paths.some((known) => known.startsWith(`${dotted}.`))) {
    collect(value, path, into)
  } else {
    const isShown = found.problems.length < MAX_PROBLEMS
    const isOfAll = PATHS.some((known) => known === dotted || known.startsWith(`${dotted}.`))
    found.problems.push({
      place: at(key.range?.[0] ?? 0),
      path: named(path, into),
      ...(dotted === 'bot' && paths === BOT_PATHS
        ? { message: 'expected without this group: token, tokenFile, clientToken, clientTokenFile' }
        : isOfAll
          ? { message: 'is the same for all bots: set it beside `bots`, not for one of them' }
          : {
              message: 'no such setting',
              nearest: isShown ? nearestName(dotted, withGroups(paths)) : undefined,
            }),
    })
  }
}

function entryOf(
  node: Node | null,
  { found, ...into }: Pick<Into, 'at' | 'plain' | 'found'> & { of: string },
): BotEntry {
  const values = new Map<string, GivenSetting>()
  const { problems } = found
  const place = into.at(node?.range?.[0] ?? 0)
  if (isMap(node)) collect(node, [], { ...into, found: { values, problems }, paths: BOT_PATHS })
  else if (node !== null) {
    problems.push({ place, path: into.of, message: 'expected the settings of a bot' })
  }
  const name = values.get('name') ?? null
  values.delete('name')
  // by the paths that they have where there is one bot
  const whole = [...values].map(
    ([path, one]) => [PATHS.includes(path) ? path : `bot.${path}`, one] as const,
  )
  return { place, name, values: new Map(whole) }
}

const named = (path: string[], { of = '' }: Pick<Into, 'of'>): string =>
  [of, ...path].filter((part) => part !== '').join('.')
