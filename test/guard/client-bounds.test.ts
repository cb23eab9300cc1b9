/** Clients of the bot's door at the edges of their bounds. */
import { expect, test, vi } from 'vitest'
import type { ClientAct } from '../../src/clients/may-client.ts'
import type { Client } from '../../src/clients/records.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { Clients } from '../../src/clients/clients.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { open, temporary } from '../store/support.ts'
import { clientOf } from '../support/client.ts'
import { refused } from '../support/refused.ts'

const SEND: ClientAct = { call: 'sendMessage', chatIds: [-5] }
const ELSEWHERE: ClientAct = { ...SEND, chatIds: [-6] }
const NO = refused('postern_not_allowed')

async function scene(given: Client[]) {
  let nowMs = 1
  const memory = memoryOf(await open(temporary(), { protection: 'none' }), () => nowMs)
  const journal = new Journal(memory)
  const facts = { knownChats: { get: () => undefined }, clock: { expiryNowMs: () => 0 } }
  const clients = await Clients.load({ memory, journal, ...facts, given })
  const pass = (ms: number): void => void (nowMs += ms)
  return { clients, journal, pass }
}

/** Each change of a client, after which its credential of before is nobody's. */
const CHANGES: [what: string, change: (clients: Clients) => Promise<void>][] = [
  ['rotated', (clients) => clients.rotate('reporter', 'next')],
  ['removed', (clients) => clients.remove('reporter')],
  [
    'removed, and added under its name',
    async (clients) => {
      await clients.remove('reporter')
      await clients.add(clientOf({ credential: 'next' }))
    },
  ],
]

test.each(CHANGES)(
  'the credential of a client that was %s has no right to a call that was admitted or given before',
  async (_what, change) => {
    const { clients } = await scene([])
    await clients.add(clientOf())
    const caller = { client: 'reporter', credential: 'h' }
    const [now, later] = [
      await clients.admit(clientOf(), SEND),
      await clients.admitLater(caller, SEND),
    ]
    now.require()
    await later.ask()
    const { ended } = now
    expect([ended.aborted, clients.hasLost(caller)]).toEqual([false, false])
    await change(clients)
    expect([ended.aborted, now.ended.aborted, clients.hasLost(caller)]).toEqual([true, true, true])
    await expect(now.ask()).rejects.toThrow(refused('unauthorized'))
    expect(() => later.require()).toThrow(NO)
    await expect(clients.admitLater(caller, SEND)).rejects.toThrow(NO)
  },
)

test('an admitted call of a client ends with its expiry', async () => {
  const client = clientOf({ expiresAtMs: 600_001 })
  const { clients, pass } = await scene([client])
  const timers = vi.spyOn(AbortSignal, 'timeout')
  const { ended, require } = await clients.admit(client, SEND)
  expect([ended.aborted, timers.mock.calls]).toEqual([false, [[600_000]]])
  pass(600_000)
  expect(require).toThrow(NO)
  expect(clients.hasLost({ client: client.name, credential: client.credential })).toBe(true)
})

test('an earlier call of a client needs its rights of now', async () => {
  const { clients } = await scene([clientOf()])
  const caller = { client: 'reporter', credential: 'h' }
  await clients.admitLater(caller, SEND)
  for (const act of [ELSEWHERE, { ...SEND, call: 'editMessage' }] as ClientAct[]) {
    await expect(clients.admitLater(caller, act)).rejects.toThrow(NO)
  }
})

test('the rate of a client counts what it gives for later, and again what leaves', async () => {
  const client = clientOf({ rate: { calls: 2, perMs: 1000 } })
  const { clients, pass } = await scene([client])
  const USED_UP = refused('rate_limited', '', { extra: { retryAfter: 1 } })
  const later = { ...SEND, isLater: true }
  for (let n = 0; n < 2; n++) await clients.admit(client, later)
  await expect(clients.admit(client, later)).rejects.toThrow(USED_UP)
  await clients.leaves('reporter')
  await clients.admit(client, SEND)
  await expect(clients.admit(client, SEND)).rejects.toThrow(USED_UP)
  await expect(clients.leaves('reporter')).rejects.toThrow(USED_UP)
  pass(500)
  await clients.leaves('reporter')
})

test('equal refusals of a client are in the journal once an hour, and again after it', async () => {
  const client = clientOf()
  const { clients, journal, pass } = await scene([client])
  const counts: number[] = []
  for (const ms of [0, 3_599_999, 2]) {
    pass(ms)
    await expect(clients.admit(client, ELSEWHERE)).rejects.toThrow(NO)
    const range = { afterId: 0, sinceMs: 0, limit: 9, client: client.name }
    counts.push((await journal.read(range)).length)
  }
  expect(counts).toEqual([1, 1, 2])
})

test('a thousand clients are the most', async () => {
  const many = Array.from({ length: 999 }, (_, n) =>
    clientOf({ name: `c${n}`, credential: `${n}` }),
  )
  const { clients } = await scene(many)
  await clients.add(clientOf())
  const one = clientOf({ name: 'more', credential: 'more' })
  await expect(clients.add(one)).rejects.toThrow(refused('refused', '1000 clients already'))
})
