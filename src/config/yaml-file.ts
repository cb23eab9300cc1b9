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
  readFile(path, cwd, (contents, into) => collect(contents, [], { ...into, paths: PATHS }))

/**
 * Reads the file of one of several bots, as strictly.
 * @param path absolute
 * @param cwd what places are named relative to
 * @returns `entry` null when it could not be read as YAML
 */
export function readBotFile(path: string, cwd: string) {
  // A pipe in the folder would be waited for, with all that is served.
  const kind = statSync(path, { throwIfNoEntry: false })
  if (kind?.isFile() === false && !kind.isDirectory()) {
    const problem = { place: placeOf(path, cwd), path: '', message: 'is no ordinary file' }
    return { entry: null, problems: [problem] }
  }
  const { bots, problems } = readFile(path, cwd, (contents, { at, found }) => {
    found.bots = [entryOf(contents, null, { at, found, paths: BOT_PATHS })]
  })
  return { entry: bots?.[0] ?? null, problems }
}

/** @param take collects the settings of the document */
function readFile(
  path: string,
  cwd: string,
  take: (contents: Node | null, into: { at: Into['at']; found: FileSettings }) => void,
): FileSettings {
  const name = placeOf(path, cwd)
  const problem = describeOthersChange(path)
  if (problem !== null) return unreadable([{ place: name, path: '', ...problem }])
  const read = readBounded(path, MAX_BYTES)
  if ('problem' in read) return unreadable([{ place: name, path: '', message: read.problem }])

  const parsed = resultOr(() => parseYaml(read.text), null)
  if (parsed === null) return unreadable([{ place: name, path: '', message: 'is nested too deep' }])
  const { document } = parsed
  const at = (offset: number): string => `${name}:${parsed.at(offset)}`
  const errors = [...document.errors, ...document.warnings]
  if (errors.length > 0) {
    return unreadable(
      errors.slice(0, MAX_PROBLEMS).map(({ code, pos }) => ({
        place: at(pos[0]),
        path: '',
        // The parser's own words may quote the line, and with it a secret.
        message: `is not YAML (${code.toLowerCase().replaceAll('_', ' ')})`,
      })),
    )
  }
  const found: FileSettings = { values: new Map(), bots: null, problems: [], readable: true }
  take(document.contents, { at, found })
  for (const values of [found.values, ...(found.bots ?? []).map((one) => one.values)]) {
    found.problems.push(...exposedSecret(values, path, read.facts))
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
  const { at, found, paths } = into
  const key = pair.key as Node
  const value = pair.value as Node | null
  const name = isScalar(key) ? String(key.value) : '?'
  const path = [...above, name]
  const dotted = path.join('.')
  const place = at((value ?? key).range?.[0] ?? key.range?.[0] ?? 0)
  if (dotted === BOTS && isSeq(value) && paths === PATHS) {
    found.bots = value.items.map((item, index) => entryOf(item as Node | null, index, into))
  } else if (paths.includes(dotted)) {
    if (value !== null && hasAlias(value)) {
      found.problems.push({ place, path: named(path, into), message: 'aliases are not taken' })
    } else {
      found.values.set(dotted, { value: plain(value), place })
    }
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

/** @param index null in a file of its own */
function entryOf(node: Node | null, index: number | null, { at, found, paths }: Into): BotEntry {
  const given = isMap(node) ? node.get('name') : undefined
  const of = typeof given === 'string' ? given : String(index ?? '')
  const values = new Map<string, GivenSetting>()
  const own = { values, problems: found.problems }
  const into = { at, found: own, paths: BOT_PATHS, of: `${BOTS}.${of}`.replace(/\.$/, '') }
  if (node !== null && isMap(node)) collect(node, [], into)
  else if (paths !== BOT_PATHS || node !== null) {
    const place = at(node?.range?.[0] ?? 0)
    found.problems.push({ place, path: into.of, message: 'expected the settings of a bot' })
  }
  const name = values.get('name') ?? null
  values.delete('name')
  // by the paths that they have where there is one bot
  const whole = [...values].map(
    ([path, one]) => [PATHS.includes(path) ? path : `bot.${path}`, one] as const,
  )
  return { place: at(node?.range?.[0] ?? 0), name, values: new Map(whole) }
}

const named = (path: string[], { of }: Into): string =>
  [...(of === undefined ? [] : [of]), ...path].join('.')

function hasAlias(node: unknown): boolean {
  if (isMap(node)) return node.items.some(({ key, value }) => hasAlias(key) || hasAlias(value))
  return isAlias(node) || (isSeq(node) && node.items.some(hasAlias))
}

/** The value of a leaf: a scalar, or lists and groups of them. */
function plain(node: unknown): unknown {
  if (isScalar(node)) return node.value
  if (isSeq(node)) return node.items.map(plain)
  if (!isMap(node)) return null
  return Object.fromEntries(
    node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : '?', plain(value)]),
  )
}

function exposedSecret(
  values: ReadonlyMap<string, GivenSetting>,
  path: string,
  facts: Parameters<typeof describeExposure>[1],
): Problem[] {
  const secret = SETTINGS.find((s) => s.kind === 'secret' && values.has(s.path))
  if (secret === undefined) return []
  const exposed = describeExposure(path, facts)
  if (exposed === null) return []
  const place = values.get(secret.path)?.place ?? ''
  return [{ place, path: secret.path, message: `the file ${exposed}` }]
}
