/** A sidecar that is stopped, with or without its machine, and goes on. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { sidecars, pair } from './scene.ts'

const policy = (chat_id: number) => ({ chat_id, policy: 'pinned' as const })

describe.skipIf(!hasPostgres())('a sidecar that is stopped within a transaction', () => {
  test('a transaction of a stopped sidecar is rolled back and refused, and delays no other sidecar', async () => {
    const { one, two } = await pair()
    const written: number[] = []
    const stopped = one.write(async (db) => {
      await db.insertInto('trust_policies').values(policy(1)).execute()
      await pause(4500)
      await db.insertInto('trust_policies').values(policy(2)).execute()
    })
    const other = two.write((db) => db.insertInto('trust_policies').values(policy(3)).execute())
    await other.then(() => written.push(3))
    await expect(stopped).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    await one.write((db) => db.insertInto('trust_policies').values(policy(4)).execute())
    const rows = await two.read((db) => db.selectFrom('trust_policies').select('chat_id').execute())
    expect(rows.map(({ chat_id }) => chat_id).toSorted()).toEqual([3, 4])
  })
})

describe.skipIf(!hasPostgres())('a sidecar whose machine slept', () => {
  test('a lock counts as lost after the machine slept, until the server responds again', async () => {
    const { stores } = await sidecars(1)
    const [one] = stores as [Store]
    const lock = await one.tryLock('poll')
    expect(lock?.isHeld).toBe(true)
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    expect(lock?.isHeld).toBe(false)
    await one.fresh()
    expect(lock?.isHeld).toBe(true)
    vi.useRealTimers()
    expect(lock?.isHeld).toBe(true)
  })
})
