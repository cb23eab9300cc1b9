/** The package as somebody gets it who has nothing else: packed, installed, run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { npm, npx } from '../support/npm.ts'
import { run } from '../support/programs.ts'
import { NAME, sharedRelease } from './released.ts'

const NEWER = '26.10.0'
const WITHIN_MS = 900_000
/** What is no code, types or list. */
const PAGE = readdirSync('src/sandbox/page/browser')
  .filter((name) => /\.(?:css|html|svg)$/.test(name))
  .map((name) => `dist/sandbox/page/browser/${name}`)
  .toSorted()

const folder = mkdtempSync(join(tmpdir(), 'postern-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The files of the package. */
let packed: string[] = []
const read = (path: string): string =>
  readFileSync(join(folder, 'node_modules/postern', path), 'utf8')
beforeAll(async () => {
  const { out } = await sharedRelease()
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // pkcs11js is compiled where it can be, which is not what is asked here.
  await npm(['install', '--omit=optional', join(out, `${NAME}.tgz`)], folder)
  packed = filesBelow(join(folder, 'node_modules/postern'))
}, WITHIN_MS)

test('the package contains the built files, examples and schemas, and nothing else', () => {
  const built = packed.filter((path) => path.startsWith('dist/'))
  const beside = filesBelow('config/examples').map((path) => join('config/examples', path))
  const wanted = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin/load-module.cjs',
    'bin/node-version.cjs',
    'bin/postern.cjs',
    'bin/sandbox.cjs',
    'bin/start.cjs',
    'bin/testing.cjs',
    'config/postern.schema.json',
    'config/sandbox-seed.schema.json',
    'package.json',
  ]
  expect(packed.toSorted()).toEqual([...wanted, ...beside, ...built].toSorted())
  expect(built).toContain('dist/main.js')
  expect(built).toContain('dist/man/postern-backup-create.1')
  const other = built.filter((path) => !/\.(js|d\.ts|txt|json|1)$/.test(path))
  expect(other.toSorted()).toEqual(PAGE)
})

test('the JavaScript of the package contains no character outside Latin-1', () => {
  const wide = packed.filter((path) => path.endsWith('.js') && /[^\0-\u00ff]/.test(read(path)))
  expect(wide).toEqual([])
})

test('the package installs openpgp.js and no other package', () => {
  const installed = readdirSync(join(folder, 'node_modules')).filter(
    (name) => !name.startsWith('.'),
  )
  expect(installed.toSorted()).toEqual(['openpgp', 'postern'])
})

test('the package lists the licence of every bundled library', () => {
  const licences = read('dist/LICENSES.txt')
  const sbom = JSON.parse(read('dist/sbom.cdx.json')) as {
    components: { name: string; version: string }[]
  }
  const libraries = sbom.components.filter(({ name }) => name !== 'openpgp')
  expect(libraries.length).toBeGreaterThan(30)
  for (const { name, version } of libraries) expect(licences).toContain(`${name} ${version} (`)
})

test('the types of the package need no other package and reject a wrong setting', async () => {
  const types = packed.filter((path) => path.endsWith('.d.ts')).map(read)
  const imports = types.flatMap((text) => [...text.matchAll(/from ["']([^"']+)["']/g)])
  expect(imports.length).toBeGreaterThan(0)
  expect(imports.filter(([, name = '']) => !/^(node:|\.)/.test(name))).toEqual([])
  writeFileSync(join(folder, 'typed.mts'), TYPED)
  const wrong = TYPED.replace("verify: 'require'", "verify: 'sometimes'")
  writeFileSync(join(folder, 'wrong.mts'), wrong)
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext']
  const node = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
  const tsc = resolve('node_modules/.bin/tsc')
  const args = [tsc, ...options, ...node, '--target', 'es2024', '--lib', 'esnext']
  const files = ['typed.mts', 'wrong.mts']
  const { stdout } = await run(process.execPath, [...args, ...files], { cwd: folder })
  const errors = String(stdout)
    .split('\n')
    .filter((line) => line.includes('error TS'))
  expect(errors).toEqual([expect.stringMatching(/^wrong\.mts.*sometimes.*is not assignable/)])
})

test(
  'the package runs on Node 26',
  async ({ skip }) => {
    const at = join(folder, 'newer')
    await npm(['install', '--prefix', at, `node-linux-${process.arch}@${NEWER}`], folder).catch(
      () => {},
    )
    const node = join(at, 'node_modules/.bin')
    skip(!existsSync(join(node, 'node')), `Node ${NEWER} cannot be had here`)
    const version = await run(join(node, 'node'), ['--version'])
    expect(String(version.stdout)).toBe(`v${NEWER}\n`)
    const demo = await npx(['postern', 'demo', '--once'], folder, node)
    expect([demo.code, demo.stderr]).toEqual([0, expect.not.stringMatching(/warning/i)])
  },
  WITHIN_MS,
)

const TYPED = `
import { createControlClient, createSandbox, type Phone } from 'postern/sandbox'
import { NotReadyError, startSidecar, type TestSidecar } from 'postern/testing'
const sandbox = await createSandbox({ clock: 'still' })
const sidecar: TestSidecar = await startSidecar({
  upstream: sandbox.url,
  token: sandbox.token,
  settings: { open: { verify: 'require' }, key: { publish: false } },
})
const alice: Phone = await sandbox.phone(sandbox.home.alice.id)
const seen = await alice.seen(({ verdict, text }) => verdict === 'verified' && text === sidecar.url)
const made: { id: number } = await createControlClient(sandbox.controlUrl).addBot({ username: 'b' })
await sidecar.ready(seen.messageId + made.id).catch((error) => {
  if (error instanceof NotReadyError) return error.reasons.map(({ code, hint }) => code + hint)
})
await sidecar.stop()
`

/** Every file below a folder, relative to it. */
const filesBelow = (folderOf: string): string[] =>
  readdirSync(folderOf, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folderOf, join(parentPath, name)))
