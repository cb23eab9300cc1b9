/** Clients that are generated from the documents alone, in three languages, each put to use. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import type { Readable } from 'node:stream'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GO_CACHE, hasGo } from '../support/go-bot.ts'
import { goClient } from '../support/openapi-go.ts'
import { readModel, type ApiModel, type OpenApiDocument } from '../support/openapi-model.ts'
import { pythonClient } from '../support/openapi-python.ts'
import { isInstalled, run } from '../support/programs.ts'
import { typescriptClient } from '../support/openapi-typescript.ts'
import { spawnPostern } from '../support/postern-process.ts'

const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'dom'],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ['*.ts'],
}
const CLIENTS = join(import.meta.dirname, 'clients')
const folder = mkdtempSync(join(tmpdir(), 'postern-clients-'))
let models: { control: ApiModel; bot: ApiModel }
let addresses: [control: string, service: string]

/** What each program saw; its bot is named for the language. */
const seenBy = (language: string): object => ({
  name: `${language}_bot`,
  read: 'hello',
  shown: ['hi'],
  answer: 'went',
  file: 'hello',
  refusals: [
    [404, 'chat_not_found'],
    [400, 'bad_control'],
    [401, 'unauthorized'],
  ],
})

const sandbox = spawnPostern(['sandbox', '--json'], {
  cwd: folder,
  env: { PATH: '/usr/bin:/bin', HOME: folder },
})

beforeAll(async () => {
  const [line] = (await once(sandbox.stdout as Readable, 'data')) as [Buffer]
  const { controlUrl } = JSON.parse(String(line)) as { controlUrl: string }
  const modelAt = async (path: string): Promise<ApiModel> => {
    const answer = await fetch(controlUrl + path)
    return readModel((await answer.json()) as OpenApiDocument)
  }
  models = { control: await modelAt('/openapi.json'), bot: await modelAt('/bot-openapi.json') }
  addresses = [models.control.server, models.bot.server]
})

afterAll(async () => {
  const ended = once(sandbox, 'close')
  sandbox.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a program to its end; gives what it printed, read as JSON. */
async function printedBy(program: string, args: string[], cwd: string): Promise<unknown> {
  const { code, stdout, stderr } = await run(program, args, { cwd })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(String(stdout))
}

test('a client in TypeScript, type-checked', { timeout: 120_000 }, async () => {
  const cwd = join(folder, 'typescript')
  mkdirSync(cwd)
  cpSync(join(CLIENTS, 'client.ts.txt'), join(cwd, 'client.ts'))
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(cwd, 'control-api.ts'), typescriptClient(models.control))
  writeFileSync(join(cwd, 'bot-api.ts'), typescriptClient(models.bot))
  const compiler = join(import.meta.dirname, '../../node_modules/.bin/tsc')
  const checked = await run(compiler, ['-p', cwd])
  expect([checked.code, String(checked.stdout)]).toEqual([0, ''])
  const seen = await printedBy(process.execPath, ['client.ts', ...addresses], cwd)
  expect(seen).toEqual(seenBy('typescript'))
})

test('a client in Python', { timeout: 60_000 }, async ({ skip }) => {
  skip(!isInstalled('python3'), 'not installed: python3')
  const cwd = join(folder, 'python')
  mkdirSync(cwd)
  cpSync(join(CLIENTS, 'client.py'), join(cwd, 'client.py'))
  writeFileSync(join(cwd, 'control_api.py'), pythonClient(models.control))
  writeFileSync(join(cwd, 'bot_api.py'), pythonClient(models.bot))
  expect(await printedBy('python3', ['client.py', ...addresses], cwd)).toEqual(seenBy('python'))
})

test('a client in Go, vetted', { timeout: 180_000 }, async ({ skip }) => {
  skip(!hasGo, 'not installed: go')
  const cwd = join(folder, 'go')
  mkdirSync(join(cwd, 'controlapi'), { recursive: true })
  mkdirSync(join(cwd, 'botapi'))
  cpSync(join(CLIENTS, 'main.go'), join(cwd, 'main.go'))
  writeFileSync(join(cwd, 'go.mod'), 'module clients\n\ngo 1.19\n')
  writeFileSync(join(cwd, 'controlapi/api.go'), goClient(models.control, 'controlapi'))
  writeFileSync(join(cwd, 'botapi/api.go'), goClient(models.bot, 'botapi'))
  const env = { ...process.env, GOCACHE: GO_CACHE, GOPROXY: 'off', CGO_ENABLED: '0' }
  const vetted = await run('go', ['vet', './...'], { cwd, env })
  expect([vetted.code, vetted.stderr]).toEqual([0, ''])
  const built = await run('go', ['build', '-o', 'client', '.'], { cwd, env })
  expect([built.code, built.stderr]).toEqual([0, ''])
  expect(await printedBy(join(cwd, 'client'), addresses, cwd)).toEqual(seenBy('go'))
})
