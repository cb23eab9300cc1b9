import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/client.ts'
import { postern, start } from './support.ts'

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
  const [line] = await started.put(/^.*\n/)
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
    expect(Object.keys(line)).toEqual(['url', 'controlUrl', 'bots', 'people', 'chats'])
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
    const { said, put } = start(['sandbox'], { cwd })
    await put(/^bot +echo_bot +sandbox_\d+\.\S{43}$/m)
    await said(/Ctrl-C/)
  })

  test('takes a local webhook when it was told to', async () => {
    const { line } = await sandbox(['--local-webhooks'])
    const set = await call(line, '/webhook', { method: 'POST', body: LOCAL_WEBHOOK })
    expect(set.status).toBe(200)
  })

  test('listens where --port says, and refuses a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const taken = await postern(['sandbox', '--port', String(port)], { cwd })
    expect(taken).toMatchObject({ code: 1, stdout: '' })
    expect(taken.stderr).toContain(`port ${port} is in use`)
    expect(taken.stderr).toContain('--port')
    server.close()
    await once(server, 'close')
    const { line } = await sandbox(['--port', String(port)])
    expect(line.url).toBe(`http://127.0.0.1:${port}`)
  })

  test('refuses what is no port, and options it does not have', async () => {
    for (const args of [
      ['--port', 'x'],
      ['--port', '65536'],
      ['--port', '-1'],
      ['--seed', 'f'],
    ]) {
      expect((await postern(['sandbox', ...args], { cwd })).code, args.join(' ')).toBe(2)
    }
  })
})
