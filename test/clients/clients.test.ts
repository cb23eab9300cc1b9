/** Clients in a store: added, found, paced and removed, and what the journal keeps of them. */
import { describe, expect, test } from 'vitest'
import type { ClientAct } from '../../src/clients/may-client.ts'
import type { Client } from '../../src/clients/records.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { Clients } from '../../src/clients/clients.ts'
import { memoryOf } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { storeForFile } from '../store/support.ts'
import { clientOf } from '../support/client.ts'
import { refused } from '../support/refused.ts'

const storeOf = storeForFile()
const CHAT = -5
const HOUR_MS = 3_600_000
let made = 0
/** A name that no test before had, since all share one store. */
const newName = (): string => `client-${++made}`

const named = (name: string, over: Partial<Client> = {}): Client =>
  clientOf({ name, credential: `hash of ${name}`, ...over })

async function scene({ given = [] as Client[], fresh = async () => {} } = {}) {
  const clock = { nowMs: 1_000_000, expiryNowMs: 0 }
  const store: Store = storeOf()
  const memory = { ...memoryOf(store, () => clock.nowMs), fresh }
  const journal = new Journal(memory)
  const load = (): Promise<Clients> =>
    Clients.load({
      memory,
      journal,
      knownChats: { get: () => undefined },
      clock: { expiryNowMs: () => clock.expiryNowMs },
      given,
    })
  const entriesOf = async (client: string) =>
    (await journal.read({ afterId: 0, sinceMs: 0, limit: 100, client })).map(
      ({ kind, chatId, detail }) => ({ kind, chatId, ...detail }),
    )
  const clients = await load()
  /** Adds a client of a new name. */
  const added = async (over: Partial<Client> = {}): Promise<Client> => {
    const client = named(newName(), over)
    await clients.add(client)
    return client
  }
  return { clients, added, load, clock, entriesOf }
}

const send = (chatId = CHAT): ClientAct => ({ call: 'sendMessage', chatIds: [chatId] })

describe('a client that was added by command', () => {
  test('a client is found by the hash of its token alone, and after a restart as it was added', async () => {
    const { clients, added, load } = await scene()
    const client = await added({ rate: { calls: 5, perMs: 60_000 }, persons: [7] })
    for (const one of [clients, await load()]) {
      expect(one.find(client.credential)).toEqual(client)
      expect(one.find('another hash')).toBeNull()
    }
  })

  test('a second client of the same name is refused, and an unknown one neither removed nor rotated', async () => {
    const { clients, added, load } = await scene()
    const client = await added()
    await expect(clients.add({ ...client, credential: 'other' })).rejects.toThrow(
      refused('refused', `there is a client ${client.name} already`),
    )
    for (const act of [clients.remove('nobody'), clients.rotate('nobody', 'x')]) {
      await expect(act).rejects.toThrow(refused('refused', 'there is no client nobody'))
    }
    expect((await load()).find(client.credential)).toEqual(client)
  })

  test('a rotated client is found by its new token alone', async () => {
    const { clients, added, load } = await scene()
    const client = await added()
    await clients.rotate(client.name, 'a new hash')
    for (const one of [clients, await load()]) {
      expect(one.find(client.credential)).toBeNull()
      expect(one.find('a new hash')).toMatchObject({ ...client, credential: 'a new hash' })
    }
    await clients.remove(client.name)
  })

  test('a removed client is refused, also for a request that was under way', async () => {
    const { clients, added, load } = await scene()
    const client = await added()
    await clients.admit(client, send())
    await clients.remove(client.name)
    await expect(clients.admit(client, send())).rejects.toThrow(refused('unauthorized'))
    expect((await load()).find(client.credential)).toBeNull()
  })

  test('a suspended client may do nothing, at any sidecar, until it is confirmed', async () => {
    const { clients, added, load } = await scene()
    const client = await added()
    expect(await clients.suspendAdded()).toContain(client.name)
    const suspended = refused('postern_client_suspended')
    for (const one of [clients, await load()]) {
      for (const act of [send(), { call: 'getMe' as const, chatIds: [] }]) {
        await expect(one.admit(client, act)).rejects.toThrow(suspended)
      }
      const later = { client: client.name, credential: client.credential }
      await expect(one.admitLater(later, send())).rejects.toThrow(suspended)
      expect(one.reader(one.find(client.credential) ?? client)).toBeNull()
    }
    await clients.rotate(client.name, 'rotated')
    const rotated = { client: client.name, credential: 'rotated' }
    await expect(clients.admitLater(rotated, send())).rejects.toThrow(suspended)
    await clients.confirm(client.name)
    await (await load()).admitLater(rotated, send())
    await clients.admitLater(rotated, send())
  })

  test('a call of a client is refused while the store cannot be read anew', async () => {
    let isReached = true
    const { clients } = await scene({
      fresh: async () => {
        if (!isReached) throw new Error('the database is out of reach')
      },
    })
    const client = named(newName())
    await clients.add(client)
    await clients.admit(client, send())
    isReached = false
    await expect(clients.admit(client, send())).rejects.toThrow('out of reach')
  })
})

describe('a client of the settings', () => {
  test('a client of the settings replaces an added one of its name, and its token', async () => {
    const name = newName()
    const { clients } = await scene()
    await clients.add(named(name, { credential: 'added' }))
    const given = named(name, { credential: 'given', createdAtMs: null })
    const after = await scene({ given: [given] })
    expect([after.clients.find('added'), after.clients.find('given')]).toEqual([null, given])
    expect(after.clients.all.filter((one) => one.name === name)).toEqual([given])
  })

  test('a client of the settings is neither removed nor rotated nor added by command', async () => {
    const given = named(newName(), { createdAtMs: null })
    const { clients } = await scene({ given: [given] })
    const { name } = given
    for (const act of [clients.remove(name), clients.rotate(name, 'x'), clients.add(given)]) {
      await expect(act).rejects.toThrow(refused('refused', `client ${name}`))
    }
    expect(clients.find(given.credential)).toEqual(given)
  })
})

describe('the expiry of a client', () => {
  test.each([
    ['our clock', 2000, 0],
    ['the clock of the service, also where ours was set back', 0, 2000],
  ])('a client expires by %s', async (_whose, nowMs, expiryNowMs) => {
    const { clients, added, clock } = await scene()
    const client = await added({ expiresAtMs: 2000 })
    Object.assign(clock, { nowMs: 1999, expiryNowMs: 1999 })
    await clients.admit(client, send())
    Object.assign(clock, { nowMs, expiryNowMs })
    await expect(clients.admit(client, send())).rejects.toThrow(refused('postern_not_allowed'))
  })
})

describe('the rate of a client', () => {
  const rate = { calls: 2, perMs: 60_000 }
  const edit = { ...send(), call: 'editMessage' as const }

  test('the rate of a client counts sends and edits of all sidecars together, over a restart', async () => {
    const { clients, added, load, clock } = await scene()
    const client = await added({ rate, may: ['send', 'edit', 'typing'] })
    await clients.admit(client, send())
    await (await load()).admit(client, edit)
    const late = await load()
    await expect(late.admit(client, send())).rejects.toThrow(
      refused('rate_limited', '', { extra: { retryAfter: 30 } }),
    )
    await late.admit(client, { ...send(), call: 'sendTyping' })
    clock.nowMs += 30_000
    await clients.admit(client, edit)
    await expect(clients.admit(client, send())).rejects.toThrow(refused('rate_limited'))
  })

  test('the rate of a client admits no more of many concurrent calls', async () => {
    const { clients, added, load } = await scene()
    const client = await added({ rate })
    const all = [clients, await load()].flatMap((one) =>
      [1, 2, 3].map(async () => await one.admit(client, send())),
    )
    const settled = await Promise.allSettled(all)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  })

  test('refused calls do not use up the rate of a client', async () => {
    const { clients, added } = await scene()
    const client = await added({ rate })
    for (const _again of [1, 2, 3]) {
      await expect(clients.admit(client, send(9))).rejects.toThrow(refused('postern_not_allowed'))
    }
    await clients.admit(client, send())
  })
})

describe('the journal', () => {
  test('the journal has each change of a client, and each kind of refusal once an hour', async () => {
    const { clients, clock, entriesOf } = await scene()
    const client = named(newName())
    const { name } = client
    await clients.add(client)
    const tryAll = async () => {
      for (const act of [
        send(9),
        send(8),
        { ...edit, chatIds: [9] },
        { call: null, chatIds: [] },
      ]) {
        await Promise.try(() => clients.admit(client, act)).catch(() => undefined)
      }
    }
    const edit = { ...send(), call: 'editMessage' as const }
    await tryAll()
    await tryAll()
    clock.nowMs += HOUR_MS
    await Promise.try(() => clients.admit(client, send(8))).catch(() => undefined)
    await clients.rotate(name, 'new')
    await clients.remove(name)
    const refusal = (lacks: string, call: string, chatId: number | null) => ({
      kind: 'client-refused',
      chatId,
      client: name,
      lacks,
      call,
    })
    expect(await entriesOf(name)).toEqual([
      { kind: 'client-added', chatId: null, client: name },
      refusal('chat', 'sendMessage', 9),
      refusal('edit', 'editMessage', 9),
      refusal('own-token', 'other', null),
      refusal('chat', 'sendMessage', 8),
      { kind: 'client-rotated', chatId: null, client: name },
      { kind: 'client-removed', chatId: null, client: name },
    ])
    expect(await entriesOf(`${name}0`)).toEqual([])
  })
})
