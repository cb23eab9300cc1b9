/** Certificates that are believed without the operator: after a time, by the one before, by an authority. */
import { describe, expect, test, vi } from 'vitest'
import type { Evidence, TrustPolicy } from '../../../src/kernel/index.ts'
import { Clocks } from '../../../src/lookups/clocks.ts'
import type { Store } from '../../../src/store/store.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

const CHAT = 7
const HOUR_MS = 3_600_000
const AFTER_MS = 48 * HOUR_MS
const START_MS = Date.UTC(2026, 0, 1)
const CORP = { id: 'corp ff user-id@corp.example' }
const DEPT = { id: 'dept ee {userId}@dept.example' }
const NOTHING: Evidence = { vouched: null, revokedBy: [], follows: null, revocations: [] }
const FOLLOWS: Evidence = { ...NOTHING, follows: A }

/** What an authority certifies of a certificate. */
const certified = (
  fingerprint: string,
  o: { by?: string; madeMs?: number; untilMs?: number } = {},
): Evidence => {
  const { by = CORP.id, madeMs = START_MS, untilMs = START_MS + 1000 * HOUR_MS } = o
  return { ...NOTHING, vouched: { fingerprint, by, madeMs, untilMs } }
}

interface SceneOptions {
  store?: Store
  policy?: TrustPolicy
  afterMs?: number | null
  authorities?: { id: string }[]
}

async function scene(o: SceneOptions = {}) {
  const now = { oursMs: START_MS, serviceMs: START_MS as number | null }
  const clocks = new Clocks(
    { nowMs: () => now.oursMs, monotonicMs: () => now.oursMs },
    () => now.serviceMs,
  )
  const { policy = 'first-use', afterMs = AFTER_MS, authorities = [CORP, DEPT], store } = o
  const made = await trusting({
    policy,
    clocks,
    firstUse: { afterMs, authorities },
    ...(store !== undefined && { store }),
  })
  const { trust, changes } = made
  const saw = (fingerprint: string | null, evidence = NOTHING): Promise<void> =>
    trust.saw([{ ...of(1, fingerprint), evidence }])
  const pass = (ms: number): void => {
    now.oursMs += ms
    if (now.serviceMs !== null) now.serviceMs += ms
  }
  const why = (fingerprint: string | null, chatId = CHAT) => trust.distrust(1, fingerprint, chatId)
  const kinds = (): string[] => changes.map(({ kind }) => kind)
  return { ...made, now, saw, pass, why, kinds }
}

describe('trust.after', () => {
  test('a changed certificate waits, and is believed when it is listed after its time', async () => {
    const { saw, pass, why, changes, store } = await scene()
    await saw(A)
    await saw(B)
    pass(AFTER_MS - 1)
    await saw(B)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    pass(1)
    expect(why(B)).toBe('key-changed')
    await saw(B)
    expect([why(A), why(B)]).toEqual(['key-changed', null])
    expect(changes).toEqual([
      { kind: 'key-changed', userId: 1, detail: { from: A, to: B, standing: 'seen' } },
      { kind: 'key-taken', userId: 1, detail: { from: A, to: B, by: 'after' } },
    ])
    const again = await scene({ store })
    expect([again.why(A), again.why(B)]).toEqual(['key-changed', null])
  })

  test('the time counts across a restart, and at another sidecar', async () => {
    const { saw, store } = await scene()
    await saw(A)
    await saw(B)
    const later = await scene({ store })
    later.pass(AFTER_MS)
    await later.saw(B)
    expect(later.why(B)).toBeNull()
  })

  test('is off by default: only the operator decides', async () => {
    const { saw, pass, why } = await scene({ afterMs: null })
    await saw(A)
    await saw(B)
    pass(1000 * AFTER_MS)
    await saw(B)
    expect(why(B)).toBe('key-changed')
  })

  test('a listing that flips back and forth begins each time anew', async () => {
    const { saw, pass, why } = await scene()
    await saw(A)
    for (const one of [B, A, B, C, B, null, B]) {
      await saw(one)
      pass(AFTER_MS - 1)
      await saw(one)
    }
    expect(why(B)).toBe('key-changed')
    pass(1)
    await saw(B)
    expect(why(B)).toBeNull()
  })

  test('a clock that is set forward, ours or the service’s, shortens no wait', async () => {
    for (const forward of ['oursMs', 'serviceMs'] as const) {
      const { saw, why, now } = await scene()
      await saw(A)
      await saw(B)
      now[forward] = START_MS + 100 * AFTER_MS
      await saw(B)
      expect(why(B)).toBe('key-changed')
    }
  })

  test('a clock that was behind when the change was seen, ours or the service’s, shortens no wait', async () => {
    for (const behind of ['oursMs', 'serviceMs'] as const) {
      const { saw, why, now } = await scene()
      await saw(A)
      now[behind] = START_MS - 100 * AFTER_MS
      await saw(B)
      now[behind] = START_MS
      await saw(B)
      expect(why(B)).toBe('key-changed')
    }
  })

  test('by a certificate that is believed no more once the proof was read is none', async () => {
    const { saw, why, trust } = await scene({ afterMs: null })
    await saw(A)
    await saw(C)
    await trust.decisions.accept(1)
    await saw(B, FOLLOWS)
    expect([why(B), why(C)]).toEqual(['key-changed', null])
  })

  test('nothing that the operator verified, blocked or pinned is replaced', async () => {
    const { trust, saw, pass, why } = await scene()
    await saw(A)
    await trust.decisions.verify(1, A)
    await saw(B)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    await trust.decisions.block(1)
    pass(AFTER_MS)
    await saw(B)
    expect(why(B)).toBe('blocked')
  })

  test('where a chat is pinned, what was accepted stays; what was only seen is not accepted there', async () => {
    const { trust, saw, pass, why } = await scene()
    await saw(A)
    await trust.decisions.accept(1)
    await trust.policies.set(8, 'pinned')
    await saw(B)
    pass(AFTER_MS)
    await saw(B)
    expect([why(B), why(B, 8), why(A, 8)]).toEqual(['key-changed', 'key-changed', null])
    await trust.policies.set(8, null)
    await saw(B)
    expect(why(B)).toBeNull()
    await trust.policies.set(8, 'pinned')
    expect(why(B, 8)).toBe('not-accepted')
  })

  test('nothing is taken where no policy is first-use', async () => {
    const { saw, pass, trust, kinds } = await scene({ policy: 'accept' })
    await saw(A)
    await saw(B)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect(kinds()).toEqual(['key-changed'])
    await trust.policies.set(CHAT, 'first-use')
    await saw(B)
    expect(kinds().at(-1)).toBe('key-taken')
  })

  test('the operator may decide sooner', async () => {
    const { trust, saw, why } = await scene()
    await saw(A)
    await saw(B)
    await trust.decisions.accept(1)
    expect(why(B)).toBeNull()
  })
})

describe('trust.continuity', () => {
  test('a certificate that the one before certifies is believed at once, and journalled', async () => {
    const { saw, pass, why, changes } = await scene()
    await saw(A)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect([why(A), why(B)]).toEqual(['key-changed', null])
    expect(changes).toEqual([
      {
        kind: 'key-changed',
        userId: 1,
        detail: { from: A, to: B, standing: 'seen', isBelieved: true },
      },
      { kind: 'key-taken', userId: 1, detail: { from: A, to: B, by: 'continuity' } },
    ])
  })

  test('with a stolen key, nothing moves while another change waits', async () => {
    const { saw, pass, why } = await scene()
    await saw(A)
    pass(AFTER_MS)
    await saw(C)
    await saw(B, FOLLOWS)
    expect(why(B)).toBe('key-changed')
  })

  test('with a stolen key, nothing moves after the old one was listed again', async () => {
    const { saw, pass, why } = await scene()
    await saw(A)
    pass(AFTER_MS)
    await saw(C)
    await saw(A)
    await saw(B, FOLLOWS)
    expect(why(B)).toBe('key-changed')
    await saw(A)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect(why(B)).toBeNull()
  })

  test('without trust.after the old certificate need not have been listed for a time', async () => {
    const { saw, why } = await scene({ afterMs: null })
    await saw(A)
    await saw(B, FOLLOWS)
    expect(why(B)).toBeNull()
    await saw(C)
    await saw(A, FOLLOWS)
    expect(why(A)).toBe('key-changed')
  })

  test('a certification that appears later is too late', async () => {
    const { saw, pass, why } = await scene({ afterMs: null })
    await saw(A)
    await saw(B)
    pass(1)
    await saw(B, FOLLOWS)
    expect(why(B)).toBe('key-changed')
  })

  test('moves nobody whom the operator verified or blocked', async () => {
    for (const decide of ['verify', 'block'] as const) {
      const { trust, saw, why } = await scene({ afterMs: null })
      await saw(A)
      await trust.decisions[decide](1, A)
      await saw(B, FOLLOWS)
      expect(why(B)).not.toBeNull()
    }
  })
})

describe('trust.authorities', () => {
  test('a certificate that one certifies is verified from the start, under every policy', async () => {
    for (const policy of ['accept', 'first-use', 'pinned'] as const) {
      const { trust, saw, why, changes, store } = await scene({ policy })
      await saw(A, certified(A))
      for (const { trust: one } of [{ trust }, await scene({ policy, store })]) {
        expect([one.distrust(1, A, CHAT), one.distrust(1, B, CHAT)]).toEqual([null, 'key-changed'])
        expect(one.standingOf(1)).toBe('verified')
      }
      expect(changes).toEqual([
        { kind: 'authority-verified', userId: 1, detail: { fingerprint: A, by: 'corp' } },
      ])
      await saw(B)
      expect(why(B)).toBe('key-changed')
      expect(changes.at(-1)).toMatchObject({
        kind: 'key-changed',
        detail: { standing: 'verified' },
      })
    }
  })

  test('what was proved holds although a service omits it, and no time moves it', async () => {
    const { saw, pass, why } = await scene()
    await saw(A, certified(A))
    await saw(A)
    await saw(B)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
  })

  test('the next certificate that it certifies is believed, and the one before is not again', async () => {
    const { saw, why, changes } = await scene()
    await saw(A, certified(A))
    await saw(B, certified(B, { madeMs: START_MS + 1 }))
    expect([why(A), why(B)]).toEqual(['key-changed', null])
    expect(changes.slice(1)).toMatchObject([
      { kind: 'key-changed', detail: { isBelieved: true } },
      { kind: 'authority-verified', detail: { fingerprint: B } },
    ])
    await saw(A, certified(A))
    expect([why(A), why(B)]).toEqual(['key-changed', null])
  })

  test('an older certification of the same certificate shortens nothing', async () => {
    const { saw, pass, why } = await scene({ policy: 'pinned' })
    await saw(A, certified(A, { madeMs: START_MS + 1, untilMs: START_MS + 9 * HOUR_MS }))
    await saw(A, certified(A, { untilMs: START_MS + HOUR_MS }))
    pass(2 * HOUR_MS)
    expect(why(A)).toBeNull()
  })

  test('when it ends, the person falls back to what first-use has', async () => {
    const { saw, pass, why, trust } = await scene()
    await saw(A)
    await saw(B, certified(B, { untilMs: START_MS + HOUR_MS }))
    pass(HOUR_MS - 1)
    expect([why(A), why(B)]).toEqual(['key-changed', null])
    pass(1)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    expect(trust.standingOf(1)).toBe('seen')
  })

  test('a clock that is set back revives nothing that has ended', async () => {
    const { saw, pass, why, now } = await scene({ policy: 'pinned' })
    await saw(A, certified(A, { untilMs: START_MS + HOUR_MS }))
    pass(HOUR_MS)
    expect(why(A)).toBe('not-accepted')
    now.serviceMs = START_MS
    expect(why(A)).toBe('not-accepted')
  })

  test('when it is revoked, the person falls back, and no time takes that certificate', async () => {
    const { saw, pass, why } = await scene()
    await saw(A)
    await saw(B, certified(B))
    expect(why(B)).toBeNull()
    const revoked = { ...NOTHING, revokedBy: [CORP.id] }
    await saw(B, revoked)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    pass(AFTER_MS)
    await saw(B, revoked)
    expect(why(B)).toBe('key-changed')
  })

  test('another authority goes on where one revokes', async () => {
    const { saw, why, trust } = await scene({ policy: 'pinned' })
    await saw(A, certified(A, { madeMs: START_MS + 1 }))
    await saw(A, { ...certified(A, { by: DEPT.id }), revokedBy: [CORP.id] })
    expect(why(A)).toBeNull()
    expect(trust.all[0]?.vouched?.by).toBe(DEPT.id)
  })

  test('one that is taken out of the settings, or has another rule or key, counts nothing at once', async () => {
    const { saw, store } = await scene({ policy: 'pinned' })
    await saw(A, certified(A))
    for (const authorities of [[], [DEPT], [{ id: 'corp ff other@corp.example' }]]) {
      const without = await scene({ store, policy: 'pinned', authorities })
      expect(without.why(A)).toBe('not-accepted')
      expect(without.trust.standingOf(1)).toBe('seen')
    }
    expect((await scene({ store, policy: 'pinned' })).why(A)).toBeNull()
  })

  test('the operator’s own decision counts before it', async () => {
    const { trust, saw, why } = await scene()
    await saw(A, certified(A))
    await trust.decisions.block(1)
    expect(why(A)).toBe('blocked')
    await trust.decisions.verify(1, B)
    expect([why(A), why(B)]).toEqual(['key-changed', null])
    await saw(B)
    await trust.decisions.accept(1)
    await saw(A, certified(A, { madeMs: START_MS + 1 }))
    expect([why(A), why(B)]).toEqual(['key-changed', null])
  })

  test('a listing that cannot be written loosens nothing', async () => {
    const { saw, why, store } = await scene({ policy: 'pinned' })
    vi.spyOn(store, 'settle').mockRejectedValueOnce(new Error('full'))
    await expect(saw(A, certified(A))).rejects.toThrow('full')
    expect(why(A)).toBe('not-accepted')
    await saw(A)
    await saw(A, certified(A))
    expect(why(A)).toBeNull()
  })
})
