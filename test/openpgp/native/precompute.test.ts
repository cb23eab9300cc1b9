import { afterEach, expect, test, vi } from 'vitest'
import { armorPackets } from '../../../src/openpgp/format/armor-writer.ts'
import {
  prepareMessage,
  type PreparedMessage,
} from '../../../src/openpgp/native/prepared-message.ts'
import { PreparedMessages } from '../../../src/openpgp/native/precompute.ts'
import { freshSessionKey } from '../../../src/openpgp/crypto/session-key.ts'
import { seeds } from '../../support/chance.ts'
import { randomFrom } from '../../support/openpgp-mutate.ts'
import { seeded } from '../../support/openpgp-bytes.ts'

const BOUNDS = { maxBytes: 1_000_000, keepMs: 60_000 }
const prepared = (bytes = 96): PreparedMessage =>
  prepareMessage(armorPackets(seeded('packets', bytes)), freshSessionKey('aes256'))
const isZeroed = ({ sessionKey }: PreparedMessage): boolean =>
  sessionKey.data.every((byte) => byte === 0)

afterEach(() => vi.useRealTimers())

test('an unused prepared message is destroyed after `keepMs`', () => {
  vi.useFakeTimers()
  const preparedMessages = new PreparedMessages(BOUNDS)
  const [first, second] = [prepared(), prepared()]
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
  const all = Array.from({ length: 6 }, () => prepared(400))
  for (const [index, one] of all.entries()) preparedMessages.put(`place ${index}`, 'list', one)
  expect(preparedMessages.byteLength).toBeLessThanOrEqual(1800)
  expect(all.map(isZeroed)).toEqual([true, true, true, false, false, false])
})

test('a prepared message larger than `maxBytes` is destroyed at once', () => {
  const preparedMessages = new PreparedMessages({ ...BOUNDS, maxBytes: 100 })
  const one = prepared(4000)
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
        const one = prepared(50 + random(400))
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

test('`clear` with a prefix leaves the prepared messages of other prefixes', () => {
  const preparedMessages = new PreparedMessages(BOUNDS)
  const [one, other] = [prepared(), prepared()]
  preparedMessages.put('one/7', 'list', one)
  preparedMessages.put('other/7', 'list', other)
  preparedMessages.clear('one/')
  expect([isZeroed(one), isZeroed(other)]).toEqual([true, false])
  expect(preparedMessages.take('other/7', 'list')).toBe(other)
})
