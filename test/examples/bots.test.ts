/** The smallest bots of the examples, each as its own program, in an encrypted chat. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { isInstalled, run } from '../support/openpgp-run.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'
import { mortal } from '../support/mortal.ts'

const FOLDER = 'config/examples/bots'
const WITHIN_MS = 120_000

/** What each file is run with, and the programs that this needs. */
const BOTS: Record<string, { needs: string[]; command: (file: string) => string[] }> = {
  'echo.sh': { needs: ['bash', 'curl', 'jq'], command: (file) => ['bash', file] },
  'echo.mjs': { needs: [], command: (file) => [process.execPath, file] },
  'echo.py': { needs: ['python3'], command: (file) => ['python3', file] },
  'echo.go': { needs: ['go'], command: (file) => [file.replace(/\.go$/, '')] },
  // the last: once a webhook is set, polls are answered 409
  'webhook.py': { needs: ['python3'], command: (file) => ['python3', file] },
}

let sandbox: Sandbox
let sidecar: Sidecar
const folder = mkdtempSync(join(tmpdir(), 'postern-bots-'))
const tokenFile = join(folder, 'token')

beforeAll(async () => {
  sandbox = await createSandbox()
  writeFileSync(tokenFile, `${sandbox.token}\n`, { mode: 0o600 })
  sidecar = await startSidecar({
    upstream: sandbox.url,
    env: { POSTERN_BOT_TOKEN: sandbox.token },
  })
  await sidecar.whenReady()
}, WITHIN_MS)

afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('every bot among the examples is tried', () => {
  const files = readdirSync(FOLDER).filter((name) => name !== 'README.md')
  expect(files.toSorted()).toEqual(Object.keys(BOTS).toSorted())
})

test('what the page says to type works as it stands', async ({ skip }) => {
  skip(!isInstalled('curl'), 'not installed: curl')
  const alice = await sandbox.phone(sandbox.home.alice.id)
  const blocks = [...readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/```sh\n([^]*?)```/g)]
  const byHand = blocks.map(([, block]) => block).find((block) => block?.includes('curl')) ?? ''
  const typed = byHand
    .replace('timeout=50', 'timeout=0')
    .replace('"chatId": 3', `"chatId": ${sandbox.home.privateChat}`)
  const env = { PATH: process.env['PATH'], BASE_URL: sidecar.url, BOT_TOKEN_FILE: tokenFile }
  const ran = await run(
    'bash',
    ['--norc', '-c', typed.replaceAll('curl -sS', 'curl -sS -w "\\n"')],
    { env },
  )
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  const answers = String(ran.stdout).trim().split('\n')
  const read = answers.map((line) => JSON.parse(line) as { ok: boolean })
  expect(read).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
  expect(await alice.seen(({ text }) => text === 'hello')).toMatchObject({ verdict: 'verified' })
})

test.for(Object.entries(BOTS))(
  '%s answers what a person writes, every character of it',
  { timeout: WITHIN_MS },
  async ([name, { needs, command }], { skip }) => {
    const missing = needs.filter((program) => !isInstalled(program))
    skip(missing.length > 0, `not installed: ${missing.join(', ')}`)
    const file = await place(name)
    await using bot = start(command(file))
    const alice = await sandbox.phone(sandbox.home.alice.id)
    for (const text of [`hello ${name}`, `it's "so" \\n $HOME %s \\ 🗝 é, ${name}`]) {
      await alice.write(sandbox.home.privateChat, text)
      const answer = await alice
        .seen((seen) => seen.text === `you said: ${text}`, 60_000)
        .catch(() => bot.stderr())
      expect(answer).toMatchObject({ verdict: 'verified' })
    }
    expect(sandbox.transcript.search(name)).toEqual([])
  },
)

test.for(Object.entries(BOTS))(
  '%s works as it is with the service itself, without a sidecar',
  { timeout: WITHIN_MS },
  async ([name, { needs, command }], { skip }) => {
    const missing = needs.filter((program) => !isInstalled(program))
    skip(missing.length > 0, `not installed: ${missing.join(', ')}`)
    const file = await place(name)
    await using service = await createSandbox({ webhooks: 'local' })
    const token = join(folder, `token-of-${name}`)
    writeFileSync(token, `${service.token}\n`, { mode: 0o600 })
    const alice = await service.phone(service.home.alice.id)
    await using bot = start(command(file), { BASE_URL: service.url, BOT_TOKEN_FILE: token })
    await alice.write(service.home.privateChat, `hello ${name}`)
    const answer = await alice
      .seen((seen) => seen.text === `you said: hello ${name}`, 60_000)
      .catch(() => bot.stderr())
    expect(answer).toMatchObject({ verdict: 'readable' })
  },
)

/** Where the program stands that is to be run: compiled, if need be. */
async function place(name: string): Promise<string> {
  const file = join(FOLDER, name)
  if (!name.endsWith('.go')) return file
  const built = join(folder, name)
  const env = { ...process.env, GOCACHE: join(folder, 'go'), GO111MODULE: 'off', CGO_ENABLED: '0' }
  const ran = await run('go', ['build', '-o', built.replace(/\.go$/, ''), file], { env })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  return built
}

/** Starts a bot that knows an address and a token, and nothing else. */
function start(
  [program = '', ...args]: string[],
  knows: Record<string, string> = { BASE_URL: sidecar.url, BOT_TOKEN_FILE: tokenFile },
): { stderr: () => string } & AsyncDisposable {
  const child = spawn(...mortal(program, args), {
    env: { PATH: process.env['PATH'], ...knows },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A shell's own programs end with it.
    detached: true,
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)))
  return {
    stderr: () => `the bot said: ${stderr}`,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return
      const gone = once(child, 'close')
      process.kill(-Number(child.pid), 'SIGKILL')
      await gone
    },
  }
}
