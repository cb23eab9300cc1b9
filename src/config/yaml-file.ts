/** The settings file: YAML, strict, every value with the line it stands on. */
import { relative } from 'node:path'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { Node, YAMLMap } from 'yaml'
import { describeExposure } from './secrets.ts'
import { readBounded } from './files.ts'
import { nearestName } from './problems.ts'
import type { Problem } from './problems.ts'
import { SETTINGS } from './settings.ts'

const MAX_BYTES = 1024 * 1024
const MAX_PROBLEMS = 50
const PATHS = SETTINGS.map(({ path }) => path)

/** A value as one source gives it, not yet checked. */
export interface GivenSetting {
  value: unknown
  place: string
}

/** What a settings file holds. */
export interface FileSettings {
  /** By dotted path. */
  values: Map<string, GivenSetting>
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
export function readSettingsFile(path: string, cwd: string): FileSettings {
  const near = relative(cwd, path)
  const name = near.startsWith('..') ? path : near
  const read = readBounded(path, MAX_BYTES)
  if ('problem' in read) return unreadable([{ place: name, path: '', message: read.problem }])

  const lines = new LineCounter()
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  let document: ReturnType<typeof parseDocument>
  try {
    document = parseDocument(read.text, { lineCounter: lines, prettyErrors: false })
  } catch {
    return unreadable([{ place: name, path: '', message: 'is nested too deep' }])
  }
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
  const found: FileSettings = { values: new Map(), problems: [], readable: true }
  collect(document.contents, [], at, found)
  refuseExposedSecret(found, path, read.facts)
  found.problems = found.problems.slice(0, MAX_PROBLEMS)
  return found
}

function unreadable(problems: Problem[]): FileSettings {
  return { values: new Map(), problems, readable: false }
}

function collect(
  node: Node | null,
  path: string[],
  at: (offset: number) => string,
  found: FileSettings,
): void {
  const empty = node === null || (isScalar(node) && node.value === null)
  if (empty) return
  const problem = (message: string) =>
    found.problems.push({ place: at(node.range?.[0] ?? 0), path: path.join('.'), message })
  if (isAlias(node)) problem('aliases are not taken')
  else if (!isMap(node)) problem('expected a group of settings')
  else for (const pair of node.items) collectPair(pair, path, at, found)
}

function collectPair(
  pair: YAMLMap['items'][number],
  above: string[],
  at: (offset: number) => string,
  found: FileSettings,
): void {
  const key = pair.key as Node
  const value = pair.value as Node | null
  const name = isScalar(key) ? String(key.value) : '?'
  const path = [...above, name]
  const dotted = path.join('.')
  const place = at((value ?? key).range?.[0] ?? key.range?.[0] ?? 0)
  if (PATHS.includes(dotted)) {
    if (value !== null && hasAlias(value)) {
      found.problems.push({ place, path: dotted, message: 'aliases are not taken' })
    } else {
      found.values.set(dotted, { value: plain(value), place })
    }
  } else if (PATHS.some((known) => known.startsWith(`${dotted}.`))) {
    collect(value, path, at, found)
  } else {
    found.problems.push({
      place: at(key.range?.[0] ?? 0),
      path: dotted,
      message: 'no such setting',
      nearest: nearestName(dotted, PATHS),
    })
  }
}

function hasAlias(node: unknown): boolean {
  return isAlias(node) || (isSeq(node) && node.items.some((item) => isAlias(item)))
}

/** The value of a leaf: a scalar, or a list of them; what no setting can be becomes `{}`. */
function plain(node: unknown): unknown {
  if (node === null) return null
  if (isScalar(node)) return node.value
  return isSeq(node) ? node.items.map((item) => (isScalar(item) ? item.value : {})) : {}
}

function refuseExposedSecret(
  found: FileSettings,
  path: string,
  facts: Parameters<typeof describeExposure>[1],
): void {
  const secret = SETTINGS.find((s) => s.kind === 'secret' && found.values.has(s.path))
  if (secret === undefined) return
  const exposed = describeExposure(path, facts)
  if (exposed === null) return
  const place = found.values.get(secret.path)?.place ?? ''
  found.problems.push({ place, path: secret.path, message: `the file ${exposed}` })
}
