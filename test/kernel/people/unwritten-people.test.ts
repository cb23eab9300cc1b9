/** Listings, revocations and copies that are not on disk yet, and what comes while they are written. */
import { describe, expect, test, vi } from 'vitest'
import { Certificates } from '../../../src/kernel/people/certificates.ts'
import { KeyListHistory } from '../../../src/kernel/people/key-list-history.ts'
import { Journal } from '../../../src/kernel/people/journal.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import type { Engine } from '../../../src/openpgp/engine.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { storeForFile } from '../../store/support.ts'
import { judging, printOf, statusOf } from './people-scene.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

const store = storeForFile()

describe('a listing', () => {
  test('is written although what others wrote cannot be read, and the error is thrown', async () => {
    const { trust } = await trusting({ store: store() })
    vi.spyOn(store(), 'fresh').mockRejectedValueOnce(new Error('out of reach'))
    await expect(trust.saw([of(11, A)])).rejects.toThrow('out of reach')
    const again = await trusting({ store: store() })
    expect([trust, again.trust].map((one) => one.isRemembered(11))).toEqual([true, true])
  })

  test('counts at once, and for whoever shares its certificate, before it is written', async () => {
    const { trust } = await trusting({ store: store() })
    await trust.saw([of(21, B)])
    const settle = vi.spyOn(store(), 'settle').mockRejectedValueOnce(new Error('full'))
    await expect(trust.saw([of(22, B)])).rejects.toThrow('full')
    settle.mockRestore()
    expect([trust.isShared(B), trust.isShared(A), trust.isRemembered(22)]).toEqual([
      true,
      false,
      true,
    ])
    expect(trust.distrust(22, B, 50)).toBeNull()
    await trust.saw([of(22, null)])
    expect(trust.isShared(B)).toBe(false)
  })

  test('of the same person that comes while an earlier one is written is written, too', async () => {
    const { trust } = await trusting({ store: store() })
    await trust.saw([of(31, A)])
    const first = trust.saw([of(31, B)])
    const second = trust.saw([of(31, C)])
    await Promise.all([first, second])
    const again = await trusting({ store: store() })
    for (const one of [trust, again.trust]) {
      expect(one.all.find(({ userId }) => userId === 31)?.listed).toBe(C)
    }
  })
})

describe('a change of a certificate', () => {
  test('is named to the bot under accept and first-use, and under pinned by the operator alone', async () => {
    const { trust, keyChanges } = await trusting({ store: store() })
    await trust.saw([of(41, A)])
    await trust.saw([of(41, B)])
    await trust.policies.set(50, 'pinned')
    await trust.policies.set(51, 'first-use')
    const tell = (chatId: number, key: string) =>
      keyChanges.tell([41, 42, 41], { chatId, by: 'send', key })
    const change = { userId: 41, from: A, to: B }
    expect(await tell(50, 'k')).toEqual([])
    expect(await tell(51, 'k')).toEqual([change])
    expect(await tell(52, 'k')).toEqual([change])
    expect(await tell(52, 'another')).toEqual([])
    const again = await trusting({ store: store() })
    const more = { chatId: 52, by: 'send', key: 'another' } as const
    expect(await again.keyChanges.tell([41], more)).toEqual([])
    const byMessage = { chatId: 52, by: 'message', key: 'another' } as const
    expect(await again.keyChanges.tell([41], byMessage)).toEqual([change])
  })
})

describe('certificates', () => {
  async function loaded() {
    const judge = async (armored: string, known?: string) => {
      const judged = await judging()(armored)
      return known === undefined ? judged : { ...judged, armored: `${known} + ${armored}` }
    }
    const memory = memoryOf(store())
    const engine = { judge } as unknown as Engine
    return await Certificates.load({ engine, memory, journal: new Journal(memory) })
  }
  const revoked = (name: string, armored: string) =>
    statusOf(name, { revocations: true, unusable: 'revoked', armored })

  test('with a revocation are known by it, and only those that lack it are judged again', async () => {
    const certificates = await loaded()
    await certificates.rememberRevoked(revoked('ann', 'ann revoked'), 1)
    for (const one of [certificates, await loaded()]) {
      expect(['ann', 'ben'].map((name) => one.isRevoked(printOf(name)))).toEqual([true, false])
      expect(one.isRevokedSince(statusOf('ann'))).toBe(true)
      expect(one.isRevokedSince(statusOf('ann', { revocations: true }))).toBe(false)
      expect(one.isRevokedSince(statusOf('ann', { unusable: 'revoked' }))).toBe(false)
      expect(one.isRevokedSince(statusOf('ben'))).toBe(false)
      expect(one.isRevokedSince({ ...statusOf('ann'), fingerprint: null })).toBe(false)
      const person = (name: string) =>
        ({ userId: 1, unusable: null, certificateStatus: statusOf(name) }) as unknown as Person
      const people = [person('ben'), person('ann')]
      const list = { people, lapsesAtMs: 1e15 } as never as Parameters<typeof one.refreshList>[0]
      await one.refreshList(list, 0)
      expect(list.people.map((other, at) => other === people[at])).toEqual([true, false])
    }
  })

  test('keep the newest of two revocations that come at once', async () => {
    const certificates = await loaded()
    await Promise.all([
      certificates.rememberRevoked(revoked('cid', 'cid with one'), 1),
      certificates.rememberRevoked(revoked('cid', 'cid with two'), 1),
    ])
    for (const one of [certificates, await loaded()]) {
      const { armored, unusable } = await one.judge('now cid')
      expect([armored, unusable === null]).toEqual(['cid with two + now cid', true])
    }
  })

  test('are copied once, and anew where their owner stated something, of none that is revoked', async () => {
    const certificates = await loaded()
    const [dan, news] = [
      statusOf('dan', { armored: 'dan' }),
      statusOf('dan', { armored: 'dan with news', isNews: true }),
    ]
    await certificates.keepCopies([dan])
    await certificates.keepCopies([{ ...news, isNews: false }])
    const copyOf = async (one: Certificates) => await one.copyOf(printOf('dan'))
    expect(await copyOf(certificates)).toBe('dan')
    await Promise.all([
      certificates.keepCopies([news]),
      certificates.keepCopies([{ ...news, armored: 'dan with more' }]),
    ])
    for (const one of [certificates, await loaded()])
      expect(await copyOf(one)).toBe('dan with more')
    const never = [
      statusOf('eve', { revocations: true }),
      statusOf('eve', { armored: '' }),
      { ...statusOf('eve'), fingerprint: null },
    ]
    await certificates.keepCopies(never)
    expect(await certificates.copyOf(printOf('eve'))).toBeNull()
    await certificates.rememberRevoked(revoked('dan', 'dan revoked'), 1)
    expect(await copyOf(certificates)).toBeNull()
  })
})

describe('a finding', () => {
  const listed = (userId: number, fingerprint: string) =>
    ({
      userId,
      fingerprint,
      unusable: null,
      certificateStatus: { encryptionKeys: [] },
    }) as unknown as Person

  test('of one source leaves those of others as they are, and names a hundred people', async () => {
    const record = vi.fn(() => Promise.resolve())
    const history = new KeyListHistory(memoryOf(store()), { record } as unknown as Journal)
    const bot = new Set(['bot'])
    const own = [listed(2, 'bot')]
    await history.recordOwnKeys(null, own, bot)
    await history.recordOwnKeys(7, own, bot)
    await history.recordOwnKeys(null, [listed(3, 'own')], bot)
    await history.recordOwnKeys(8, [listed(3, 'own')], bot)
    await history.recordOwnKeys(null, own, bot)
    await history.recordOwnKeys(7, own, bot)
    expect(record).toHaveBeenCalledTimes(2)
    const crowd = Array.from({ length: 101 }, (_, userId) => listed(userId + 1, 'bot'))
    await history.recordOwnKeys(9, crowd, bot)
    const people = crowd.slice(0, 100).map(({ userId }) => userId)
    expect(record.mock.lastCall).toEqual([
      [{ kind: 'own-key-listed', userId: 1, detail: { chatId: 9, people } }],
    ])
  })
})
