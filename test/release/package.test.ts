/** The package as somebody gets it who has nothing else: packed, installed, run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npm, npx, NODE_FOLDER, plainEnvironment } from '../support/npm.ts'
import { run } from '../support/openpgp-run.ts'

const NEWER = '26.10.0'
const WITHIN_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'postern-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let packed: string[] = []
beforeAll(async () => {
  const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], process.cwd())
  const [report] = JSON.parse(String(stdout)) as { filename: string; files: { path: string }[] }[]
  packed = report?.files.map(({ path }) => path) ?? []
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // keytar is compiled where it can be, which is not what is asked here.
  await npm(['install', '--omit=optional', join(folder, report?.filename ?? '')], folder)
}, WITHIN_MS)

describe('the package', () => {
  test('holds what was built, what goes with it, and nothing else', () => {
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
      'bin/postern.cjs',
      'bin/start.cjs',
      'config/postern.schema.json',
      'config/sandbox-seed.schema.json',
      'package.json',
    ]
    expect(packed.toSorted()).toEqual([...wanted, ...beside, ...built].toSorted())
    expect(built).toContain('dist/main.js')
    expect(built.filter((path) => !/\.(js|d\.ts|txt|json)$/.test(path))).toEqual([])
  })

  test('has no character that makes a file take twice the memory', () => {
    const wide = packed.filter(
      (path) => path.endsWith('.js') && /[^\0-\u00ff]/.test(readFileSync(path, 'utf8')),
    )
    expect(wide).toEqual([])
  })

  test('installs openpgp.js beside itself, and nothing else', () => {
    const installed = readdirSync(join(folder, 'node_modules')).filter(
      (name) => !name.startsWith('.'),
    )
    expect(installed.toSorted()).toEqual(['openpgp', 'postern'])
  })

  test('names the licence of every library that is built into it', () => {
    const built = join(folder, 'node_modules/postern/dist')
    const licences = readFileSync(join(built, 'LICENSES.txt'), 'utf8')
    const sbom = JSON.parse(readFileSync(join(built, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string }[]
    }
    const libraries = sbom.components.filter(({ name }) => name !== 'openpgp')
    expect(libraries.length).toBeGreaterThan(30)
    for (const { name, version } of libraries) expect(licences).toContain(`${name} ${version} (`)
  })

  test('declares the sandbox with types of its own, which need no other package', () => {
    const types = readFileSync(
      join(folder, 'node_modules/postern/dist/sandbox/create.d.ts'),
      'utf8',
    )
    expect(types).toContain('createSandbox')
    const imported = [...types.matchAll(/from ["']([^"']+)["']/g)].map(([, name]) => name)
    expect(imported.filter((name) => name?.startsWith('node:') !== true)).toEqual([])
  })

  test(
    'runs from an empty folder, with nothing of this repository',
    async () => {
      const demo = await npx(['postern', 'demo', '--once'], folder)
      expect([demo.code, demo.stderr]).toEqual([
        0,
        expect.stringContaining('none of its text reached the service readable'),
      ])
      expect(String(demo.stdout).match(/✓ signature verified/g)).toHaveLength(2)
      const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
      expect(String((await npx(['postern', '--version'], folder)).stdout)).toBe(`${version}\n`)
    },
    WITHIN_MS,
  )

  test(
    'runs on the next Node too',
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

  test('gives the sandbox to the tests of a bot', async () => {
    writeFileSync(join(folder, 'bot.js'), BOT_TEST)
    const env = plainEnvironment(NODE_FOLDER)
    const ran = await run(process.execPath, ['bot.js'], { cwd: folder, env })
    expect([ran.code, String(ran.stdout), ran.stderr]).toEqual([0, 'alice: hello\n', ''])
  })
})

const BOT_TEST = `
import { createSandbox } from 'postern/sandbox'
await using sandbox = await createSandbox()
const alice = await sandbox.phone(sandbox.home.alice.id)
await alice.write(sandbox.home.privateChat, 'hello')
const answer = await fetch(sandbox.url + '/bot/v1/updates', {
  headers: { authorization: 'Bearer ' + sandbox.token },
})
const { result } = await answer.json()
console.log(result[0].message.from.username + ': ' + result[0].message.text)
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
