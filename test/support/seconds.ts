/**
 * `npm run seconds`: runs `npm test` (with `-- --mode=system` the system's tests), prints where the
 * time went, and writes `test/seconds.json`, by which a run begins with the longest files. Names of
 * tests or folders run these alone and write nothing. With `--read FILE` nothing is run: the notes of
 * another run (`TESTS_SECONDS=FILE npm test`) are summed.
 */
import { spawnSync } from './programs.ts'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Cost } from './costs.ts'

const ROOT = join(import.meta.dirname, '../..')
const TICKS_PER_SECOND = 100
const LISTED_FROM_SECONDS = 1

/** What `seconds-setup.ts` notes of one test file. */
export interface FileSeconds extends Cost {
  file: string
  /** `file`, or `postgres` where the same tests run once more. */
  store: string
}

/** User and system time of a process and of its children that have ended (proc(5)). */
export function cpuSeconds(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return ticks / TICKS_PER_SECOND
}

/** Sums by a name, the most CPU time first. */
function sums(notes: readonly FileSeconds[], nameOf: (one: FileSeconds) => string) {
  const found = new Map<string, Cost>()
  for (const note of notes) {
    const sum = found.get(nameOf(note)) ?? { cpu: 0, clock: 0 }
    found.set(nameOf(note), { cpu: sum.cpu + note.cpu, clock: sum.clock + note.clock })
  }
  return [...found].toSorted(([, one], [, other]) => other.cpu - one.cpu)
}

function print(title: string, rows: readonly [string, Cost][]): void {
  const lines = rows.map(([name, { cpu, clock }]) =>
    [cpu, clock]
      .map((one) => one.toFixed(1).padStart(8))
      .join('')
      .concat(`  ${name}`),
  )
  process.stdout.write(`\n${title}\n     CPU   clock\n${lines.join('\n')}\n`)
}

function read(path: string): FileSeconds[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines
    .map((line) => JSON.parse(line) as FileSeconds)
    .map((note) => ({ ...note, file: relative(ROOT, note.file) }))
}

function write(notes: readonly FileSeconds[]): void {
  const known = JSON.parse(readFileSync(join(ROOT, 'test/seconds.json'), 'utf8')) as object
  const others = Object.entries(known as Record<string, Cost>).filter(
    ([file]) => existsSync(join(ROOT, file)) && !notes.some((note) => note.file === file),
  )
  const listed = [...sums(notes, ({ file }) => file), ...others]
    .filter(([, { cpu, clock }]) => Math.max(cpu, clock) >= LISTED_FROM_SECONDS)
    .map(([file, { cpu, clock }]) => [file, { cpu: tenths(cpu), clock: tenths(clock) }] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const lines = listed.map(
    ([file, { cpu, clock }]) => `  "${file}": { "cpu": ${cpu}, "clock": ${clock} }`,
  )
  writeFileSync(join(ROOT, 'test/seconds.json'), `{\n${lines.join(',\n')}\n}\n`)
}

const tenths = (seconds: number): number => Math.round(seconds * 10) / 10

if (import.meta.main) {
  const [first, ...names] = process.argv.slice(2)
  const given = first === '--read' ? names[0] : undefined
  const path = given ?? join(mkdtempSync(join(tmpdir(), 'seconds-')), 'notes')
  if (given === undefined) {
    const tests = process.argv.slice(2)
    const { status } = spawnSync('vitest', ['run', '--config', 'config/vitest.ts', ...tests], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, TESTS_SECONDS: path },
    })
    process.exitCode = status ?? 1
    process.stdout.write(`\nthe whole run: ${cpuSeconds('self').toFixed(0)} s of the CPU\n`)
  }
  const notes = read(path)
  print(
    'by folder',
    sums(notes, ({ file }) => file.split('/').slice(0, 2).join('/')),
  )
  print('the first 30 files', sums(notes, ({ file, store }) => `${file} (${store})`).slice(0, 30))
  const isWhole = first === undefined || first.startsWith('--mode=')
  if (isWhole && process.exitCode === 0) write(notes)
}
