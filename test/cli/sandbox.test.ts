import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { runInProcess, postern, start } from './support.ts'

const cwd = tmpdir()
const LOCAL_WEBHOOK = JSON.stringify({ url: 'http://127.0.0.1:9/' })

interface Line {
  url: string
  controlUrl: string
  bots: { id: number; username: string; token: string }[]
  people: { id: number; username: string }[]
  chats: { id: number; kind: string; mode: string }[]
}

async function sandbox(args: string[] = []) {
  const started = start(['sandbox', '--json', ...args], { cwd })
  const [line] = await started.waitForStdout(/^.*\n/)
  return { ...started, line: JSON.parse(line) as Line }
}

function call(line: Line, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${line.url}/bot/v1${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${line.bots[0]?.token}`,
      'content-type': 'application/json',
    },
  })
}

describe('postern sandbox', () => {
  test('prints one line of JSON with its whole world, and ends with 0 when told to', async () => {
    const { line, process: child, ended } = await sandbox()
    expect(Object.keys(line)).toEqual(['url', 'controlUrl', 'pageUrl', 'bots', 'people', 'chats'])
    expect(line.bots).toEqual([
      { id: expect.any(Number), username: 'echo_bot', token: expect.any(String) },
    ])
    expect(line.people.map(({ username }) => username)).toEqual(['alice', 'bob'])
    expect(line.chats.map(({ kind, mode }) => `${kind} ${mode}`)).toEqual([
      'private open',
      'group open',
      'group protected',
    ])
    expect((await call(line, '/me')).status).toBe(200)
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    expect([code, stdout.trim().split('\n').length, stderr]).toEqual([0, 1, ''])
  })

  test('is as strict as the service, and its people have keys and can be moved', async () => {
    const { line } = await sandbox()
    const local = await call(line, '/webhook', { method: 'POST', body: LOCAL_WEBHOOK })
    expect(await local.json()).toMatchObject({ error: { code: 'bad_webhook' } })
    const alice = line.people[0]?.id ?? 0
    expect((await call(line, `/users/${alice}/key`)).status).toBe(200)
    const control = createControlClient(line.controlUrl)
    await control.write({ userId: alice, chatId: line.chats[0]?.id ?? 0, text: 'hello' })
    expect(await (await call(line, '/updates')).json()).toMatchObject({
      result: [{ message: { text: 'hello' } }],
    })
  })

  test('says for people what --json says for programs', async () => {
    const { waitForStderr, waitForStdout } = start(['sandbox'], { cwd })
    await waitForStdout(/^bot +echo_bot +sandbox_\d+\.\S{43}$/m)
    await waitForStderr(/Ctrl-C/)
  })

  test('takes a local webhook when it was told to', async () => {
    const { line } = await sandbox(['--local-webhooks'])
    const set = await call(line, '/webhook', { method: 'POST', body: LOCAL_WEBHOOK })
    expect(set.status).toBe(200)
  })

  test('stops the clock when it was told to, until the control lets it run', async () => {
    const { line } = await sandbox(['--still'])
    const control = createControlClient(line.controlUrl)
    const stands = await control.now()
    expect(stands.mode).toBe('still')
    await control.write({
      userId: line.people[0]?.id ?? 0,
      chatId: line.chats[0]?.id ?? 0,
      text: 'hello',
    })
    expect(await control.now()).toEqual(stands)
    expect((await control.setClock({ mode: 'running' })).mode).toBe('running')
    await expect.poll(async () => (await control.now()).now).toBeGreaterThan(stands.now)
  })

  test('counts against no rate window with --rates off', async () => {
    const send = async (line: Line) => {
      const body = JSON.stringify({ chatId: line.chats[0]?.id, text: 'hello' })
      const sent = Array.from({ length: 3 }, () =>
        call(line, '/messages', { method: 'POST', body }),
      )
      return (await Promise.all(sent)).map(({ status }) => status)
    }
    const off = await sandbox(['--rates', 'off'])
    expect(await send(off.line)).toEqual([201, 201, 201])
    const { line } = await sandbox()
    expect((await send(line)).toSorted()).toEqual([201, 429, 429])
  })

  test.each([
    ['control', 'http://127.0.0.1:8801', '/addPerson'],
    ['bot', 'http://127.0.0.1:8800/bot/v1', '/me'],
  ])('prints the OpenAPI document of the %s API, and ends', async (api, server, path) => {
    const printed = await runInProcess(['sandbox', '--openapi', api])
    const document = JSON.parse(printed.stdout) as { servers: object; paths: object }
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: server }] })
    expect(document.paths).toHaveProperty([path])
    const ports = ['--port', '9000', '--control-port', '9000']
    const moved = await runInProcess(['sandbox', '--openapi', api, ...ports])
    expect(moved.stdout).toContain(server.replace(/88../, '9000'))
  })

  test('listens where --port says, and refuses a port that is taken', async () => {
    const server = await listening()
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const taken = await postern(['sandbox', '--port', String(port)], { cwd })
    expect(taken).toMatchObject({ code: 1, stdout: '' })
    expect(taken.stderr).toContain(`port ${port} is in use`)
    expect(taken.stderr).toContain('--port')
    const control = await postern(['sandbox', '--control-port', String(port)], { cwd })
    expect(control).toMatchObject({ code: 1, stdout: '' })
    expect(control.stderr).toContain(`port ${port} is in use`)
    server.close()
    await once(server, 'close')
    const { line } = await sandbox(['--port', String(port)])
    expect(line.url).toBe(`http://127.0.0.1:${port}`)
  })

  test('listens on another address, under the names that it was given', async () => {
    const { line } = await sandbox([
      '--host',
      '0.0.0.0',
      '--allowed-host',
      'a',
      '--allowed-host',
      'b',
    ])
    const { hostname, port } = new URL(line.url)
    expect([hostname, new URL(line.controlUrl).hostname]).toEqual(['a', 'a'])
    const { token } = line.bots[0] ?? { token: '' }
    expect(await statusUnder('b', port, token)).toBe(200)
    expect(await statusUnder('c', port, token)).toBe(421)
  })

  test('refuses an address that this machine does not have', async () => {
    const { code, stdout, stderr } = await postern(['sandbox', '--host', '192.0.2.1'], { cwd })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('192.0.2.1 is no address of this machine')
  })

  test('refuses what is no port, and options it does not have', async () => {
    for (const args of [
      ['--port', 'x'],
      ['--port', '65536'],
      ['--port', '-1'],
      ['--seed', 'no-such-file.yaml'],
      ['--sead', 'f'],
      ['--rates', 'none'],
      ['--openapi', 'page'],
      ['--data', ''],
      ['--seed', ''],
      ['--host', ''],
      ['--allowed-host', ''],
      ['--allowed-host', 'http://sandbox'],
      ['--allowed-host', 'sandbox:8800'],
      ['--allowed-host', '--json'],
    ]) {
      expect((await runInProcess(['sandbox', ...args])).code, args.join(' ')).toBe(2)
    }
  })

  test('begins with the world of a seed, and tells what of it could not happen', async () => {
    const seed = file(`
people: { alice: { key: none } }
bots: { news_bot: {} }
chats: { dm: { kind: private, person: alice, bot: news_bot } }
schedule:
  - { at: 0s, press: { userId: alice, chatId: dm, messageId: last } }
  - { at: 1ms, post: { userId: alice, chatId: dm, text: hello } }
`)
    const { line, waitForStderr } = await sandbox(['--seed', seed])
    expect(line.people.map(({ username }) => username)).toEqual(['alice'])
    expect(line.bots.map(({ username }) => username)).toEqual(['news_bot'])
    await waitForStderr(/a `press` of the seed could not happen: there is no such message/)
    const updates = await call(line, '/updates?timeout=50')
    expect(await updates.json()).toMatchObject({ result: [{ message: { text: 'hello' } }] })
  })

  test('says of a wrong seed where it is wrong, what was meant, and where to look', async () => {
    const seed = file('people:\n  alice: {}\n  bob:\n    fristName: Bob\nbots: { b: 3 }\n')
    const { code, stdout, stderr } = await postern(['sandbox', '--seed', seed], { cwd })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      `${seed}:4:5 people.bob.fristName: no such field, did you mean firstName?`,
    )
    expect(stderr).toContain(`${seed}:5:9 bots.b: `)
    expect(stderr).toContain('config/sandbox-seed.schema.json')
  })

  test.each([
    ['no YAML', 'a: b: c\n', /:1:4: is not YAML/],
    ['a list', '- people\n', /:1:1: expected a seed/],
    ['nothing', '', /expected a seed/],
    ['aliases, which could unfold without end', 'people: &a {}\nbots: *a\n', /aliases/],
    ['the same name twice', 'people: {}\npeople: {}\n', /is not YAML .*unique/],
  ])('refuses a seed that holds %s', async (_what, text, expected) => {
    const { code, stderr } = await runInProcess(['sandbox', '--seed', file(text)])
    expect(code).toBe(2)
    expect(stderr).toMatch(expected)
  })

  test('sows a seed in an empty file alone', async () => {
    const data = join(folder(), 'a.world')
    const first = await sandbox(['--data', data, '--seed', file('people: { alice: {} }\n')])
    first.process.kill('SIGTERM')
    await first.ended
    const second = await sandbox(['--data', data, '--seed', file('people: { zoe: {} }\n')])
    expect(second.line.people).toEqual(first.line.people)
    await second.waitForStderr(/the world of .* goes on; the seed is not applied to it/)
  })

  test('prints the schema of seeds', async () => {
    const { code, stdout } = await postern(['sandbox', '--seed-schema'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ properties: { people: {}, schedule: {} } })
  })
})

/** The status of a bot's call on loopback under a Host. */
async function statusUnder(host: string, port: string, token: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${token}` }
  const asked = request({ host: '127.0.0.1', port, path: '/bot/v1/me', headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** On a port that no program gets which asks for any: it is still free when it is free again. */
async function listening(port = 21_000 + (process.pid % 10_000)): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch {
    return await listening(port + 1)
  }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'postern-sandbox-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function file(text: string): string {
  const path = join(folder(), 'seed.yaml')
  writeFileSync(path, text)
  return path
}
