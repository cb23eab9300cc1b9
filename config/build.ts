/** Builds `dist`, which the package and the image run: the bundle, and what describes it. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown, type RolldownLog } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { pageLibraries } from '../src/sandbox/page/files.ts'
import { bundle, EXTERNAL } from './bundle.ts'

const OUT = 'dist'
const DECLARATIONS = 'node_modules/.cache/declarations'
/** stdout is npm's, which prints data there. */
const QUIET = {
  info: () => {},
  warn: () => {},
  error: (text: string) => process.stderr.write(text),
}

rmSync(OUT, { recursive: true, force: true })
rmSync(DECLARATIONS, { recursive: true, force: true })
const bundled = packagesOf([
  ...(await bundle(OUT)).flatMap(({ moduleIds }) => moduleIds),
  ...Object.values(pageLibraries()),
])
writeFileSync(join(OUT, 'LICENSES.txt'), licensesOf(bundled))
writeFileSync(join(OUT, 'sbom.cdx.json'), `${JSON.stringify(partsList(bundled), null, 2)}\n`)
await buildDeclarations()

/**
 * Declarations of what the package exports, so that whoever imports it installs no types. `npm run
 * typecheck` checks the sources; here nothing is checked again.
 */
async function buildDeclarations(): Promise<void> {
  execFileSync('tsc', ['-p', 'config/declarations.json'], { stdio: 'inherit' })
  await using types = await rolldown({
    input: {
      'sandbox/index': `${DECLARATIONS}/sandbox/index.d.ts`,
      'testing/index': `${DECLARATIONS}/testing/index.d.ts`,
    },
    platform: 'node',
    external: [/^node:/, 'fastify', 'undici', ...EXTERNAL],
    plugins: [dts({ dtsInput: true, logger: QUIET })],
    onLog: (level, log, show) => void (isNoise(log) || show(level, log)),
  })
  await types.write({
    dir: OUT,
    format: 'esm',
    entryFileNames: '[name].d.ts',
    chunkFileNames: '[name].d.ts',
  })
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

/** Every package that modules are of, each once. */
function packagesOf(moduleIds: string[]): Package[] {
  const folders = new Set(moduleIds.flatMap(packageFolderOf))
  return [...folders]
    .toSorted()
    .map((folder) => ({
      folder,
      ...(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Omit<
        Package,
        'folder'
      >),
    }))
}

function packageFolderOf(moduleId: string): string[] {
  const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(moduleId.replace(/^\0/, ''))?.[0]
  return folder !== undefined && existsSync(join(folder, 'package.json')) ? [folder] : []
}

function licensesOf(packages: Package[]): string {
  const texts = packages.map(({ folder, name, version, license }) => {
    const entries = readdirSync(folder).toSorted()
    const file = entries.find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
    return `${name} ${version} (${license})\n\n${text}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

interface Component {
  'bom-ref': string
}

interface Bom {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/**
 * The bill of materials (CycloneDX) of what runs: the packages in the bundle, and openpgp.js. Its
 * number follows from its content, without the time, the folder and the version of npm, so that
 * every build of the same sources has the same one.
 */
function partsList(packages: Package[]): object {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const bom = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: 'pipe' })) as Bom
  const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string }
  const own = bom.metadata.component
  const kept = new Set(packages.map((one) => `${one.name}@${one.version}`))
  const runs = (ref: string): boolean => kept.has(ref) || ref.startsWith('openpgp@')
  // What is bundled is a development dependency for npm, and yet is there wherever Postern runs.
  const part = (one: Component) => ({ ...one, scope: 'required', properties: undefined })
  const parts = {
    metadata: { lifecycles: [{ phase: 'build' }], component: { ...part(own), name } },
    components: bom.components.filter((one) => runs(one['bom-ref'])).map(part),
    dependencies: bom.dependencies
      .filter(({ ref }) => runs(ref) || ref === own['bom-ref'])
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(runs) })),
  }
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5')
  return { ...bom, serialNumber: `urn:uuid:${uuid}`, ...parts }
}
