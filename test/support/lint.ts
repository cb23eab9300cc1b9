/**
 * `npm run lint`: runs oxlint on the files that it has not passed as they are. Its rules know types,
 * so a file counts as changed with anything that it imports, whether itself or through others.
 * With options of oxlint's, such as `--fix`, it runs on all files.
 */
import { spawnSync } from './programs.ts'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Imports, reached } from './imports.ts'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, 'node_modules/.cache/lint.json')
const FILES = ['src', 'test', 'bin'].map((folder) => `${folder}/**/*.{ts,js,cjs,mjs}`)
/** What decides for every file. */
const SHARED = ['config/oxlint.json', 'package-lock.json', 'tsconfig.json']
const AMBIENT = /^declare (?:module|global)\b/m

const digest = (texts: Iterable<string>): string => {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\0')
  return hash.digest('base64url')
}

/** A digest for each file, which changes with all that its verdict may depend on. */
function digests(): Map<string, string> {
  const imports = new Imports(...FILES)
  const own = new Map([...imports.texts].map(([file, text]) => [file, digest([file, text])]))
  const ambient = [...imports.texts.values()].filter((text) => AMBIENT.test(text))
  const shared = digest([
    ...SHARED.map((file) => readFileSync(join(ROOT, file), 'utf8')),
    ...ambient,
  ])
  const digestOf = (file: string): string => {
    const closure = reached([file], (one) => imports.importedBy(one)).keys()
    return digest([shared, ...[...closure].map((one) => own.get(one) ?? one).toSorted()])
  }
  return new Map([...own.keys()].map((file) => [file, digestOf(file)]))
}

/** The digests that passed. */
function passed(): Set<string> {
  try {
    return new Set(JSON.parse(readFileSync(CACHE, 'utf8')) as string[])
  } catch {
    return new Set()
  }
}

function lint(args: readonly string[]): boolean {
  const { status } = spawnSync('oxlint', ['--config', 'config/oxlint.json', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status === 0
}

const options = process.argv.slice(2)
if (options.length > 0) {
  process.exitCode = lint([...options, 'src', 'test', 'bin']) ? 0 : 1
} else {
  const now = digests()
  const before = passed()
  const changed = [...now].filter(([, one]) => !before.has(one)).map(([file]) => file)
  const isClean = changed.length === 0 || lint(changed)
  if (isClean) {
    mkdirSync(dirname(CACHE), { recursive: true })
    writeFileSync(CACHE, JSON.stringify([...now.values()]))
  }
  process.exitCode = isClean ? 0 : 1
}
