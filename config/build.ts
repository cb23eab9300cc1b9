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
/**
 * Libraries of which little is used, by what stands for them: what is used, and nothing else is
 * loaded. A name that is not here ends the build.
 */
const LEAN: Record<string, string> = {
  // Compilers of schemas, which no route of ours has (`src/util/no-schemas.ts`).
  '@fastify/ajv-compiler': 'module.exports = null',
  '@fastify/fast-json-stringify-compiler': 'module.exports = null',
  undici: `
    import * as api from 'undici/lib/api/index.js'
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
    Object.assign(Dispatcher.prototype, { request: api.request })
    export { default as Agent } from 'undici/lib/dispatcher/agent.js'
    export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js'
    export { default as Pool } from 'undici/lib/dispatcher/pool.js'
    export { default as buildConnector } from 'undici/lib/core/connect.js'
  `,
}

const lean = {
  name: 'lean',
  resolveId: (id: string) => (id in LEAN ? `\0lean:${id}` : null),
  load: (id: string) => LEAN[id.replace('\0lean:', '')] ?? null,
}

/** One character of two bytes makes V8 keep a whole file in two bytes a character. */
const narrow = {
  name: 'narrow',
  renderChunk: (code: string) =>
    code.replaceAll(
      /[^\0-\u00ff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
}

rmSync(OUT, { recursive: true, force: true })
rmSync(DECLARATIONS, { recursive: true, force: true })
const bundled = packagesOf(await buildCode())
writeFileSync(join(OUT, 'LICENSES.txt'), licensesOf(bundled))
writeFileSync(join(OUT, 'sbom.cdx.json'), `${JSON.stringify(partsList(bundled), null, 2)}\n`)
await buildDeclarations()

async function buildCode(): Promise<OutputChunk[]> {
  await using code = await rolldown({
    input: ENTRIES,
    platform: 'node',
    external: EXTERNAL,
    plugins: [lean, narrow],
  })
  const { output } = await code.write({
    dir: OUT,
    format: 'esm',
    entryFileNames: ({ facadeModuleId }) =>
      relative('src', facadeModuleId ?? '').replace(/ts$/, 'js'),
    chunkFileNames: '[name].js',
    comments: { jsdoc: false, annotation: false, legal: true },
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

interface Package {
  folder: string
  name: string
  version: string
  license: string
}

/** Every package that is in the chunks, each once. */
function packagesOf(chunks: OutputChunk[]): Package[] {
  const folders = new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageFolderOf)))
  return [...folders].toSorted().map((folder) => ({
    folder,
    ...(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Omit<Package, 'folder'>),
  }))
}

function packageFolderOf(moduleId: string): string[] {
  const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(moduleId.replace(/^\0/, ''))?.[0]
  return folder !== undefined && existsSync(join(folder, 'package.json')) ? [folder] : []
}

function licensesOf(packages: Package[]): string {
  const texts = packages.map(({ folder, name, version, license }) => {
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
    return `${name} ${version} (${license})\n\n${text}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

interface Bom {
  components: { 'bom-ref': string }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** The bill of materials (CycloneDX) of what runs: the packages in the bundle, and openpgp.js. */
function partsList(packages: Package[]): Bom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const bom = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: 'pipe' })) as Bom
  const kept = new Set(packages.map(({ name, version }) => `${name}@${version}`))
  const runs = (ref: string): boolean => kept.has(ref) || ref.startsWith('openpgp@')
  return {
    ...bom,
    components: bom.components.filter((one) => runs(one['bom-ref'])),
    dependencies: bom.dependencies
      .filter(({ ref }) => runs(ref) || ref.startsWith('postern@'))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(runs) })),
  }
}
