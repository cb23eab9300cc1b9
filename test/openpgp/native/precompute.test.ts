/** The preparation of messages: order, replacement and end. */
import { setImmediate as immediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { freshSessionKey } from '../../../src/openpgp/crypto/session-key.ts'
import { armorPackets } from '../../../src/openpgp/format/armor-writer.ts'
import { Precomputer, PreparedMessages } from '../../../src/openpgp/native/precompute.ts'
import { type PreparedMessage } from '../../../src/openpgp/native/prepared-message.ts'
import type {
  RecipientList,
  PrepareRequest,
  RecipientPackets,
} from '../../../src/openpgp/native/recipient-packets.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import { seeds } from '../../support/chance.ts'
import { randomFrom } from '../../support/openpgp-mutate.ts'

const BOUNDS = { maxBytes: 1_000_000, keepMs: 60_000 }
const newMessage = (bytes = 96): PreparedMessage => ({
  ...armorPackets(seeded('packets', bytes)),
  sessionKey: freshSessionKey('aes256'),
})
const isZeroed = ({ sessionKey }: PreparedMessage): boolean =>
  sessionKey.data.every((byte) => byte === 0)

const requestOf = (name: string, cipher: 'aes256' | 'aes128' = 'aes256'): PrepareRequest => ({
  list: { name } as RecipientList,
  cipher,
})
const LIST = requestOf('list')

interface Building {
  request: PrepareRequest
  /** Ends the build and returns its message. */
  end: () => PreparedMessage
  fail: () => void
}

/** A precomputer whose builds end when the test ends them. */
function newPrecomputer() {
  const builds: Building[] = []
  const prepared: string[] = []
  let refills = 0
  const packets = {
    buildAhead: (request: PrepareRequest) =>
      new Promise<PreparedMessage>((resolve, reject) => {
        builds.push({
          request,
          end() {
            const made = newMessage()
            resolve(made)
            return made
          },
          fail: () => reject(new Error('thread died')),
        })
      }),
    refillEphemerals: () => Promise.resolve(void refills++),
  }
  const precomputer = new Precomputer({
    packets: packets as unknown as RecipientPackets,
    bounds: BOUNDS,
    onPrepared: (place) => prepared.push(place),
  })
  return { precomputer, builds, prepared, refills: () => refills }
}

/** Turns of the loop until requested builds have begun. */
async function turns(): Promise<void> {
  await immediate()
  await immediate()
}

afterEach(() => vi.useRealTimers())

test('a requested message is prepared, announced and returned once', async () => {
  const { precomputer, builds, prepared, refills } = newPrecomputer()
  expect(precomputer.take('here', LIST)).toBeNull()
  precomputer.request('here', LIST)
  await turns()
  expect(refills()).toBe(1)
  expect(builds.map(({ request }) => request)).toEqual([LIST])
  const made = builds[0]?.end()
  await turns()
  expect(prepared).toEqual(['here'])
  expect(precomputer.take('here', requestOf('list'))).toBe(made)
  expect(precomputer.take('here', LIST)).toBeNull()
})

test.each([
  ['another list', requestOf('other')],
  ['another cipher', requestOf('list', 'aes128')],
])('a prepared message is destroyed by a request for %s at its place', async (_, other) => {
  const { precomputer, builds } = newPrecomputer()
  precomputer.request('here', LIST)
  await turns()
  const made = builds[0]?.end()
  await turns()
  expect(precomputer.take('here', other)).toBeNull()
  expect(made && isZeroed(made)).toBe(true)
  expect(precomputer.take('here', LIST)).toBeNull()
})

test('`Precomputer` prepares one message at a time, in the order of the requests', async () => {
  const { precomputer, builds, prepared } = newPrecomputer()
  for (const place of ['a', 'b', 'c']) precomputer.request(place, LIST)
  await turns()
  for (const count of [1, 2, 3]) {
    expect(builds).toHaveLength(count)
    builds.at(-1)?.end()
    await turns()
  }
  expect(prepared).toEqual(['a', 'b', 'c'])
  precomputer.request('d', LIST)
  await turns()
  expect(builds).toHaveLength(4)
})

test('a message that is already prepared is not prepared again', async () => {
  const { precomputer, builds, refills } = newPrecomputer()
  precomputer.request('here', LIST)
  await turns()
  builds[0]?.end()
  await turns()
  precomputer.request('here', LIST)
  await turns()
  expect(builds).toHaveLength(1)
  expect(refills()).toBe(2)
  precomputer.request('here', requestOf('other'))
  await turns()
  expect(builds).toHaveLength(2)
})

test('a place that is requested again while waiting moves to the end of the `Precomputer` queue', async () => {
  const { precomputer, builds, prepared } = newPrecomputer()
  precomputer.request('first', LIST)
  precomputer.request('a', LIST)
  precomputer.request('b', LIST)
  precomputer.request('a', requestOf('later'))
  await turns()
  for (let turn = 0; turn < 3; turn++) {
    builds.at(-1)?.end()
    await turns()
  }
  expect(prepared).toEqual(['first', 'b', 'a'])
  expect(builds.map(({ request }) => request.list.name)).toEqual(['list', 'list', 'later'])
})

test('a message in preparation is destroyed when its place is requested for another recipient list', async () => {
  const { precomputer, builds, prepared } = newPrecomputer()
  precomputer.request('here', LIST)
  await turns()
  precomputer.request('here', requestOf('later'))
  await turns()
  const first = builds[0]?.end()
  await turns()
  expect(first && isZeroed(first)).toBe(true)
  expect(prepared).toEqual([])
  const second = builds[1]?.end()
  await turns()
  expect(prepared).toEqual(['here'])
  expect(precomputer.take('here', requestOf('later'))).toBe(second)
})

test('a failed preparation of a message is not repeated before the next request, and delays no other', async () => {
  const { precomputer, builds, prepared } = newPrecomputer()
  precomputer.request('a', LIST)
  precomputer.request('b', LIST)
  await turns()
  builds[0]?.fail()
  await turns()
  builds[1]?.end()
  await turns()
  expect([builds.length, prepared]).toEqual([2, ['b']])
  precomputer.request('a', LIST)
  await turns()
  expect(builds).toHaveLength(3)
})

test('`Precomputer` drops the oldest of more than 64 waiting places', async () => {
  const { precomputer, builds } = newPrecomputer()
  for (let n = 0; n < 66; n++) {
    precomputer.request(`place ${n}`, requestOf(`list ${n}`))
    if (n === 0) await turns()
  }
  await turns()
  for (let turn = 0; turn < 80; turn++) {
    builds.at(-1)?.end()
    await turns()
  }
  const names = builds.map(({ request }) => request.list.name)
  expect(names).toEqual(['list 0', ...Array.from({ length: 64 }, (_, n) => `list ${n + 2}`)])
})

test("`Precomputer.clear` with an owner's prefix keeps the requests of other owners", async () => {
  const { precomputer, builds } = newPrecomputer()
  const [one, other] = [requestOf('one'), requestOf('other')]
  precomputer.request('one/here', one)
  precomputer.request('two/here', other)
  precomputer.clear('one/')
  await turns()
  expect(builds.map(({ request }) => request)).toEqual([other])
})

test('`Precomputer.clear` destroys prepared messages and those still being built', async () => {
  const { precomputer, builds, prepared } = newPrecomputer()
  precomputer.request('a', LIST)
  await turns()
  const there = builds[0]?.end()
  await turns()
  precomputer.request('b', LIST)
  await turns()
  precomputer.request('c', LIST)
  precomputer.clear()
  expect(there && isZeroed(there)).toBe(true)
  const late = builds[1]?.end()
  await turns()
  expect(late && isZeroed(late)).toBe(true)
  expect([builds.length, prepared]).toEqual([2, ['a']])
  precomputer.request('c', LIST)
  await turns()
  expect(builds).toHaveLength(3)
})

test('a closed `Precomputer` destroys its messages and prepares nothing', async () => {
  const { precomputer, builds } = newPrecomputer()
  precomputer.request('a', LIST)
  await turns()
  const there = builds[0]?.end()
  await turns()
  precomputer.close()
  expect(there && isZeroed(there)).toBe(true)
  precomputer.request('a', LIST)
  await turns()
  expect(builds).toHaveLength(1)
})

const held = (keepMs = 60_000, maxBytes = 1_000_000): PreparedMessages =>
  new PreparedMessages({ maxBytes, keepMs })

test('a prepared message is not returned after `keepMs`, even when no timer fires', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(1)
  const messages = held()
  const [one, other] = [newMessage(), newMessage()]
  messages.put('a', 'list', one)
  messages.put('b', 'list', other)
  vi.advanceTimersByTime(59_999)
  expect(messages.has('a', 'list')).toBe(true)
  expect(messages.has('a', 'other list')).toBe(false)
  expect(messages.has('c', 'list')).toBe(false)
  expect(messages.take('a', 'list')).toBe(one)
  vi.advanceTimersByTime(2)
  expect(messages.has('b', 'list')).toBe(false)
  expect(messages.take('b', 'list')).toBeNull()
  expect([isZeroed(one), isZeroed(other)]).toEqual([false, true])
})

test('an unused prepared message is destroyed after `keepMs`', () => {
  vi.useFakeTimers()
  vi.advanceTimersByTime(1)
  const preparedMessages = new PreparedMessages(BOUNDS)
  const [first, second] = [newMessage(), newMessage()]
  preparedMessages.put('a', 'list', first)
  vi.advanceTimersByTime(30_000)
  preparedMessages.put('b', 'list', second)
  vi.advanceTimersByTime(30_001)
  expect([isZeroed(first), isZeroed(second)]).toEqual([true, false])
  expect(preparedMessages.take('a', 'list')).toBeNull()
  vi.advanceTimersByTime(30_000)
  expect(isZeroed(second)).toBe(true)
  expect(preparedMessages.byteLength).toBe(0)
})

test('prepared messages above `maxBytes` are destroyed, the oldest first', () => {
  const preparedMessages = new PreparedMessages({ ...BOUNDS, maxBytes: 3 * 600 })
  const all = Array.from({ length: 6 }, () => newMessage(400))
  for (const [index, one] of all.entries()) preparedMessages.put(`place ${index}`, 'list', one)
  expect(preparedMessages.byteLength).toBeLessThanOrEqual(1800)
  expect(all.map(isZeroed)).toEqual([true, true, true, false, false, false])
})

test('a prepared message larger than `maxBytes` is destroyed at once', () => {
  const preparedMessages = new PreparedMessages({ ...BOUNDS, maxBytes: 100 })
  const one = newMessage(4000)
  preparedMessages.put('here', 'list', one)
  expect(isZeroed(one)).toBe(true)
  expect(preparedMessages.byteLength).toBe(0)
})

test('a prepared message is never returned twice or for another list, in any order of calls', () => {
  for (const seed of seeds(80)) {
    const random = randomFrom(seed)
    const preparedMessages = new PreparedMessages({ ...BOUNDS, maxBytes: 200 + random(3000) })
    const madeFor = new Map<PreparedMessage, string>()
    const given = new Set<PreparedMessage>()
    for (let step = 0; step < 60; step++) {
      const place = `place ${random(4)}`
      const name = `list ${random(3)}`
      if (random(2) === 0) {
        const one = newMessage(50 + random(400))
        madeFor.set(one, `${place} ${name}`)
        preparedMessages.put(place, name, one)
        continue
      }
      const taken = preparedMessages.take(place, name)
      if (taken === null) continue
      expect(given.has(taken), `FUZZ_SEED=${seed}`).toBe(false)
      expect(madeFor.get(taken), `FUZZ_SEED=${seed}`).toBe(`${place} ${name}`)
      expect(isZeroed(taken), `FUZZ_SEED=${seed}`).toBe(false)
      given.add(taken)
    }
    preparedMessages.clear()
    for (const one of madeFor.keys()) {
      expect(isZeroed(one), `FUZZ_SEED=${seed}`).toBe(!given.has(one))
    }
  }
})

test('`PreparedMessages.clear` with a prefix leaves the prepared messages of other prefixes', () => {
  const preparedMessages = new PreparedMessages(BOUNDS)
  const [one, other] = [newMessage(), newMessage()]
  preparedMessages.put('one/7', 'list', one)
  preparedMessages.put('other/7', 'list', other)
  preparedMessages.clear('one/')
  expect([isZeroed(one), isZeroed(other)]).toEqual([true, false])
  expect(preparedMessages.take('other/7', 'list')).toBe(other)
})
