/** What several sidecars of one bot do together. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { hasPostgres } from '../support/postgres.ts'
import { openBot } from '../updates/bot.ts'
import { several, type Replica } from './scene.ts'

interface Update {
  updateId: number
  message: { text?: string; media?: { url: string }[] }
}

/** Two sidecars, and a person who writes to their bot. */
async function withPhone() {
  const { sandbox, replicas, start } = await several(2)
  const [one, two] = replicas as [Replica, Replica]
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  const write = (text: string) => phone.write(privateChat, text)
  return { sandbox, one, two, start, phone, privateChat, write }
}

const textsOf = (updates: Update[]) => updates.map(({ message }) => message.text)

/** Keys that were published, one after the other. */
const published = (sandbox: Sandbox): string[] =>
  sandbox.transcript
    .list()
    .filter(({ method, path }) => method === 'PUT' && path.endsWith('/key'))
    .map(({ body }) => (JSON.parse(body) as { fingerprint: string }).fingerprint)

const updatesOf = async (replica: Replica, query: string): Promise<Update[]> =>
  (await replica.call('GET', `/updates?${query}`)).json.result as Update[]

/** The control of a sidecar; it is closed when the test ends. */
async function controlOf({ dataDir }: Replica) {
  const control = await connectControl(dataDir, 20_000)
  if (control === null) throw new Error('the sidecar does not run')
  onTestFinished(() => control[Symbol.asyncDispose]())
  return control
}

/** How many polls have reached the service. */
const pollsOf = (sandbox: Sandbox): number =>
  sandbox.transcript.list().filter(({ path }) => path.includes('/updates')).length

/** How many polls of a sidecar were taken over by whom. */
async function takenOver({ admin }: Replica, by: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text()
  const line = new RegExp(`^postern_polls_taken_over_total{by="${by}"} (\\d+)$`, 'm').exec(text)
  return Number(line?.[1] ?? 0)
}

describe.skipIf(!hasPostgres())('several sidecars of one bot', () => {
  test('three sidecars that start together publish one key, send with it and divide the call rate', async () => {
    const { sandbox, replicas } = await several(3)
    expect(new Set(published(sandbox)).size).toBe(1)
    const { alice, privateChat } = sandbox.home
    const phone = await sandbox.phone(alice.id)
    for (const [n, replica] of replicas.entries()) {
      const sent = await replica.call('POST', '/messages', {
        chatId: privateChat,
        text: `it is ${n}`,
      })
      expect(sent.status).toBe(201)
      const limit = async () =>
        ((await (await fetch(`${replica.admin}/status`)).json()) as { calls: { limit: number } })
          .calls.limit
      await expect.poll(limit).toBe(100)
    }
    const seen = () => phone.inbox.map(({ text, verdict }) => [text, verdict])
    await expect.poll(seen).toEqual([0, 1, 2].map((n) => [`it is ${n}`, 'verified']))
  })

  test('two sidecars send with the new key once one of them has rotated it', async () => {
    const { one, two, sandbox, phone, privateChat } = await withPhone()
    await (await controlOf(one)).keyRotate({})
    const send = (n: number) =>
      [one, two][n % 2]?.call('POST', '/messages', { chatId: privateChat, text: `word ${n}` })
    let n = 0
    while (new Set(published(sandbox)).size < 2) expect((await send(n++))?.status).toBe(201)
    for (const end = n + 4; n < end; n++) expect((await send(n))?.status).toBe(201)
    await expect.poll(() => phone.inbox.length).toBe(n)
    expect(new Set(phone.inbox.map(({ verdict }) => verdict))).toEqual(new Set(['verified']))
    const keys = await (await controlOf(two)).keyList()
    expect(keys.map(({ state }) => state).toSorted()).toEqual(['active', 'retired'])
    expect(published(sandbox)).toHaveLength(2)
  })

  test('a poll at the second sidecar ends the poll at the first with an empty list', async () => {
    const { one, two, sandbox, write } = await withPhone()
    const first = updatesOf(one, 'timeout=50')
    await expect.poll(() => pollsOf(sandbox)).toBe(1)
    const second = updatesOf(two, 'timeout=50')
    expect(await first).toEqual([])
    await write('hello')
    expect(textsOf(await second)).toEqual(['hello'])
    expect(textsOf(await updatesOf(one, 'timeout=0'))).toEqual(['hello'])
  })

  test('two polling sidecars alternate without `second-poller`, and report a foreign poller', async () => {
    const { one, two, sandbox, write } = await withPhone()
    const heard = new Set<string>()
    const stop = new AbortController()
    const pollAlong = async (replica: Replica): Promise<void> => {
      while (!stop.signal.aborted) {
        const updates = await updatesOf(replica, 'timeout=20')
        for (const { message } of updates) heard.add(message.text ?? '')
      }
    }
    const bots = [pollAlong(one), pollAlong(two)]
    for (const replica of [one, two]) {
      await expect.poll(() => takenOver(replica, 'replica')).toBeGreaterThan(2)
    }
    expect(await Promise.all([one, two].map((each) => takenOver(each, 'elsewhere')))).toEqual([
      0, 0,
    ])
    for (const replica of [one, two]) expect((await replica.readiness()).status).toBe(200)
    await write('hello')
    await expect.poll(() => [...heard]).toEqual(['hello'])
    stop.abort()
    await write('the end')
    const last = updatesOf(one, 'offset=1&timeout=1')
    await Promise.all([...bots, last])
    await two.stop('SIGTERM')
    const url = `${sandbox.url}/bot/v1/updates?offset=900000`
    const headers = { authorization: `Bearer ${sandbox.token}` }
    for (let n = 1; n <= 3; n++) {
      const before = pollsOf(sandbox)
      const poll = updatesOf(one, 'offset=900000&timeout=50')
      await expect.poll(() => pollsOf(sandbox)).toBe(before + 1)
      await fetch(url, { headers })
      expect(await poll).toEqual([])
    }
    expect((await one.readiness()).reasons).toEqual(['second-poller'])
  }, 180_000)

  test('a webhook receives updates in order from one sidecar at a time, and another continues when it stops', async () => {
    const { one, two, write, start } = await withPhone()
    const bot = await openBot()
    expect((await one.call('POST', '/webhook', { url: bot.url })).status).toBe(200)
    await write('first')
    await expect.poll(() => bot.words).toEqual(['first'])
    const polled = await two.call('GET', '/updates')
    expect([polled.status, polled.json.error?.code]).toEqual([409, 'webhook_active'])
    const three = await start()
    await one.stop('SIGTERM')
    await write('second')
    await expect.poll(() => bot.words).toEqual(['first', 'second'])
    await two.stop('SIGTERM')
    await write('third')
    await expect.poll(() => bot.words).toEqual(['first', 'second', 'third'])
    expect((await three.call('DELETE', '/webhook')).status).toBe(200)
    await write('fourth')
    await expect.poll(async () => textsOf(await updatesOf(three, 'timeout=1'))).toEqual(['fourth'])
    expect(bot.words).toHaveLength(3)
  })

  test('an idle sidecar delivers to the latest webhook that a killed sidecar has set', async () => {
    const { one, two, write } = await withPhone()
    const before = await openBot()
    const now = await openBot()
    expect((await one.call('POST', '/webhook', { url: before.url })).status).toBe(200)
    expect((await one.call('POST', '/webhook', { url: now.url })).status).toBe(200)
    await one.stop('SIGKILL')
    await write('hello')
    await expect.poll(() => now.words).toEqual(['hello'])
    expect(before.words).toEqual([])
    expect((await two.readiness()).status).toBe(200)
  })

  test('a webhook that one sidecar has set is removed by a DELETE at the other', async () => {
    const { replicas } = await several(2)
    const [one, two] = replicas as [Replica, Replica]
    const { url } = await openBot()
    for (let n = 0; n < 3; n++) {
      expect((await one.call('POST', '/webhook', { url })).status).toBe(200)
      expect((await two.call('DELETE', '/webhook')).status).toBe(200)
      expect((await one.call('GET', '/webhook')).json.result).toMatchObject({ url: null })
    }
    expect((await one.call('POST', '/webhook', { url })).status).toBe(200)
    expect((await two.call('GET', '/webhook')).json.result).toMatchObject({ url })
  })

  test('a media url of one sidecar works at both, and `explain` of the other knows the verdict', async () => {
    const { one, two, phone, privateChat } = await withPhone()
    const bytes = Buffer.from('a file of somebody')
    await phone.send(privateChat, bytes, { text: 'a file' })
    const [update] = await updatesOf(one, 'timeout=20')
    const url = update?.message.media?.[0]?.url ?? ''
    for (const { bot } of [one, two]) {
      const answer = await fetch(new URL(url, bot))
      expect([answer.status, await answer.text()]).toEqual([200, bytes.toString()])
    }
    const control = await controlOf(two)
    const explained = async () =>
      (await control.explainUpdate({ updateId: update?.updateId ?? 0 })).length
    await expect.poll(explained).toBeGreaterThan(0)
  })
})
