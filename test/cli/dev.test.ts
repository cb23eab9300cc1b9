import { createServer } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDevFolder } from '../../src/cli/dev-folder.ts'
import { startDev } from '../../src/cli/dev-setup.ts'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { readSeedFile } from '../../src/cli/seed-file.ts'
import { listen } from '../support/listening.ts'
import { temporaryFolder } from '../sandbox/world-file.ts'
import { isRunning, runInProcess, start, type Started } from './support.ts'

/** A bot as somebody would write one: it knows an address and a token, and nothing of keys. */
const BOT = `
import { readFileSync, writeFileSync } from 'node:fs'
const { BASE_URL, BOT_TOKEN_FILE } = process.env
writeFileSync('bot.pid', String(process.pid))
const token = readFileSync(BOT_TOKEN_FILE, 'utf8').trim()
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
const call = async (path, init) => {
  const answer = await (await fetch(BASE_URL + '/bot/v1' + path, { headers, ...init })).json()
  if (answer.error?.status !== 429) return answer.result
  // a second message within a second is too many for one chat
  await new Promise((resolve) => setTimeout(resolve, answer.error.retryAfter * 1000))
  return await call(path, init)
}
console.log('the bot runs as ' + (await call('/me')).username)
for (let offset = 0; ; ) {
  for (const { updateId, message } of await call('/updates?timeout=50&offset=' + offset)) {
    offset = updateId + 1
    if (!message?.text) continue
    const body = JSON.stringify({ chatId: message.chat.id, text: 'got ' + message.text })
    await call('/messages', { method: 'POST', body })
  }
}
`

interface Line {
  pageUrl: string
  botUrl: string
  tokenFile: string
  sandboxUrl: string
  controlUrl: string
}

const ANY_PORTS = ['port', 'admin-port', 'sandbox-port', 'control-port', 'page-port'].flatMap(
  (name) => [`--${name}`, '0'],
)

/** A folder with a bot in it, and an environment of its own. */
function project() {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'my-bot.mjs'), BOT)
  const env = { XDG_RUNTIME_DIR: join(cwd, 'run'), XDG_STATE_HOME: join(cwd, 'state') }
  const node = [process.execPath, 'my-bot.mjs']
  const dev = (...args: string[]): Started => start(['dev', ...args], { cwd, env })
  return { cwd, env, node, dev, botPid: () => Number(readFileSync(join(cwd, 'bot.pid'), 'utf8')) }
}

async function lineOf(dev: Started): Promise<Line> {
  const [line] = await dev.waitForStdout(/^.*\n/)
  return JSON.parse(line) as Line
}

const DAY_MS = 86_400_000

// Processes are started one after the other, which takes its time where others are busy.
describe('`postern dev`', { timeout: 120_000 }, () => {
  test('`dev` runs a bot whose answers are sealed, and refuses a second `dev` on its folder', async () => {
    const { cwd, env, node, dev, botPid } = project()
    const first = dev('--json', ...ANY_PORTS, '--', ...node)
    const line = await lineOf(first)
    expect(Object.keys(line)).toEqual([
      'pageUrl',
      'botUrl',
      'tokenFile',
      'sandboxUrl',
      'controlUrl',
    ])
    expect(line.tokenFile).toBe(join(cwd, '.postern-dev', 'token'))
    await first.waitForStderr(/\| +the bot runs as echo_bot$/m)
    const said = await runInProcess(['sandbox', 'say', 'alice', 'dm', 'hello', '--wait', '60'], env)
    expect(said).toMatchObject({ code: 0, stderr: 'alice wrote into dm (sealed)\n' })
    expect(said.stdout).toMatch(/echo_bot +dm: got hello {2}✓ verified$/m)
    await first.waitForStderr(/echo_bot +dm: got hello$/m)
    expect((await fetch(line.pageUrl)).headers.get('content-security-policy')).not.toBe(null)

    await createControlClient(line.controlUrl).advance({ ms: DAY_MS })
    const tomorrow = await runInProcess(
      ['sandbox', 'say', 'alice', 'dm', 'new day', '--wait', '60'],
      env,
    )
    expect(tomorrow).toMatchObject({ code: 0, stderr: 'alice wrote into dm (sealed)\n' })
    expect(tomorrow.stdout).toMatch(/got new day {2}✓ verified$/m)

    const second = await dev('--json', '--fresh').ended
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(
      `already runs on ${join(cwd, '.postern-dev')}, as process ${first.process.pid}`,
    )

    expect(isRunning(botPid())).toBe(true)
    first.process.kill('SIGHUP')
    expect(await first.ended).toMatchObject({ code: 0 })
    expect(isRunning(botPid())).toBe(false)
    expect((await runInProcess(['sandbox', 'watch'], env)).stderr).toContain('none of yours runs')

    // Address, token and world are the same at the next start, the clock of the world too.
    const again = dev('--json', '--', ...node)
    expect(await lineOf(again)).toEqual(line)
    await again.waitForStderr(/the bot runs as echo_bot$/m)
    const { now: nowMs } = await createControlClient(line.controlUrl).now()
    expect(nowMs).toBeGreaterThan(Date.now() + DAY_MS - 60_000)
    const more = await runInProcess(
      ['sandbox', 'say', 'alice', 'dm', 'still there?', '--wait', '60'],
      env,
    )
    expect(more).toMatchObject({ code: 0, stderr: 'alice wrote into dm (sealed)\n' })
    expect(more.stdout).toMatch(/got still there\? {2}✓ verified$/m)
    again.process.kill('SIGKILL')
    await again.ended
    await expect.poll(() => isRunning(botPid()), { timeout: 10_000 }).toBe(false)
  })

  test('the page of `dev` restarts the bot and the sidecar at the same address', async () => {
    const { env, node, dev, botPid } = project()
    const running = dev('--json', ...ANY_PORTS, '--', ...node)
    const { pageUrl, botUrl } = await lineOf(running)
    await running.waitForStderr(/the bot runs as/)
    const restart = async (what: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ what })
      return (await fetch(`${pageUrl}/restart`, { method: 'POST', headers, body })).status
    }
    const first = botPid()
    expect(await restart('sidecar')).toBe(200)
    expect(await restart('bot')).toBe(200)
    await expect.poll(() => isRunning(first)).toBe(false)
    await expect.poll(() => botPid() !== first && isRunning(botPid())).toBe(true)
    const { result } = (await (await fetch(`${pageUrl}/sidecar`)).json()) as { result: object }
    expect(result).toEqual({ botUrl, ready: true, reasons: [], restarts: ['sidecar', 'bot'] })
    const args = ['sandbox', 'say', 'alice', 'dm', 'hello', '--wait', '60']
    expect((await runInProcess(args, env)).stdout).toMatch(/got hello {2}✓ verified$/m)
    running.process.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
    expect(isRunning(botPid())).toBe(false)
  })
})

/** What `dev` runs, in this process, until the test is over. */
async function devIn(path: string, o: Partial<Parameters<typeof startDev>[0]> = {}) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(openDevFolder(path, { fresh: false }))
  const ports = { port: 0, adminPort: 0, sandboxPort: 0, controlPort: 0, pagePort: 0 }
  const options = { folder, ports, seed: null, botName: undefined, open: false, print: () => {} }
  const dev = stack.use(await startDev({ ...options, ...o }))
  const running = stack.move()
  onTestFinished(() => running.disposeAsync())
  return { dev, end: () => running.disposeAsync() }
}

describe('`startDev`', () => {
  test('a port in use is refused with the flag that chooses another', async () => {
    const { port: taken } = await listen(createServer())
    const others = { port: 0, adminPort: 0, sandboxPort: 0, controlPort: 0, pagePort: 0 }
    for (const [name, flag] of [
      ['port', '--port'],
      ['adminPort', '--admin-port'],
      ['sandboxPort', '--sandbox-port'],
      ['controlPort', '--control-port'],
      ['pagePort', '--page-port'],
    ] as const) {
      const ports = { ...others, [name]: taken }
      await expect(devIn(join(temporaryFolder(), 'dev'), { ports })).rejects.toMatchObject({
        code: 'listen',
        message: expect.stringContaining(String(taken)),
        hint: expect.stringContaining(flag),
      })
    }
  })

  test('a seed is the world of `dev`, and `--bot` chooses its bot', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'seed.yaml')
    writeFileSync(
      file,
      'people: { zoe: {} }\nbots: { one_bot: {}, two_bot: {} }\n' +
        'chats: { talk: { kind: private, person: zoe, bot: two_bot } }\n',
    )
    const seed = readSeedFile(file)
    const path = join(folder, 'dev')

    const { dev } = await devIn(path, { seed, botName: '@Two_bot' })
    expect(dev.bot.username).toBe('two_bot')
    expect(dev.sandbox.people.map(({ username }) => username)).toEqual(['zoe'])
  })

  test('a revoked token is replaced at the next start of `dev`', async () => {
    const path = join(temporaryFolder(), 'dev')
    const first = await devIn(path)
    const token = readFileSync(first.dev.tokenFile, 'utf8')
    await first.dev.sandbox.control.revokeToken({ botId: first.dev.bot.id })
    await first.end()
    const { dev } = await devIn(path)
    expect(readFileSync(dev.tokenFile, 'utf8')).not.toBe(token)
  })
})
