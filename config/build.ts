/**
 * Builds `dist`, which the package and the image run: Postern with its libraries in a few files,
 * so that a start reads few. Nothing is minified: what runs can be read. openpgp.js and the
 * keychain's library stay packages of their own.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown, type OutputChunk, type RolldownLog } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const OUT = 'dist'
const DECLARATIONS = 'node_modules/.cache/declarations'
const ENTRIES = [
  'src/main.ts',
  'src/sandbox/create.ts',
  'src/pgp/native/worker.ts',
  'src/pgp/library/worker.ts',
  'src/pgp/library/brainpool.ts',
]
const EXTERNAL = ['openpgp', 'keytar']
/** Compilers of schemas, which no route of ours has (`src/util/no-schemas.ts`). */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler']

const unused = {
  name: 'unused',
  resolveId: (id: string) => (UNUSED.includes(id) ? `\0${id}` : null),
  load: (id: string) => (UNUSED.includes(id.slice(1)) ? 'module.exports = null' : null),
}

rmSync(OUT, { recursive: true, force: true })
rmSync(DECLARATIONS, { recursive: true, force: true })
const chunks = await buildCode()
writeFileSync(join(OUT, 'LICENSES.txt'), licensesOf(chunks))
await buildDeclarations()

async function buildCode(): Promise<OutputChunk[]> {
  await using code = await rolldown({
    input: ENTRIES,
    platform: 'node',
    external: EXTERNAL,
    plugins: [unused],
  })
  const { output } = await code.write({
    dir: OUT,
    format: 'esm',
    entryFileNames: ({ facadeModuleId }) =>
      relative('src', facadeModuleId ?? '').replace(/ts$/, 'js'),
    chunkFileNames: '[name].js',
    // Threads start from files beside that of the pool.
    codeSplitting: { groups: [{ name: 'pgp/pool', test: /src\/pgp\/pool\.ts$/ }] },
  })
  return output.filter((one) => one.type === 'chunk')
}

/** One declaration file that stands alone, so that whoever imports it installs no types. */
async function buildDeclarations(): Promise<void> {
  execFileSync('tsc', ['-p', 'config/declarations.json'], { stdio: 'inherit' })
  await using types = await rolldown({
    input: { 'sandbox/create': `${DECLARATIONS}/sandbox/create.d.ts` },
    platform: 'node',
    external: [/^node:/, 'fastify', 'undici', ...EXTERNAL],
    plugins: [dts({ dtsInput: true })],
    onLog: (level, log, show) => void (isNoise(log) || show(level, log)),
  })
  await types.write({ dir: OUT, format: 'esm', entryFileNames: '[name].d.ts' })
}

/** zod's CommonJS twins of its declarations, which are passed over. */
function isNoise({ message }: RolldownLog): boolean {
  return message.includes('CommonJS dts')
}

/** The licences of every package that is in the chunks, each once. */
function licensesOf(all: OutputChunk[]): string {
  const folders = new Set(all.flatMap(({ moduleIds }) => moduleIds.flatMap(packageFolderOf)))
  const texts = [...folders].toSorted().map((folder) => {
    const { name, version, license } = manifestOf(folder)
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
    return `${name} ${version} (${license})\n\n${text}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

function manifestOf(folder: string): { name: string; version: string; license: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license: string
  }
}

function packageFolderOf(moduleId: string): string[] {
  const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(moduleId.replace(/^\0/, ''))?.[0]
  return folder !== undefined && existsSync(join(folder, 'package.json')) ? [folder] : []
}
