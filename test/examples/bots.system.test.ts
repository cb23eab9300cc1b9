/** The bots of the examples, each as its own program, in an encrypted chat and in trouble. */
import { isInstalled, run, spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/index.ts'
import type { FaultName, FaultOptions, Phone, Sandbox } from '../../src/sandbox/index.ts'
import { GO_CACHE } from '../support/go-bot.ts'
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
  'webhook.py': { needs: ['python3'], command: (file) => ['python3', file] },
}

let sandbox: Sandbox
let sidecar: Sidecar
const folder = mkdtempSync(join(tmpdir(), 'postern-bots-'))
const tokenFile = join(folder, 'token')

beforeAll(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  writeFileSync(tokenFile, `${sandbox.token}\n`, { mode: 0o600 })
  sidecar = await startSidecar({ upstream: sandbox.url, env: ownEnvironment() })
  await sidecar.whenReady()
}, WITHIN_MS)

afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('the test covers every bot of the examples', () => {
  const files = readdirSync(FOLDER).filter((name) => /\.(?!md)/.test(name))
  expect(files.toSorted()).toEqual(Object.keys(BOTS).toSorted())
})

test('the curl commands of the README send and read a message', async ({ skip }) => {
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

describe.for(Object.entries(BOTS))('%s', ([name, { needs, command }]) => {
  const missing = needs.filter((program) => !isInstalled(program))
  const reason = `not installed: ${missing.join(', ')}`

  test(
    `the bot ${name} answers every message once, also while the sidecar is killed and restarted`,
    { timeout: WITHIN_MS },
    async ({ skip }) => {
      skip(missing.length > 0, reason)
      await using bot = start(command(await place(name)))
      const alice = await sandbox.phone(sandbox.home.alice.id)
      const write = (text = '') => alice.write(sandbox.home.privateChat, text)
      const odd = `it's "so" \\n $HOME %s \\ 🗝 é, ${name}`
      for (const text of [`hello ${name}`, odd]) {
        // an update of the service that no bot can handle
        await sandbox.control.injectUpdate({
          botId: sandbox.home.bot.id,
          update: { message: { text: 4 } },
        })
        await write(text)
        expect(await answerTo(text, alice, bot)).toMatchObject({ verdict: 'verified' })
      }
      expect(bot.stderr()).toContain('running as @echo_bot')

      const texts = ['at once', 'at once too', 'while it is down', 'after'].map(
        (when) => `${when}, ${name}`,
      )
      await write(texts[0])
      await write(texts[1])
      await sidecar.kill()
      await write(texts[2])
      sidecar = await sidecar.again({ env: { ...ownEnvironment(), POSTERN_LISTEN_PORT: port() } })
      await write(texts[3])
      for (const text of texts) await answerTo(text, alice, bot)
      await alice.settled()
      const answers = alice.inbox.filter(
        ({ text, fromId }) =>
          fromId === sandbox.home.bot.id && texts.some((one) => text.endsWith(one)),
      )
      expect(answers.map(({ text }) => text)).toEqual(texts.map((text) => `you said: ${text}`))
      expect(sandbox.transcript.search(name)).toEqual([])
    },
  )
})

/** What happens to a call of a bot, and whether the message that it was for is answered in the end. */
const TROUBLES: [what: string, fault: FaultName, options: FaultOptions, isAnswered: boolean][] = [
  ['its connection is cut', 'cut', {}, true],
  ['the answer is lost', 'lost-answer', {}, true],
  ['it sends too much', 'error', { status: 429, code: 'flood_wait', retryAfter: 1 }, true],
  [
    'a proxy asks it to wait until a date',
    'answer',
    { status: 503, headers: { 'retry-after': 'Sat, 01 Jan 2000 00:00:00 GMT' }, body: '' },
    true,
  ],
  ['a proxy answers', 'html', { status: 502 }, true],
  ['its token is refused for a while', 'error', { status: 401, code: 'unauthorized' }, true],
  ['the person has blocked it', 'error', { status: 403, code: 'blocked_by_user' }, false],
  ['the message is refused', 'error', { status: 400, code: 'bad_request' }, false],
]

describe.concurrent.for(Object.entries(BOTS))(
  '%s without a sidecar',
  ([name, { needs, command }]) => {
    const missing = needs.filter((program) => !isInstalled(program))

    test(
      `the bot ${name} continues after errors of the service and malformed updates`,
      { timeout: WITHIN_MS },
      async ({ skip, expect: check }) => {
        skip(missing.length > 0, `not installed: ${missing.join(', ')}`)
        await using service = await createSandbox({ webhooks: 'local', rates: 'off' })
        const token = join(folder, `token-of-${name}`)
        writeFileSync(token, `${service.token}\n`, { mode: 0o600 })
        const { alice: person, bot: account, privateChat } = service.home
        const alice = await service.phone(person.id)
        const answers = () => alice.inbox.filter(({ fromId }) => fromId === account.id)
        await using bot = start(command(await place(name)), {
          BASE_URL: service.url,
          BOT_TOKEN_FILE: token,
        })
        const said: string[] = []
        const say = async (text: string): Promise<void> => {
          await alice.write(privateChat, text)
          check(await answerTo(text, alice, bot)).toMatchObject({ verdict: 'readable' })
          said.push(`you said: ${text}`)
        }

        await say('hello')
        for (const [what, fault, options, isAnswered] of TROUBLES) {
          service.fault(fault, { ...options, route: 'sendMessage', times: 1 })
          if (isAnswered) await say(`when ${what}`)
          else {
            await alice.write(privateChat, `not answered, since ${what}`)
            await check.poll(() => bot.stderr()).toContain(options.code)
          }
        }
        for (const fault of ['cut', 'half-answer', 'html'] as const) {
          service.fault(fault, { route: 'getUpdates', times: 1 })
          await say(`when a poll meets ${fault}`)
        }
        for (const message of [{ id: 1, text: 42 }, { id: [], text: {}, chat: 7 }, null, 'words']) {
          await service.control.injectUpdate({ botId: account.id, update: { message } })
        }
        await say('after updates that nobody can handle')

        check(answers().map(({ text }) => text)).toEqual(said)
        check(bot.stderr()).toMatch(/running as @echo_bot[^]*skipped/)
        await check.poll(() => service.control.queued({ botId: account.id })).toEqual([])
      },
    )
  },
)

test(
  'the bot webhook.py removes its webhook when it ends',
  { timeout: WITHIN_MS },
  async ({ skip }) => {
    skip(!isInstalled('python3'), 'not installed: python3')
    const webhook = async () => {
      const headers = { authorization: `Bearer ${sandbox.token}` }
      const answer = await fetch(`${sidecar.url}/bot/v1/webhook`, { headers })
      return ((await answer.json()) as { result: { url: string | null } }).result.url
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const bot = start(['python3', await place('webhook.py')])
      await expect.poll(webhook).toMatch(/^http:/)
      expect([await bot.end(signal), bot.stderr()]).toEqual([
        0,
        expect.stringContaining('the webhook is removed'),
      ])
      expect(await webhook()).toBeNull()
    }
  },
)

/** What a person's phone shows as the answer; what the bot said, when there is none. */
async function answerTo(text: string, person: Phone, bot: RunningBot): Promise<unknown> {
  const isAnswer = (seen: { text: string }) => seen.text === `you said: ${text}`
  return await person.seen(isAnswer, 60_000).catch(() => bot.stderr())
}

const port = (): string => new URL(sidecar.url).port
const ownEnvironment = () => ({ POSTERN_BOT_TOKEN: sandbox.token })

/** Where the program stands that is to be run: compiled, if need be. */
async function place(name: string): Promise<string> {
  const file = join(FOLDER, name)
  if (!name.endsWith('.go')) return file
  const built = join(folder, name)
  const env = { ...process.env, GOCACHE: GO_CACHE, GO111MODULE: 'off', CGO_ENABLED: '0' }
  const ran = await run('go', ['build', '-o', built.replace(/\.go$/, ''), file], { env })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  return built
}

interface RunningBot extends AsyncDisposable {
  stderr(): string
  /** Ends it. @returns its exit code */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts a bot that knows an address and a token, and nothing else. */
function start(
  [program = '', ...args]: string[],
  knows: Record<string, string> = { BASE_URL: sidecar.url, BOT_TOKEN_FILE: tokenFile },
): RunningBot {
  const child = spawn(...mortal(program, args), {
    env: { PATH: process.env['PATH'], ...knows },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A shell's own programs end with it.
    detached: true,
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)))
  const gone = once(child, 'close')
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null) process.kill(-Number(child.pid), signal)
    await gone
    return child.exitCode
  }
  return {
    stderr: () => `the bot said: ${stderr}`,
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  }
}
