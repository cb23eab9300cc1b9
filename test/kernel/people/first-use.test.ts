/** Certificates that are believed without the operator: after a time, by the one before, by an authority. */
import { describe, expect, test, vi } from 'vitest'
import type { Evidence, TrustPolicy } from '../../../src/kernel/index.ts'
import { Clocks } from '../../../src/kernel/clocks.ts'
import type { Store } from '../../../src/store/store.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

const CHAT = 7
const HOUR_MS = 3_600_000
const AFTER_MS = 48 * HOUR_MS
const START_MS = Date.UTC(2026, 0, 1)
const CORP = { id: 'corp ff user-id@corp.example' }
const DEPT = { id: 'dept ee {userId}@dept.example' }
const NOTHING: Evidence = { vouched: null, withdrawnBy: [], follows: null, revocations: [] }
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
  /** Listed with these from the start, one after the other. */
  seen?: (string | null)[]
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
  for (const one of o.seen ?? []) await saw(one)
  return { ...made, now, saw, pass, why, kinds }
}

describe('trust.after', () => {
  test('a changed certificate is trusted when it is still listed after `trust.after`, and not before', async () => {
    const { saw, pass, why, changes, store } = await scene({ seen: [A, B] })
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

  test('a changed certificate waits for the operator without end while `trust.after` is off', async () => {
    const { saw, pass, why } = await scene({ afterMs: null, seen: [A, B] })
    pass(1000 * AFTER_MS)
    await saw(B)
    expect(why(B)).toBe('key-changed')
  })

  test('each change of the listing begins the wait of `trust.after` anew', async () => {
    const { saw, pass, why } = await scene({ seen: [A] })
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

  test('a clock set forward, ours or the service’s, shortens no wait of `trust.after`', async () => {
    for (const forward of ['oursMs', 'serviceMs'] as const) {
      const { saw, why, now } = await scene({ seen: [A, B] })
      now[forward] = START_MS + 100 * AFTER_MS
      await saw(B)
      expect(why(B)).toBe('key-changed')
    }
  })

  test('a clock that was behind at the change, ours or the service’s, shortens no wait of `trust.after`', async () => {
    for (const behind of ['oursMs', 'serviceMs'] as const) {
      const { saw, why, now } = await scene({ seen: [A] })
      now[behind] = START_MS - 100 * AFTER_MS
      await saw(B)
      now[behind] = START_MS
      await saw(B)
      expect(why(B)).toBe('key-changed')
    }
  })

  test('a certificate is not trusted by the certification of a certificate that lost its trust', async () => {
    const { saw, why, trust } = await scene({ afterMs: null, seen: [A, C] })
    await trust.decisions.accept(1)
    await saw(B, FOLLOWS)
    expect([why(B), why(C)]).toEqual(['key-changed', null])
  })

  test('`trust.after` and a certification replace no certificate of a verified or blocked person', async () => {
    const { trust, saw, pass, why } = await scene({ seen: [A] })
    await trust.decisions.verify(1, A)
    await saw(B)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    await trust.decisions.block(1)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect(why(B)).toBe('blocked')
  })

  test('a chat under `pinned` keeps an accepted certificate, and trusts no other', async () => {
    const { trust, saw, pass, why } = await scene({ seen: [A] })
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

  test('`trust.after` replaces no certificate while no policy is `first-use`', async () => {
    const { saw, pass, trust, kinds } = await scene({ policy: 'accept', seen: [A, B] })
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect(kinds()).toEqual(['key-changed'])
    await trust.policies.set(CHAT, 'first-use')
    await saw(B)
    expect(kinds().at(-1)).toBe('key-taken')
  })
})

describe('trust.continuity', () => {
  test('a certificate that the former one certifies is trusted at once, and journalled', async () => {
    const { saw, pass, why, changes } = await scene({ seen: [A] })
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

  test('a certification by a stolen key is ignored while another change waits', async () => {
    const { saw, pass, why } = await scene({ seen: [A] })
    pass(AFTER_MS)
    await saw(C)
    await saw(B, FOLLOWS)
    expect(why(B)).toBe('key-changed')
  })

  test('a certification by a stolen key is ignored just after the former certificate was listed again', async () => {
    const { saw, pass, why } = await scene({ seen: [A] })
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

  test('the former certificate may certify the next one at once while `trust.after` is off', async () => {
    const { saw, why } = await scene({ afterMs: null, seen: [A] })
    await saw(B, FOLLOWS)
    expect(why(B)).toBeNull()
    await saw(C)
    await saw(A, FOLLOWS)
    expect(why(A)).toBe('key-changed')
  })

  test('a certification that arrives after the changed certificate is ignored', async () => {
    const { saw, pass, why } = await scene({ afterMs: null, seen: [A, B] })
    pass(1)
    await saw(B, FOLLOWS)
    expect(why(B)).toBe('key-changed')
  })
})

describe('trust.authorities', () => {
  test('a certificate that an authority certifies is verified from the start, under every policy', async () => {
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

  test('a certified person keeps that certificate although the service omits the certification', async () => {
    const { saw, pass, why } = await scene()
    await saw(A, certified(A))
    await saw(A)
    await saw(B)
    pass(AFTER_MS)
    await saw(B, FOLLOWS)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
  })

  test('the newest certified certificate is trusted, and an older certification does not return', async () => {
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

  test('an older certification of another certificate does not count after the newer one ended or was revoked', async () => {
    for (const isRevoked of [false, true]) {
      const { saw, pass, why, store, kinds } = await scene({ policy: 'pinned' })
      await saw(A, certified(A))
      await saw(B, certified(B, { madeMs: START_MS + 2, untilMs: START_MS + HOUR_MS }))
      if (isRevoked) await saw(B, { ...NOTHING, withdrawnBy: [CORP.id] })
      pass(isRevoked ? 0 : HOUR_MS)
      await saw(A, certified(A))
      await saw(C, certified(C, { by: DEPT.id, madeMs: START_MS + 1 }))
      const again = await scene({ store, policy: 'pinned' })
      if (!isRevoked) again.pass(HOUR_MS)
      expect([A, B, C].map((one) => again.why(one))).toEqual(Array(3).fill('not-accepted'))
      expect(kinds().filter((kind) => kind === 'authority-verified')).toHaveLength(2)
      await saw(C, certified(C, { madeMs: START_MS + 3 }))
      expect(why(C)).toBeNull()
    }
  })

  test('an older certification of the same certificate revives no other one', async () => {
    const { saw, pass, why } = await scene({ policy: 'pinned' })
    await saw(B, certified(B, { madeMs: START_MS + 2, untilMs: START_MS + HOUR_MS }))
    pass(HOUR_MS)
    await saw(B, certified(B, { by: DEPT.id }))
    expect(why(B)).toBeNull()
    await saw(A, certified(A, { madeMs: START_MS + 1 }))
    expect([why(A), why(B)]).toEqual(['key-changed', null])
  })

  test('an older certification of the same certificate shortens no newer one', async () => {
    const { saw, pass, why } = await scene({ policy: 'pinned' })
    await saw(A, certified(A, { madeMs: START_MS + 1, untilMs: START_MS + 9 * HOUR_MS }))
    await saw(A, certified(A, { untilMs: START_MS + HOUR_MS }))
    pass(2 * HOUR_MS)
    expect(why(A)).toBeNull()
  })

  test('a person falls back to the first certificate when the certification expires', async () => {
    const { saw, pass, why, trust } = await scene({ seen: [A] })
    await saw(B, certified(B, { untilMs: START_MS + HOUR_MS }))
    pass(HOUR_MS - 1)
    expect([why(A), why(B)]).toEqual(['key-changed', null])
    pass(1)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    expect(trust.standingOf(1)).toBe('seen')
  })

  test('a clock that is set back revives no expired certification', async () => {
    const { saw, pass, why, now } = await scene({ policy: 'pinned' })
    await saw(A, certified(A, { untilMs: START_MS + HOUR_MS }))
    pass(HOUR_MS)
    expect(why(A)).toBe('not-accepted')
    now.serviceMs = START_MS
    expect(why(A)).toBe('not-accepted')
  })

  test('a person falls back when the certification is revoked, and `trust.after` trusts it no more', async () => {
    const { saw, pass, why } = await scene({ seen: [A] })
    await saw(B, certified(B))
    expect(why(B)).toBeNull()
    const revoked = { ...NOTHING, withdrawnBy: [CORP.id] }
    await saw(B, revoked)
    expect([why(A), why(B)]).toEqual([null, 'key-changed'])
    pass(AFTER_MS)
    await saw(B, revoked)
    expect(why(B)).toBe('key-changed')
  })

  test('the certification of a second authority counts when the first revokes its own', async () => {
    const { saw, why, trust } = await scene({ policy: 'pinned' })
    await saw(A, certified(A, { madeMs: START_MS + 1 }))
    await saw(A, { ...certified(A, { by: DEPT.id }), withdrawnBy: [CORP.id] })
    expect(why(A)).toBeNull()
    expect(trust.all[0]?.vouched?.by).toBe(DEPT.id)
  })

  test('the certifications of an authority that was removed or changed in the settings do not count', async () => {
    const { saw, store } = await scene({ policy: 'pinned' })
    await saw(A, certified(A))
    for (const authorities of [[], [DEPT], [{ id: 'corp ff other@corp.example' }]]) {
      const without = await scene({ store, policy: 'pinned', authorities })
      expect(without.why(A)).toBe('not-accepted')
      expect(without.trust.standingOf(1)).toBe('seen')
    }
    expect((await scene({ store, policy: 'pinned' })).why(A)).toBeNull()
  })

  test('the operator’s decision precedes a certification', async () => {
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

  test('a certification that cannot be written is not trusted', async () => {
    const { saw, why, store } = await scene({ policy: 'pinned' })
    vi.spyOn(store, 'settle').mockRejectedValueOnce(new Error('full'))
    await expect(saw(A, certified(A))).rejects.toThrow('full')
    expect(why(A)).toBe('not-accepted')
    await saw(A)
    await saw(A, certified(A))
    expect(why(A)).toBeNull()
  })
})
