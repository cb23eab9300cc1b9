/** What the processes of the tests start: the bundle of the sources as they stand. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deferral, engineOfTests, lowCost } from './changed-constants.ts'
import { onceInRun } from './run-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, 'node_modules/.cache')
const INPUT = [
  'config/bundle.ts',
  'package.json',
  'package-lock.json',
  'src/**/*.ts',
  'src/sandbox/page/browser/*.{html,js,css,svg}',
  'test/support/changed-constants.ts',
]
const KEPT_MS = 86_400_000

/** Says to this process and its children where the bundle is, once it is built. */
export function nameBundle(): void {
  process.env['TESTS_MAIN'] ??= join(CACHE, `tests-${digestOfInput()}`, 'main.js')
}

/** Builds the bundle that is named, unless it is there. @throws Error when a source has changed */
export async function build(): Promise<void> {
  const main = process.env['TESTS_MAIN'] ?? ''
  if (existsSync(main)) return
  const folder = dirname(main)
  removeOld()
  const made = `${folder}.${process.pid}`
  // rolldown takes its time to load
  const { bundle } = await import('../../config/bundle.ts')
  await bundle(made, [lowCost, deferral, engineOfTests])
  if (!folder.endsWith(digestOfInput()))
    throw new Error('the sources have changed since the run began')
  try {
    renameSync(made, folder)
  } catch {
    // another run was first
    rmSync(made, { recursive: true })
  }
}

function digestOfInput(): string {
  const hash = createHash('sha256')
  for (const file of globSync(INPUT, { cwd: ROOT }).toSorted()) {
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)))
  }
  return hash.digest('hex').slice(0, 12)
}

/** Those that no run of today uses. */
function removeOld(): void {
  for (const name of globSync('tests-*', { cwd: CACHE })) {
    const path = join(CACHE, name)
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true })
  }
}

if (import.meta.main) await onceInRun('bundle', build)
