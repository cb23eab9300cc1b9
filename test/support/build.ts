/** What the processes of the tests start: the bundle of the sources as they stand. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../../config/bundle.ts'
import { deferral, engineOfTests, lowCost } from './changed-constants.ts'

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

/** Of Vitest's global setup: builds it, unless it is there. Other setups start processes of it. */
export async function setup(): Promise<void> {
  const folder = join(CACHE, `tests-${digestOfInput()}`)
  if (!existsSync(folder)) await build(folder)
  process.env['TESTS_MAIN'] = join(folder, 'main.js')
}

async function build(folder: string): Promise<void> {
  removeOld()
  const made = `${folder}.${process.pid}`
  await bundle(made, [lowCost, deferral, engineOfTests])
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
