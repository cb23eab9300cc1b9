import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { runInProcess, start } from './support.ts'

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

describe('`postern sandbox`', () => {
  test('`sandbox --local-webhooks` accepts a webhook on loopback', async () => {
    const { line } = await sandbox(['--local-webhooks'])
    const set = await call(line, '/webhook', { method: 'POST', body: LOCAL_WEBHOOK })
    expect(set.status).toBe(200)
  })

  test('`sandbox --still` stops the clock until the control API starts it', async () => {
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

  test('`sandbox --rates off` limits no calls', async () => {
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
  ])(
    '`sandbox --openapi %s` prints the OpenAPI document of the API and ends',
    async (api, server, path) => {
      const printed = await runInProcess(['sandbox', '--openapi', api])
      const document = JSON.parse(printed.stdout) as { servers: object; paths: object }
      expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: server }] })
      expect(document.paths).toHaveProperty([path])
      const ports = ['--port', '9000', '--control-port', '9000']
      const moved = await runInProcess(['sandbox', '--openapi', api, ...ports])
      expect(moved.stdout).toContain(server.replace(/88../, '9000'))
    },
  )

  test('`sandbox --host` listens on another address under the allowed hosts only', async () => {
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

  test('`sandbox` refuses invalid ports, files and hosts and unknown options', async () => {
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
})

/** The status of a bot's call on loopback under a Host. */
async function statusUnder(host: string, port: string, token: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${token}` }
  const asked = request({ host: '127.0.0.1', port, path: '/bot/v1/me', headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}
