import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { startSandbox } from './support.ts'

const cwd = tmpdir()

const sandbox = async (args: string[] = []) => await startSandbox(args, cwd)

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

/** The status of a bot's call on loopback under a Host. */
async function statusUnder(host: string, port: string, token: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${token}` }
  const asked = request({ host: '127.0.0.1', port, path: '/bot/v1/me', headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}
