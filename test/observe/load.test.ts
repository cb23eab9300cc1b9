/** Metrics of threads, connections and caches, of a sidecar in traffic. */
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { startSidecar, until, type Sidecar } from '../support/sidecar.ts'

async function shown(sidecar: Sidecar): Promise<(name: string) => number> {
  const text = await (await fetch(`${sidecar.adminUrl}/metrics`)).text()
  return (name) => {
    const line = text.split('\n').find((one) => one.startsWith(`postern_${name} `))
    return Number(line?.split(' ').at(-1))
  }
}

test(
  'threads, connections and caches show what they are used for',
  { timeout: 60_000 },
  async () => {
    await using sandbox = await createSandbox({ rates: 'off' })
    await using sidecar = await startSidecar({
      upstream: sandbox.url,
      env: { POSTERN_BOT_TOKEN: sandbox.token },
    })
    await sidecar.whenReady()
    const { alice, privateChat } = sandbox.home
    await sandbox.phone(alice.id)
    const bot = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${sidecar.url}/bot/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return answer.status
    }
    const write = () => bot('POST', '/messages', { chatId: privateChat, text: 'hello' })

    expect(await write()).toBe(201)
    const first = await shown(sidecar)
    const lists = (outcome: string) => `cache_lookups_total{cache="key-lists",outcome="${outcome}"}`
    expect([first(lists('hit')), first(lists('miss'))]).toEqual([0, 1])
    expect(first('cache_lookups_total{cache="certificates",outcome="miss"}')).toBeGreaterThan(0)

    expect(await write()).toBe(201)
    const second = await shown(sidecar)
    expect([second(lists('hit')), second(lists('miss'))]).toEqual([1, 1])
    expect(second('cache_lookups_total{cache="certificates",outcome="hit"}')).toBeGreaterThan(0)
    for (const pool of ['messages', 'certificates', 'ours', 'attachments', 'native']) {
      expect(second(`threads_busy{pool="${pool}"}`)).toBeGreaterThanOrEqual(0)
      expect(second(`threads_waiting{pool="${pool}"}`)).toBeGreaterThanOrEqual(0)
    }

    const polls = 'upstream_connections_busy{pool="polls"}'
    expect(second(polls)).toBe(0)
    const poll = bot('GET', '/updates?timeout=50')
    await until(async () => (await shown(sidecar))(polls) === 1, 'a poll under way')
    await sandbox.control.write({ userId: alice.id, chatId: privateChat, text: 'good day' })
    expect(await poll).toBe(200)
    await until(async () => (await shown(sidecar))(polls) === 0, 'no poll under way')
  },
)
