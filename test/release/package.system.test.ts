/** The package as somebody gets it who has nothing else: packed, installed, run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { npm, npx, NODE_FOLDER, plainEnvironment } from '../support/npm.ts'
import { run } from '../support/programs.ts'

const NEWER = '26.10.0'
const WITHIN_MS = 240_000
/** What is no code, types or list. */
const PAGE = readdirSync('src/sandbox/page/browser')
  .filter((name) => /\.(?:css|html|svg)$/.test(name))
  .map((name) => `dist/sandbox/page/browser/${name}`)
  .toSorted()

const folder = mkdtempSync(join(tmpdir(), 'postern-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let packed: string[] = []
beforeAll(async () => {
  const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], process.cwd())
  const [report] = JSON.parse(String(stdout)) as { filename: string; files: { path: string }[] }[]
  packed = report?.files.map(({ path }) => path) ?? []
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // pkcs11js is compiled where it can be, which is not what is asked here.
  await npm(['install', '--omit=optional', join(folder, report?.filename ?? '')], folder)
}, WITHIN_MS)

test('the package contains the built files, examples and schemas, and nothing else', () => {
  const built = readdirSync('dist', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const beside = readdirSync('config/examples', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
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
  const wide = packed.filter(
    (path) => path.endsWith('.js') && /[^\0-\u00ff]/.test(readFileSync(path, 'utf8')),
  )
  expect(wide).toEqual([])
})

test('the package installs openpgp.js and no other package', () => {
  const installed = readdirSync(join(folder, 'node_modules')).filter(
    (name) => !name.startsWith('.'),
  )
  expect(installed.toSorted()).toEqual(['openpgp', 'postern'])
})

test('the package lists the licence of every bundled library', () => {
  const built = join(folder, 'node_modules/postern/dist')
  const licences = readFileSync(join(built, 'LICENSES.txt'), 'utf8')
  const sbom = JSON.parse(readFileSync(join(built, 'sbom.cdx.json'), 'utf8')) as {
    components: { name: string; version: string }[]
  }
  const libraries = sbom.components.filter(({ name }) => name !== 'openpgp')
  expect(libraries.length).toBeGreaterThan(30)
  for (const { name, version } of libraries) expect(licences).toContain(`${name} ${version} (`)
})

test('the types of the package need no other package', () => {
  const built = join(folder, 'node_modules/postern/dist')
  const declarations = readdirSync(built, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => readFileSync(join(built, name), 'utf8'))
  const imported = declarations.flatMap((types) =>
    [...types.matchAll(/from ["']([^"']+)["']/g)].map(([, name]) => String(name)),
  )
  expect(imported.length).toBeGreaterThan(0)
  expect(imported.filter((name) => !/^(node:|\.)/.test(name))).toEqual([])
})

test('the types of the package are accepted by TypeScript and reject a wrong setting', async () => {
  writeFileSync(join(folder, 'typed.mts'), TYPED)
  const wrong = TYPED.replace("verify: 'require'", "verify: 'sometimes'")
  writeFileSync(join(folder, 'wrong.mts'), wrong)
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext']
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
  const tsc = resolve('node_modules/.bin/tsc')
  const args = [tsc, ...options, ...types, '--target', 'es2024', '--lib', 'esnext']
  const files = ['typed.mts', 'wrong.mts']
  const { stdout } = await run(process.execPath, [...args, ...files], { cwd: folder })
  const errors = String(stdout)
    .split('\n')
    .filter((line) => line.includes('error TS'))
  expect(errors).toEqual([expect.stringMatching(/^wrong\.mts.*sometimes.*is not assignable/)])
})

test(
  'the package runs from an empty folder without the repository',
  async () => {
    const demo = await npx(['postern', 'demo', '--once'], folder)
    expect([demo.code, demo.stderr]).toEqual([
      0,
      expect.stringContaining('the service saw none of its text readable'),
    ])
    expect(String(demo.stdout).match(/✓ signature verified/g)).toHaveLength(2)
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(String((await npx(['postern', '--version'], folder)).stdout)).toBe(`${version}\n`)
  },
  WITHIN_MS,
)

test(
  'the package runs on Node 26',
  async ({ skip }) => {
    const node = await install(`node-linux-${process.arch}@${NEWER}`)
    if (node === null) skip(`Node ${NEWER} cannot be had here`)
    if (node === null) return
    const version = await run(join(node, 'node'), ['--version'])
    expect(String(version.stdout)).toBe(`v${NEWER}\n`)
    const demo = await npx(['postern', 'demo', '--once'], folder, node)
    expect([demo.code, demo.stderr]).toEqual([0, expect.not.stringMatching(/warning/i)])
  },
  WITHIN_MS,
)

test('the package serves the page of the sandbox with all its files', async () => {
  writeFileSync(join(folder, 'page.js'), PAGE_TEST)
  const env = plainEnvironment(NODE_FOLDER)
  const ran = await run(process.execPath, ['page.js'], { cwd: folder, env })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  const loaded = JSON.parse(String(ran.stdout)) as Record<string, number>
  expect(Object.keys(loaded)).toEqual(
    expect.arrayContaining(['/app.js', '/lib/preact.js', '/lib/htm.js', '/style.css']),
  )
  expect(Object.values(loaded).filter((status) => status !== 200)).toEqual([])
})

test('the package exports the sandbox and a sidecar for tests of bots', async () => {
  writeFileSync(join(folder, 'bot.js'), BOT_TEST)
  const env = plainEnvironment(NODE_FOLDER)
  const ran = await run(process.execPath, ['bot.js'], { cwd: folder, env })
  expect([ran.code, String(ran.stdout), ran.stderr]).toEqual([
    0,
    'alice: hello\nsealed 2, verified\n',
    '',
  ])
})

const BOT_TEST = `
import { createControlClient, createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'
await using sandbox = await createSandbox()
await using sidecar = await startSidecar({ upstream: sandbox.url, token: sandbox.token })
const alice = await sandbox.phone(sandbox.home.alice.id)
const chatId = sandbox.home.privateChat
await alice.write(chatId, 'hello')
const call = async (path, body) => {
  const headers = { authorization: 'Bearer ' + sandbox.token, 'content-type': 'application/json' }
  const init = body && { method: 'POST', body: JSON.stringify(body) }
  return (await (await fetch(sidecar.url + '/bot/v1' + path, { headers, ...init })).json()).result
}
const [{ message }] = await call('/updates?timeout=5')
console.log(message.from.username + ': ' + message.text)
await call('/messages', { chatId, text: 'hello, alice' })
const { verdict } = await alice.seen(({ text }) => text === 'hello, alice')
const written = await createControlClient(sandbox.controlUrl).messages({ chatId })
console.log('sealed ' + written.filter(({ armored }) => armored).length + ', ' + verdict)
`

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

const PAGE_TEST = `
import { createSandbox } from 'postern/sandbox'
await using sandbox = await createSandbox()
const { url } = await sandbox.startPage()
const loaded = {}
const due = ['/']
while (due.length > 0) {
  const path = due.pop()
  if (path in loaded) continue
  const answer = await fetch(url + path)
  loaded[path] = answer.status
  const text = await answer.text()
  for (const [, found] of text.matchAll(/(?:from ["'](?=[./])|(?:href|src)=["'])([^"'#]+)["']/g)) {
    due.push(new URL(found, url + path).pathname)
  }
}
console.log(JSON.stringify(loaded))
`

/** Installs a Node as a package. @returns the folder it is in, or null when it cannot be had */
async function install(node: string): Promise<string | null> {
  const at = join(folder, 'newer')
  try {
    await npm(['install', '--prefix', at, node], folder)
  } catch {
    return null
  }
  const bin = join(at, 'node_modules', '.bin')
  return existsSync(join(bin, 'node')) ? bin : null
}
