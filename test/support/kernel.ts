/**
 * `npm run kernel` prints how large the source is, how its files hang together, and what one reads
 * of a send into a prepared group and of an update; the upper bounds are in `test/size.test.ts`.
 */
import { execFileSync } from './programs.ts'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { PathRead, ReadFile } from './path-read.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A file with more lines is divided; one with fewer belongs to a neighbour. */
const LONGEST = 300
const SHORTEST = 30

/** Counts of one folder of `src`; `code` leaves out blank lines and comments. */
interface FolderSize {
  folder: string
  files: number
  lines: number
  code: number
}

/** What `measureSource` finds; every path is relative to the root of the project. */
export interface SourceMeasure {
  /** Each folder directly in `src`, and `.` for the files beside them. */
  folders: FolderSize[]
  code: number
  /** Type names (type, interface, class) that more than one file declares, with those files. */
  sharedTypeNames: { name: string; files: string[] }[]
  /** Files that import each other, with imports of types and imports while they run. */
  circles: string[][]
  /** With their number of lines. */
  long: { file: string; lines: number }[]
  short: { file: string; lines: number }[]
}

/** Measures every TypeScript file of `src`. */
export function measureSource(): SourceMeasure {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).toSorted()
  const files = sources.map((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    return { file, text, lines: text.split('\n').length - 1, code: codeLines(text) }
  })
  const size = ({ file, lines }: { file: string; lines: number }) => ({ file, lines })
  return {
    folders: folderSizes(files),
    code: sum(files.map(({ code }) => code)),
    sharedTypeNames: sharedTypeNames(files),
    circles: circles(new Map(files.map(({ file, text }) => [file, importsOf(file, text)]))),
    long: files.filter(({ lines }) => lines > LONGEST).map(size),
    short: files.filter(({ lines }) => lines < SHORTEST).map(size),
  }
}

/** Lines of code of the tests, with all that they share and the benchmarks. */
export const testCode = (): number =>
  sum(
    globSync('test/**/*.ts', { cwd: ROOT }).map((file) =>
      codeLines(readFileSync(join(ROOT, file), 'utf8')),
    ),
  )

type PathSize = Record<'files' | 'lines', number>

/**
 * Files and lines of the kernel and openpgp in which anything runs for a send, and for a polled update
 * with one sealed message: in a process of its own, where nothing else does.
 */
export function measurePaths(): Record<'send' | 'update', PathSize> {
  const program = join(import.meta.dirname, 'path-read.ts')
  const printed = execFileSync(process.execPath, [program, '--json'], { encoding: 'utf8' })
  const sizeOf = (all: ReadFile[]): PathSize => {
    const read = all.filter(({ file }) => /^src\/(?:kernel|openpgp)\//.test(file))
    return { files: read.length, lines: sum(read.map(({ lines }) => lines)) }
  }
  const { send, update } = JSON.parse(printed) as PathRead
  return { send: sizeOf(send), update: sizeOf(update) }
}

/** Names that a folder exports by its `index.ts`. */
export function exportedNames(folder: string): number {
  const door = readFileSync(join(ROOT, `src/${folder}/index.ts`), 'utf8')
  const lists = [...door.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list)
  const single = door.match(/^export (?:const|function)/gm) ?? []
  const names = lists.flatMap((list) => list.split(',').filter((name) => name.trim() !== ''))
  return names.length + single.length
}

/** Functions of `wiring` with more lines than that. */
export function longFunctions(longest: number): string[] {
  return globSync('src/wiring/*.ts', { cwd: ROOT }).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const found = text.matchAll(/^(?:export )?(?:async )?function (\w+)[\s\S]*?^\}\n/gm)
    return [...found].flatMap(([whole, name]) =>
      whole.split('\n').length - 1 > longest ? [`${file} ${name}`] : [],
    )
  })
}

interface SourceFile {
  file: string
  text: string
  lines: number
  code: number
}

function folderSizes(files: readonly SourceFile[]): FolderSize[] {
  const byFolder = Map.groupBy(files, ({ file }) => file.match(/^src\/([^/]+)\//)?.[1] ?? '.')
  return [...byFolder]
    .toSorted()
    .map(([folder, inside]) => ({
      folder,
      files: inside.length,
      lines: sum(inside.map(({ lines }) => lines)),
      code: sum(inside.map(({ code }) => code)),
    }))
}

/**
 * Lines that are neither blank nor comment.
 * @param text as prettier formats it: no comment begins behind code and ends on a later line
 */
export function codeLines(text: string): number {
  let isComment = false
  return text.split('\n').filter((line) => {
    const trimmed = line.trim()
    const begins = !isComment && trimmed.startsWith('/*')
    const isCode = !isComment && !begins && trimmed !== '' && !trimmed.startsWith('//')
    if (isComment || begins) isComment = !trimmed.includes('*/')
    return isCode
  }).length
}

function sharedTypeNames(files: readonly SourceFile[]): { name: string; files: string[] }[] {
  const found = new Map<string, string[]>()
  for (const { file, text } of files) {
    const pattern = /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gm
    for (const [, name = ''] of text.matchAll(pattern)) {
      found.set(name, [...(found.get(name) ?? []), file])
    }
  }
  const names = [...found].map(([name, places]) => ({ name, files: places }))
  return names.filter((one) => one.files.length > 1)
}

function importsOf(file: string, text: string): string[] {
  const found = text.matchAll(
    /^(?:import|export)\b[^'=]*?\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  )
  return [...found].map(([, fixed, later]) => normalize(join(dirname(file), fixed ?? later ?? '')))
}

/** The strongly connected parts of more than one file (Tarjan, 1972). */
export function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  function visit(file: string): number {
    const index = order.size
    order.set(file, index)
    open.push(file)
    let low = index
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low)
    }
    if (low === index) {
      const part = open.splice(open.indexOf(file))
      if (part.length > 1) found.push(part.toSorted())
    }
    return low
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return found
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

function format(measure: SourceMeasure, { send, update }: ReturnType<typeof measurePaths>): string {
  const columns = ['files', 'lines', 'code'] as const
  const row = (name: string, values: readonly (string | number)[]): string =>
    name.padEnd(12) + values.map((value) => String(value).padStart(8)).join('')
  const total = columns.map((column) => sum(measure.folders.map((one) => one[column])))
  const list = (title: string, lines: readonly string[]): string[] => [
    '',
    `${title}: ${lines.length}`,
    ...lines.map((line) => `  ${line}`),
  ]
  const sized = ({ file, lines }: { file: string; lines: number }): string => `${file} ${lines}`
  const text = [
    row('', columns),
    ...measure.folders.map((one) => row(one.folder, [one.files, one.lines, one.code])),
    row('src', total),
    '',
    `names that kernel exports: ${exportedNames('kernel')}, openpgp: ${exportedNames('openpgp')}`,
    `a send into a prepared group, in kernel and openpgp: ${send.files} files, ${send.lines} lines`,
    `an update with a sealed message, in both: ${update.files} files, ${update.lines} lines`,
    ...list(
      'type names declared more than once',
      measure.sharedTypeNames.map(({ name, files }) => `${name}: ${files.join(', ')}`),
    ),
    ...list(
      'circles of imports',
      measure.circles.map((files) => files.join(', ')),
    ),
    ...list(`files of more than ${LONGEST} lines`, measure.long.map(sized)),
    ...list(`files of fewer than ${SHORTEST} lines`, measure.short.map(sized)),
  ]
  return `${text.join('\n')}\n`
}

if (import.meta.main) process.stdout.write(format(measureSource(), measurePaths()))
