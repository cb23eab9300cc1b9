import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runEchoBot } from '../../src/cli/echo-bot.ts'
import { announceSandbox } from '../../src/operators/running-sandboxes.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { runInProcess, start } from './support.ts'

const MARKUP = { inlineKeyboard: [[{ text: 'No', callbackData: 'n' }]] }

let sandbox: Sandbox
let folder: string
const stop = new AbortController()
let bot: Promise<unknown>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postern-actions-'))
  sandbox = await createSandbox({ rates: 'off' })
  bot = runEchoBot({
    url: sandbox.url,
    token: sandbox.token,
    signal: stop.signal,
    onMessage: () => {},
  }).catch(() => undefined)
})
afterAll(async () => {
  stop.abort()
  await bot
  await sandbox[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command against the sandbox of these tests. */
const run = (...args: string[]) =>
  runInProcess(['sandbox', ...args, '--control', sandbox.controlUrl])

/** A call of the bot's. */
async function call(path: string, body: object): Promise<{ id: number }> {
  const answer = await fetch(`${sandbox.url}/bot/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return ((await answer.json()) as { result: { id: number } }).result
}

test('`sandbox say` writes as a person, prints the id of the message, and reports its protection', async () => {
  const said = await run('say', 'alice', 'dm', 'hello', 'there')
  expect(said).toMatchObject({ code: 0, stderr: 'alice wrote into dm (readable)\n' })
  const chatId = sandbox.home.privateChat
  const [message] = (await sandbox.control.messages({ chatId })).filter(
    ({ id }) => String(id) === said.stdout.trim(),
  )
  expect(message).toMatchObject({ text: 'hello there', fromId: sandbox.home.alice.id })
  expect((await run('say', 'bob', 'backroom', 'hush')).stderr).toContain('(sealed)')
})

test('`sandbox say --wait` prints the answer with the verdict of the phone', async () => {
  const said = await run('say', 'alice', 'dm', 'are you there?', '--wait', '60')
  expect(said.code).toBe(0)
  expect(said.stdout).toMatch(
    /^\d\d:\d\d:\d\d echo_bot {7}dm: you said: are you there\? {2}\(readable\)\n$/,
  )
  const { code, stdout } = await run('say', 'alice', 'dm', 'and now?', '--wait', '60', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    messageId: expect.any(Number),
    chatId: sandbox.home.privateChat,
    answer: { text: 'you said: and now?', verdict: 'readable' },
  })
})

test('`sandbox say --reply` quotes a message', async () => {
  const { stdout } = await run('say', 'alice', 'square', 'first')
  const reply = await run('say', 'bob', 'square', 'second', '--reply', stdout.trim())
  const messages = await sandbox.control.messages({ chatId: sandbox.home.readableGroup })
  expect(messages.find(({ id }) => id === Number(reply.stdout))?.replyTo).toBe(Number(stdout))
})

test('`sandbox say` opens a private chat where there is none', async () => {
  const said = await run('say', 'bob', 'dm', 'it is me', '--wait', '60')
  expect(said.stdout).toContain('bob and echo_bot: you said: it is me')
})

test('`sandbox say` prints the reason of the sandbox when it refuses', async () => {
  const { control, home } = sandbox
  await control.block({ userId: home.bob.id, botId: home.bot.id })
  const refused = await run('say', 'bob', 'dm', 'x')
  await control.unblock({ userId: home.bob.id, botId: home.bot.id })
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('cannot write there: they blocked the bot')
})

test('`sandbox attach` sends a file as a person, with or without text', async () => {
  const file = join(folder, 'notes.txt')
  writeFileSync(file, 'some notes')
  const sent = await run('attach', 'alice', 'dm', file, 'my', 'notes', '--json')
  const { mediaId, messageId } = JSON.parse(sent.stdout) as { mediaId: string; messageId: number }
  const served = await fetch(`${sandbox.url}/media/${mediaId}`, {
    headers: { authorization: `Bearer ${sandbox.token}` },
  })
  expect(await served.text()).toBe('some notes')
  const messages = await sandbox.control.messages({ chatId: sandbox.home.privateChat })
  expect(messages.find(({ id }) => id === messageId)?.text).toBe('my notes')
  expect((await run('attach', 'alice', 'dm', file)).code).toBe(0)
})

test('`sandbox press --wait` prints the answer of the bot', async () => {
  const chatId = sandbox.home.readableGroup
  await call('/messages', { chatId, text: 'well?', markup: MARKUP })
  const before = lastPress()
  const pressing = run('press', 'alice', 'square', 'No', '--wait', '60')
  const callbackId = await nextPress(before)
  await call(`/callbacks/${callbackId}/answer`, { text: 'as you wish', alert: true })
  const { code, stdout } = await pressing
  expect(code).toBe(0)
  expect(stdout).toMatch(/answer +square: as you wish \(alert\)/)
})

const args = ['sandbox', 'say', 'alice', 'square', 'found', '--json']
/** The environment of a user without any sandbox. */
const userOf = (name: string) => ({
  XDG_RUNTIME_DIR: join(folder, name),
  XDG_STATE_HOME: join(folder, `${name}-state`),
})
/** A sandbox in a process of its own, and the address of its control. */
async function serve(env: Record<string, string>, ...more: string[]) {
  const served = start(['sandbox', '--json', ...more], { cwd: folder, env })
  const [line] = await served.waitForStdout(/^.*\n/)
  return { served, ...(JSON.parse(line) as { controlUrl: string }) }
}

test('a command uses the newest running sandbox of the user', async () => {
  const env = userOf('none')
  const none = await runInProcess(args, env)
  expect(none.code).toBe(2)
  expect(none.stderr).toContain('no sandbox is named, and none of yours runs')
  const { controlUrl } = sandbox
  using _ = announceSandbox([env.XDG_STATE_HOME], { command: 'dev', controlUrl, dataDir: null })
  expect(await runInProcess(args, env)).toMatchObject({ code: 0, stderr: '' })
  expect((await runInProcess(['sandbox', 'snapshot', 'found'], env)).stdout).toBe('found\n')
})

test('a sandbox beyond loopback is found with its token, in a file of mode 0600', async () => {
  const env = userOf('wide')
  const { served, controlUrl } = await serve(env, '--host', '0.0.0.0')
  const file = join(env.XDG_STATE_HOME, 'postern', 'sandboxes', `${served.process.pid}.json`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await runInProcess(args, env)).toMatchObject({ code: 0, stderr: '' })
  const { origin, password } = new URL(controlUrl)
  const without = await runInProcess([...args, '--control', origin], env)
  expect(without).toMatchObject({ code: 1, stdout: '' })
  expect(without.stderr).toContain('the token is missing or wrong')
  const announced = { command: 'sandbox', controlUrl, dataDir: null } as const
  using _ = announceSandbox([env.XDG_STATE_HOME], announced)
  const newest = await runInProcess(args, env)
  expect(newest.stderr).toContain(`this is the newest`)
  expect(newest.stderr).not.toContain(password)
})

test('`sandbox watch` follows a sandbox of another process, also over a reset', async () => {
  const env = userOf('processes')
  const given = { cwd: folder, env }
  const { served, controlUrl } = await serve(env)
  const watching = start(['sandbox', 'watch'], given)
  const watchingOne = start(['sandbox', 'watch', 'bob', '--json'], given)
  await watching.waitForStderr(/watching alice, bob/)
  await watchingOne.waitForStderr(/watching bob/)
  const say = ['sandbox', 'say', 'alice', 'backroom', 'psst\u202e\u061c']
  expect((await runInProcess(say, env)).code).toBe(0)
  await watching.waitForStdout(/^\d\d:\d\d:\d\d alice +backroom: psst {2}✓ verified$/m)
  const [json] = await watchingOne.waitForStdout(/^.*psst.*\n/m)
  expect(json).toContain('"psst\\u202e\\u061c"')
  expect(JSON.parse(json)).toMatchObject({ person: 'bob', verdict: 'verified' })
  await runInProcess(['sandbox', 'reset', '--control', controlUrl])
  await watching.waitForStderr(/put back; still watching bob/)
  await runInProcess(['sandbox', 'say', 'alice', 'square', 'after the reset'], env)
  await watching.waitForStdout(/after the reset {2}\(readable\)$/m)
  watching.process.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 0 })
  served.process.kill('SIGTERM')
  await served.ended
  const { code, stderr } = await watchingOne.ended
  expect(code).toBe(1)
  expect(stderr).toContain('no sandbox answers')
})

/** The id of the press that the bot was told of last, once it is another than before. */
async function nextPress(before: string | undefined): Promise<string> {
  let id: string | undefined
  await expect.poll(() => (id = lastPress())).not.toBe(before)
  return id ?? ''
}

function lastPress(): string | undefined {
  const answers = sandbox.transcript.list().map(({ answer }) => answer)
  return answers.flatMap((one) => /"callbackQuery":\{"id":"([^"]+)"/.exec(one)?.[1] ?? []).at(-1)
}
