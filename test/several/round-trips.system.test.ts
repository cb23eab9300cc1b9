/** How often a bot's call waits for the database, counted on the wire. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { hasPostgres, sharedCluster } from '../support/postgres.ts'
import { WireTap, type RoundTrip } from '../support/wire-tap.ts'
import { several, type Replica } from './scene.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'

let tap: WireTap
let sandbox: Sandbox
let replica: Replica

async function start(): Promise<void> {
  tap = await WireTap.start(await sharedCluster())
  onTestFinished(() => tap[Symbol.asyncDispose]())
  const scene = await several(1, tap.url)
  sandbox = scene.sandbox
  replica = scene.replicas[0] as Replica
}

/** The tables that each question of a round trip is about, in their order. */
const tablesIn = (trips: readonly RoundTrip[]): string[][] =>
  trips.map((trip) =>
    trip.map(
      (sql) => /"?(state|seen|confirmed|encryption_keys)\b/.exec(sql)?.[1] ?? sql.slice(0, 11),
    ),
  )

const fewest = async (
  act: () => Promise<unknown>,
  between?: () => Promise<unknown>,
): Promise<string[][]> => tablesIn(await tap.fewest(act, between))

describe.skipIf(!hasPostgres())('database round trips of a call', () => {
  beforeEach(start)

  const send = async (chatId = sandbox.home.privateChat): Promise<number> => {
    const body = { chatId, text: 'hello' }
    const { status, json } = await replica.call('POST', '/messages', body)
    expect(status).toBe(201)
    return (json.result as { id: number }).id
  }

  test('a send and an edit wait for the database once: for the epoch and the replay memory', async () => {
    await sandbox.phone(sandbox.home.alice.id)
    const id = await send()
    expect(await fewest(() => send())).toEqual([['state', 'seen']])
    const edit = async (): Promise<void> => {
      const body = { chatId: sandbox.home.privateChat, text: 'hello again' }
      expect((await replica.call('PATCH', `/messages/${id}`, body)).status).toBe(200)
    }
    expect(await fewest(edit)).toEqual([['state', 'seen']])
  })

  test('a send after a pause acquires the shared send lock in the same round trip as an epoch', async () => {
    await sandbox.phone(sandbox.home.alice.id)
    await send()
    const last = (what: string): number => tap.asked.findLastIndex((sql) => sql.includes(what))
    const isLockBack = (): boolean => last('pg_try_advisory_lock_shared') < last('_unlock_shared')
    const trips = await fewest(
      () => send(),
      () => expect.poll(isLockBack).toBe(true),
    )
    expect(trips).toEqual([
      ['SELECT pg_t', 'state'],
      ['state', 'seen'],
    ])
  })

  test('the first send to a person makes four commits in at most eight round trips', async () => {
    let chatId = 0
    let people = 0
    const meet = async (): Promise<void> => {
      const { id: userId } = await sandbox.control.addPerson({ username: `person_${++people}` })
      await sandbox.phone(userId)
      chatId = (await sandbox.control.addPrivateChat({ userId, botId: sandbox.home.bot.id })).id
    }
    const trips = await tap.fewest(() => send(chatId), meet)
    const writes = trips.flat().filter((sql) => sql === 'commit')
    // the chat; the person with pin, keys and certificate; the key list; whose chat it is
    expect(writes).toHaveLength(4)
    // on a busy machine, the epoch is read again after half a second
    const isEpoch = (sql: string): boolean => sql.startsWith('SELECT epoch')
    expect(trips.filter((trip) => !trip.every(isEpoch)).length).toBeLessThanOrEqual(7)
  })

  test('a send into a readable chat waits for the database once', async () => {
    const body = { chatId: sandbox.home.readableGroup, text: 'hello' }
    const sendReadable = async (): Promise<void> => {
      expect((await replica.call('POST', '/messages', body)).status).toBe(201)
    }
    await sendReadable()
    expect(await fewest(sendReadable)).toEqual([['state']])
  })

  test.each([
    [1, 3],
    [20, 4],
  ])(
    'a poll that opens %i updates waits for the database %i times at most',
    async (count, most) => {
      const { alice, privateChat } = sandbox.home
      const phone = await sandbox.phone(alice.id)
      let offset = 0
      const poll = async (): Promise<void> => {
        const { json } = await replica.call('GET', `/updates?limit=100&offset=${offset}`)
        const updates = json.result as { updateId: number; message: { text: string } }[]
        expect(updates.map(({ message }) => message.text)).toEqual(Array(count).fill('hello'))
        offset = (updates.at(-1)?.updateId ?? 0) + 1
      }
      const write = async (): Promise<void> => {
        for (let n = 0; n < count; n++) await phone.write(privateChat, 'hello')
      }
      await write()
      await poll()
      const trips = await fewest(poll, write)
      expect(trips.length).toBeLessThanOrEqual(most)
      // the epoch, for a turn and before words are delivered; the replay memory with one statement
      expect(trips.flat().filter((about) => about === 'state')).toHaveLength(2)
      expect(trips.at(-1)).toEqual(['begin', 'seen', 'commit'])
    },
  )
})
