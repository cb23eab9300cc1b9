import { expect, test } from 'vitest'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'
import { still, token } from './seeded.ts'
import { ask } from './support.ts'

/** A world with a group of guests and a bot that reads everything. */
const seed = (guest: object, more: object = {}): SeedInput => ({
  people: { guest, guest_7: { firstName: 'Gina' } },
  bots: { echo_bot: { privacyMode: false } },
  chats: {
    hall: {
      kind: 'group',
      members: { guest: 'member', guest_7: 'owner', echo_bot: 'member' },
      ...more,
    },
  },
  schedule: [{ at: '1s', write: { userId: 'guest_7', chatId: 'hall', text: 'hello' } }],
})

async function open(...given: Parameters<typeof seed>) {
  const sandbox = await still(seed(...given))
  const chatId = sandbox.chats[0]?.id ?? 0
  const get = async <T>(path: string) =>
    (await ask<T>({ url: sandbox.url, token: token(sandbox) }, `GET ${path}`)).result
  return { sandbox, chatId, get, [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose]() }
}

test('the service lists all 8000 members of a room that a `count` makes', async () => {
  await using world = await open({ count: 8000, key: 'none' })
  type Listed = { members: { username: string }[]; memberCount: number }
  const { members, memberCount } = await world.get<Listed>(`/chats/${world.chatId}/members`)
  expect([members.length, memberCount]).toEqual([8001, 8001])
  const named = (username: string) => members.find((one) => one.username === username)
  expect(named('guest_7')).toMatchObject({ firstName: 'Gina', status: 'owner' })
  expect(named('guest_8000')).toMatchObject({ firstName: 'guest_8000', status: 'member' })
})

test('each person of a `count` has a key of their own, and a phone once it is used', async () => {
  await using world = await open({ count: 20 })
  const { sandbox, chatId, get } = world
  const { control, people } = sandbox
  type Listed = { keys: { fingerprint: string }[] }
  const { keys } = await get<Listed>(`/chats/${chatId}/keys`)
  expect(new Set(keys.map(({ fingerprint }) => fingerprint)).size).toBe(20)
  expect((await control.people()).every(({ hasPhone }) => hasPhone)).toBe(true)
  const [early = 0, late = 0] = people.slice(1).map(({ id }) => id)
  await control.inbox({ userId: early })
  await sandbox.restore(sandbox.snapshot())
  await sandbox.advance(1000)
  const shown = { text: 'hello', verdict: 'verified' }
  expect((await control.inbox({ userId: early })).inbox).toMatchObject([shown])
  expect((await control.inbox({ userId: late })).inbox).toEqual([])
  expect((await control.screen({ userId: late, chatId })).messages).toMatchObject([shown])
})

test.each([
  [{ count: 0 }, 'people.guest.count: expected number to be >=1'],
  [{ count: 6 }, 'schedule.0.write.userId: no person guest_8'],
  [{ count: 9, kye: 'none' }, 'people.guest.kye: no such field'],
])('a seed with the person %j is refused: %s', async (guest, problem) => {
  const write = { userId: 'guest_8', chatId: 'hall', text: 'hello' }
  const given = { ...seed(guest), schedule: [{ at: '1s', write }] }
  await expect(still(given)).rejects.toThrow(problem)
})

test('a person of a `count` needs a handle with room for the number', async () => {
  const given = { people: { ['x'.repeat(32)]: { count: 1 } } }
  await expect(still(given)).rejects.toThrow('x_1: expected a handle: 3 to 32')
})

test('the updates of a long message and 75 long replies are more than 16 MiB', async () => {
  const long = { from: 'guest_7', text: 'long ', length: 90_000 }
  const history = [long, { ...long, replyTo: 1, times: 75 }]
  await using world = await open({ count: 1 }, { history })
  type Listed = { message: { replyTo: { id: number } | null } }[]
  const updates = await world.get<Listed>('/updates')
  expect(updates.map(({ message }) => message.replyTo?.id)).toEqual([
    undefined,
    ...Array(75).fill(1),
  ])
  expect(JSON.stringify(updates).length).toBeGreaterThan(16 * 2 ** 20)
})
