/** A client that reads by two sidecars of a bot. */
import { describe, expect, test } from 'vitest'
import { canary } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { hasPostgres } from '../support/postgres.ts'
import type { Sidecar } from '../support/sidecar.ts'
import { usePair } from './pair.ts'

const { stage, other } = await usePair()

/** How a client that reads all presents itself, at both sidecars. */
async function reporter() {
  const client = ['client', 'add', 'reporter', '--may', 'read', '--chats', 'all']
  const { stdout } = await stage.sidecar.postern(...client)
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  await expect
    .poll(async () => (await other().call('GET', '/me', undefined, { headers })).status)
    .toBe(200)
  return headers
}

/** The numbers and words of a poll's updates. */
async function read(sidecar: Sidecar, query: string, by: object = {}): Promise<[number, string][]> {
  const { json } = await sidecar.call('GET', `/updates?timeout=20&${query}`, undefined, by)
  return json.result.map(({ updateId, message }: Json) => [updateId, message.text])
}

describe.skipIf(!hasPostgres())('a client of a bot with two sidecars', () => {
  test('a client continues at the second sidecar from its cursor, and the bot receives every update at both', async () => {
    const headers = await reporter()
    const { world } = stage.double
    const chat = stage.openGroup()
    const words = [canary(), canary(), canary()]
    for (const text of words) {
      world.push({ kind: 'message', message: world.message(chat, await stage.friend(), { text }) })
    }
    expect(await read(stage.sidecar, 'limit=2', { headers })).toEqual([
      [1, words[0]],
      [2, words[1]],
    ])
    expect(await read(other(), 'offset=3', { headers })).toEqual([[3, words[2]]])
    expect(await read(stage.sidecar, 'offset=2', { headers })).toEqual([[3, words[2]]])
    for (const sidecar of [stage.sidecar, other()]) {
      const seen = await read(sidecar, '')
      expect(seen.map(([, text]: unknown[]) => text)).toEqual(words)
    }

    const write = async (text = canary()) => {
      world.push({ kind: 'message', message: world.message(chat, await stage.friend(), { text }) })
    }
    await write()
    expect(await read(other(), 'offset=4', { headers })).toHaveLength(1)
    await write()
    expect(await read(stage.sidecar, 'offset=4', { headers })).toHaveLength(2)
    const rest = read(other(), 'offset=6', { headers })
    const last = canary()
    await write(last)
    expect(await rest).toEqual([[6, last]])
  })
})
