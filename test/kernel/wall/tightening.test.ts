/** How sightings change what is known of a chat, and how two of them become one. */
import { describe, expect, test } from 'vitest'
import { Freshness, JUST_NOW_MS } from '../../../src/kernel/wall/freshness.ts'
import { join, tighten, unseen } from '../../../src/kernel/wall/tightening.ts'

describe('two sightings of a chat in one', () => {
  test('a first sighting stays as it is, and says nothing that it did not say', () => {
    expect(join(undefined, { chatId: 1 }, false)).toStrictEqual({ chatId: 1, isProtected: false })
    const seen = { chatId: 1, kind: 'private', isProtected: true, userId: 11 }
    expect(join(undefined, seen, true)).toStrictEqual(seen)
  })

  test('protected by either of them is protected', () => {
    const said = (isProtected?: boolean) => ({
      chatId: 1,
      ...(isProtected !== undefined && { isProtected }),
    })
    const joined = [
      [said(true), said(false)],
      [said(false), said(true)],
      [said(true), said()],
      [said(false), said()],
    ].map(([one, other]) => join(one, other as { chatId: number }, false).isProtected)
    expect(joined).toEqual([true, true, true, false])
  })

  test('the stricter kind counts, and one that is not said changes none', () => {
    const kindOf = (before: string | undefined, kind: string | undefined) =>
      join(
        { chatId: 1, ...(before !== undefined && { kind: before }) },
        { chatId: 1, ...(kind !== undefined && { kind }) },
        false,
      ).kind
    expect(kindOf('private', 'channel')).toBe('private')
    expect(kindOf('channel', 'group')).toBe('group')
    expect(kindOf('channel', undefined)).toBe('channel')
    expect(kindOf(undefined, 'channel')).toBe('channel')
  })

  test('the first person counts, and one that is seen later only in a private chat', () => {
    const [first, second] = [
      { chatId: 1, userId: 11 },
      { chatId: 1, userId: 12 },
    ]
    expect(join(first, second, true).userId).toBe(11)
    expect(join({ chatId: 1 }, second, true).userId).toBe(12)
    expect(join({ chatId: 1 }, second, false)).not.toHaveProperty('userId')
  })
})

describe('a known chat after a sighting', () => {
  test('is the same value where nothing changes', () => {
    const known = { ...unseen(1), kind: 'private', personId: 11, latchedAtMs: 5 }
    const seen = { chatId: 1, kind: 'group', userId: 12, isProtected: true }
    expect(tighten(known, seen, 9)).toBe(known)
    expect(tighten(unseen(1), { chatId: 1, userId: 11, isProtected: false }, 9)).toEqual(unseen(1))
  })

  test('keeps what else is known of it', () => {
    const known = { ...unseen(1), kind: 'group', refusedAtMs: 3 }
    const after = tighten(known, { chatId: 1, kind: 'private', userId: 11, isProtected: true }, 9)
    expect(after).toEqual({ id: 1, kind: 'private', personId: 11, latchedAtMs: 9, refusedAtMs: 3 })
  })
})

describe('the reading of a store that others write', () => {
  const scene = () => {
    const clock = { ms: 50 }
    const readings: number[] = []
    const fresh = () => Promise.resolve(void readings.push(clock.ms))
    const time = { nowMs: () => 0, monotonicMs: () => clock.ms }
    return { clock, readings, freshness: new Freshness(fresh, time) }
  }

  test('counts as new for half a second, and is then done again', async () => {
    const { clock, readings, freshness } = scene()
    expect(JUST_NOW_MS).toBe(500)
    for (const ms of [50, 549, 550, 1049, 1051]) {
      clock.ms = ms
      await freshness.renew()
    }
    expect(readings).toEqual([50, 550, 1051])
  })

  test('is too old from a bound on, and before the first reading', async () => {
    const { clock, freshness } = scene()
    const refused = expect.objectContaining({
      code: 'postern_store_unwritable',
      message: expect.stringContaining('nothing was sent') as unknown,
    }) as unknown
    expect(() => freshness.requireWithin(1e9)).toThrow(refused)
    await freshness.renew()
    clock.ms = 149
    expect(() => freshness.requireWithin(100)).not.toThrow()
    clock.ms = 150
    expect(() => freshness.requireWithin(100)).toThrow(refused)
  })
})
