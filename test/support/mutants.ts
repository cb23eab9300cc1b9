/**
 * `npm run mutants -- FILES`: changes files of `src` in one place after the other, and lists the
 * changes that no test near them notices. FILES are files, folders, or lines as `file.ts:10-20`;
 * tests among them are the only ones that run.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stryker } from '@stryker-mutator/core'

/** Tests of what lies in no folder. */
const OF_FILES: Record<string, string> = {
  'permit.ts': '{translate,upstream}/{permits,guard*}',
}

/**
 * Left out unless they are named: a process of its own has no mutants, and a whole sidecar, which
 * then runs inside (`sidecar-inside.ts`), takes long for each of them.
 */
const STARTS_PROCESSES = /\b(useStage|startSidecar|runPostern|spawnPostern)\b/

function testsNear(path: string): string[] {
  const [, name = ''] = path.split('/')
  const files = globSync(`test/${OF_FILES[name] ?? `${name.replace('.ts', '')}{/**/,}*`}.test.ts`)
  return files.filter((file) => !STARTS_PROCESSES.test(readFileSync(file, 'utf8')))
}

const allOf = (path: string, ending: string): string =>
  statSync(path.replace(/:[\d:-]+$/, '')).isDirectory() ? `${path}/**/*${ending}` : path

const paths = process.argv.slice(2).map((path) => path.replace(/\/$/, ''))
const sources = paths.filter((path) => path.startsWith('src/'))
const given = paths.filter((path) => path.startsWith('test/'))
const tests =
  given.length > 0 ? given.map((path) => allOf(path, '.test.ts')) : sources.flatMap(testsNear)
process.env['MUTANTS_TESTS'] = [...new Set(tests)].join(' ')

const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

await new Stryker({
  configFile: 'config/stryker.json',
  mutate: sources.map((path) => allOf(path, '.ts')),
  tempDirName: folder,
}).runMutationTest()
