/** The doors over played parts: addresses, hosts and tokens. Routes are tested in `test/http`. */
import { chmodSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import type { Door } from '../../src/http/server.ts'
import { createAdminDoor, describeBotDoor, openDoors } from '../../src/wiring/doors.ts'
import { watchedLog } from '../support/watched-log.ts'
import { NO_OUTBOX } from '../http/support.ts'
import { temporary } from '../store/support.ts'
import { PlayedParts } from './played-parts.ts'

const TOKEN = `bot_7.${'x'.repeat(43)}`
const OTHER = `bot_7.${'y'.repeat(43)}`

const settingsOf = (more: object = {}) =>
  settingsFrom({
    upstream: { url: 'http://127.0.0.1:9' },
    dataDir: temporary(),
    listen: { port: 0, allowedHosts: ['sidecar'] },
    ...more,
  })

/** The parts of a bot's door. */
function doorWith(secrets: { botToken?: SecretSource; clientToken?: SecretSource } = {}) {
  const parts = new PlayedParts()
  const known = { sightings: {}, clients: {} }
  const botToken = SecretSource.fromValue(TOKEN)
  return describeBotDoor(
    {
      settings: settingsOf(),
      secrets: { botToken, clientToken: null, passphrase: null, ...secrets },
      log: watchedLog(),
    },
    {
      link: parts.part('link', { upstream: parts.part('upstream') }),
      core: parts.part('core', { known, knownChats: {}, modes: {}, attachments: {} }),
      updates: parts.part('updates', { webhook: {}, polls: {}, backlog: {} }),
      outbox: NO_OUTBOX,
    },
  )
}

test('the door of a bot admits the hosts of the settings, and expects the client’s token', () => {
  const door = doorWith()
  expect([...door.allowedHosts]).toEqual(['sidecar', '127.0.0.1'])
  expect(door.expectedToken()).toBe(TOKEN)
  const clientToken = SecretSource.fromValue('of the client')
  expect(doorWith({ clientToken }).expectedToken()).toBe('of the client')
})

test('the door reads a token file again once a second, and at once when the file changed', () => {
  const file = join(temporary(), 'token')
  const write = (token: string, mode = 0o600) => {
    writeFileSync(file, token)
    chmodSync(file, mode)
  }
  write(TOKEN)
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  const door = doorWith({ botToken: SecretSource.fromFile(file) })
  const read = (nowMs: number) => {
    now.mockReturnValue(nowMs)
    return [door.rereadToken(), door.expectedToken()]
  }
  expect(read(0)).toEqual([true, TOKEN])
  expect(read(999)).toEqual([false, TOKEN])
  expect(read(1000)).toEqual([true, TOKEN])
  write(`${OTHER}\n`)
  expect(read(1001)).toEqual([true, OTHER])
  expect(read(2000)).toEqual([false, OTHER])
  expect(read(2001)).toEqual([true, OTHER])
})

test.each([
  [{ port: 4 }, { setting: 'listen', host: '127.0.0.1', port: 4 }],
  [{ socket: '/x/y' }, { setting: 'listen', socket: '/x/y' }],
])('both doors open where the settings %j place them', async (listen, expected) => {
  const opened: object[] = []
  const door: Door = {
    listen: async (where) => {
      opened.push(where)
      return JSON.stringify(where)
    },
    drain: async () => {},
  }
  const settings = settingsOf({ listen, admin: { port: 5 } })
  const at = await openDoors(settings, { bot: door, admin: door })
  expect(opened[0]).toEqual(expected)
  expect(opened[1]).toMatchObject({ setting: 'admin', host: '127.0.0.1', port: 5 })
  expect(at).toEqual({ bot: JSON.stringify(opened[0]), admin: JSON.stringify(opened[1]) })
})

test.each([
  [{ allowedHosts: ['admin'] }, ['admin'], 'sidecar'],
  [{}, ['sidecar'], 'admin'],
])('the admin door with %j admits the hosts %j, and rejects %s', async (admin, known, unknown) => {
  const built = createAdminDoor(
    { settings: settingsOf({ admin: { port: 0, ...admin } }), log: watchedLog() },
    {
      metrics: { contentType: 'text/plain', text: async () => 'metrics' },
      readiness: () => ({ ready: true, reasons: [] }),
      status: async () => ({ version: 'x' }),
    },
  )
  onTestFinished(() => built.drain())
  const url = await built.listen({ setting: 'admin', host: '127.0.0.1', port: 0 })
  const status = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host }
      const request = httpRequest(`${url}/metrics`, { headers, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject).end()
    })
  for (const host of [...known, '127.0.0.1']) expect(await status(host)).toBe(200)
  expect(await status(unknown)).toBe(421)
})
