import { afterEach, expect, test, vi } from 'vitest'
import { armorPackets } from '../../../src/pgp/format/armored-packets.ts'
import { envelopeOf, type Envelope } from '../../../src/pgp/native/prepared-message.ts'
import { Envelopes } from '../../../src/pgp/native/prepared-messages.ts'
import { freshSessionKey } from '../../../src/pgp/crypto/session-key.ts'
import { seeds } from '../../support/chance.ts'
import { randomFrom } from '../../support/openpgp-mutate.ts'
import { seeded } from '../../support/openpgp-octets.ts'

const BOUNDS = { maxBytes: 1_000_000, keepMs: 60_000 }
const envelope = (bytes = 96): Envelope =>
  envelopeOf(armorPackets(seeded('packets', bytes)), freshSessionKey('aes256'))
const isZeroed = ({ sessionKey }: Envelope): boolean =>
  sessionKey.data.every((byte) => byte === 0)

afterEach(() => vi.useRealTimers())

test('an envelope is given out once, to who names what it is for', () => {
  const envelopes = new Envelopes(BOUNDS)
  const one = envelope()
  envelopes.put('here', 'list', one)
  expect(envelopes.has('here', 'list')).toBe(true)
  expect(envelopes.take('elsewhere', 'list')).toBeNull()
  expect(envelopes.take('here', 'list')).toBe(one)
  expect(envelopes.take('here', 'list')).toBeNull()
  expect(envelopes.byteLength).toBe(0)
  expect(isZeroed(one)).toBe(false)
})

test('whoever names another list ends it, and its session key', () => {
  const envelopes = new Envelopes(BOUNDS)
  const one = envelope()
  envelopes.put('here', 'list', one)
  expect(envelopes.take('here', 'other list')).toBeNull()
  expect(isZeroed(one)).toBe(true)
  expect(envelopes.take('here', 'list')).toBeNull()
})

test('one that is put in its place ends it too', () => {
  const envelopes = new Envelopes(BOUNDS)
  const [first, second] = [envelope(), envelope()]
  envelopes.put('here', 'list', first)
  envelopes.put('here', 'list', second)
  expect(isZeroed(first)).toBe(true)
  expect(envelopes.take('here', 'list')).toBe(second)
})

test('after its time it is gone, whether anybody asks or not', () => {
  vi.useFakeTimers()
  const envelopes = new Envelopes(BOUNDS)
  const [first, second] = [envelope(), envelope()]
  envelopes.put('a', 'list', first)
  vi.advanceTimersByTime(30_000)
  envelopes.put('b', 'list', second)
  vi.advanceTimersByTime(30_001)
  expect([isZeroed(first), isZeroed(second)]).toEqual([true, false])
  expect(envelopes.take('a', 'list')).toBeNull()
  vi.advanceTimersByTime(30_000)
  expect(isZeroed(second)).toBe(true)
  expect(envelopes.byteLength).toBe(0)
})

test('all together they are bounded, the oldest go first', () => {
  const envelopes = new Envelopes({ ...BOUNDS, maxBytes: 3 * 600 })
  const all = Array.from({ length: 6 }, () => envelope(400))
  for (const [index, one] of all.entries()) envelopes.put(`place ${index}`, 'list', one)
  expect(envelopes.byteLength).toBeLessThanOrEqual(1800)
  expect(all.map(isZeroed)).toEqual([true, true, true, false, false, false])
})

test('one that is greater than the bound is not kept at all', () => {
  const envelopes = new Envelopes({ ...BOUNDS, maxBytes: 100 })
  const one = envelope(4000)
  envelopes.put('here', 'list', one)
  expect(isZeroed(one)).toBe(true)
  expect(envelopes.byteLength).toBe(0)
})

test('when all are cleared none is left, nor its session key', () => {
  const envelopes = new Envelopes(BOUNDS)
  const all = Array.from({ length: 5 }, () => envelope())
  for (const [index, one] of all.entries()) envelopes.put(`place ${index}`, 'list', one)
  envelopes.clear()
  expect(all.every(isZeroed)).toBe(true)
  expect(envelopes.byteLength).toBe(0)
})

test('whatever is put and taken, nobody gets one twice, or for another list', () => {
  for (const seed of seeds(200)) {
    const random = randomFrom(seed)
    const envelopes = new Envelopes({ ...BOUNDS, maxBytes: 200 + random(3000) })
    const madeFor = new Map<Envelope, string>()
    const given = new Set<Envelope>()
    for (let step = 0; step < 60; step++) {
      const place = `place ${random(4)}`
      const name = `list ${random(3)}`
      if (random(2) === 0) {
        const one = envelope(50 + random(400))
        madeFor.set(one, `${place} ${name}`)
        envelopes.put(place, name, one)
        continue
      }
      const taken = envelopes.take(place, name)
      if (taken === null) continue
      expect(given.has(taken), `FUZZ_SEED=${seed}`).toBe(false)
      expect(madeFor.get(taken), `FUZZ_SEED=${seed}`).toBe(`${place} ${name}`)
      expect(isZeroed(taken), `FUZZ_SEED=${seed}`).toBe(false)
      given.add(taken)
    }
    envelopes.clear()
    for (const one of madeFor.keys()) {
      expect(isZeroed(one), `FUZZ_SEED=${seed}`).toBe(!given.has(one))
    }
  }
})
