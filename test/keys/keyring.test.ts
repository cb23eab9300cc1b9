import { afterAll, expect, test, vi } from 'vitest'
import { ClockOff } from '../../src/errors.ts'
import { MAX_OPENING, type KeyringOptions } from '../../src/keys/keyring.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import type { Store } from '../../src/store/store.ts'
import { Rows } from '../../src/store/records/rows.ts'
import { open, temporary } from '../store/support.ts'
import { refused } from '../support/refused.ts'
import { loadKeyring } from './support.ts'

const DAY_MS = 86_400_000
const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

const ring = (store: Store, over: Partial<KeyringOptions> = {}, by: Engine = engine) =>
  loadKeyring(store, by, { retainMs: 30 * DAY_MS, ...over })

async function openKeys(): Promise<{ dataDir: string; store: Store }> {
  const dataDir = temporary()
  return { dataDir, store: await open(dataDir, { protection: 'none' }) }
}

/** A ring with one active key, and one that retired so long ago. */
async function withRetired(agoMs: number, over: Partial<KeyringOptions> = {}) {
  const { store } = await openKeys()
  const first = await ring(store)
  await first.promote((await first.makePending('bot')).fingerprint)
  const old = first.active?.fingerprint ?? ''
  await first.promote((await first.makePending('bot')).fingerprint)
  const retired = { retired_at: Date.now() - agoMs }
  await store.write((db) =>
    new Rows(db, store.rowSeal).change('own_keys', { fingerprint: old }, retired),
  )
  const loaded = await ring(store, over)
  return { store, loaded, old, opens: () => loaded.unlocked.map(({ fingerprint }) => fingerprint) }
}

test('a retired key still opens when its days are over by our clock alone', async () => {
  const yearAgoMs = Date.now() - 365 * DAY_MS
  const { opens, old } = await withRetired(31 * DAY_MS, { serviceNowMs: () => yearAgoMs })
  expect(opens()).toContain(old)
})

test('a retired key still opens when its days are over by the service’s clock alone', async () => {
  const serviceNowMs = () => Date.now() + 365 * DAY_MS
  const { opens, old } = await withRetired(DAY_MS, { serviceNowMs })
  expect(opens()).toContain(old)
})

test('a key retires by the later of our clock and the service’s', async () => {
  const { store } = await openKeys()
  const aheadMs = Date.now() + DAY_MS
  let serviceNowMs: number | null = null
  const keys = await ring(store, { serviceNowMs: () => serviceNowMs })
  await keys.promote((await keys.makePending('bot')).fingerprint)
  const { fingerprint } = await keys.makePending('bot')
  serviceNowMs = aheadMs
  await keys.promote(fingerprint)
  expect(keys.all.at(-1)?.retiredAtMs).toBe(aheadMs)
})

test('no key is made or stored while our clock and the service’s are an hour apart', async () => {
  const { store } = await openKeys()
  const keys = await ring(store, { serviceNowMs: () => Date.now() - 3_600_000 })
  await expect(keys.makePending('bot')).rejects.toBeInstanceOf(ClockOff)
  expect(await store.read((db) => db.selectFrom('own_keys').selectAll().execute())).toEqual([])
})

test('a new key is dated by the clock reading that was compared with the service’s', async () => {
  const { store } = await openKeys()
  const nowMs = Date.now()
  const serviceNowMs = (): number => {
    vi.setSystemTime(nowMs + 3_600_000)
    return nowMs
  }
  vi.useFakeTimers({ now: nowMs, toFake: ['Date'] })
  const keys = await ring(store, { serviceNowMs })
  const made = await keys.makePending('bot').finally(() => vi.useRealTimers())
  expect(made.createdAtMs).toBe(nowMs)
  const { notBeforeMs } = await engine.judge(made.certificate)
  expect(notBeforeMs).toBeLessThanOrEqual(nowMs)
})

test('a full keyring refuses another key, and unlocks the newest keys and the active one', async () => {
  const { store } = await openKeys()
  const keys = await ring(store)
  await keys.promote((await keys.makePending('bot')).fingerprint)
  const [row] = await store.read((db) => db.selectFrom('own_keys').selectAll().execute())
  await store.write(async (db) => {
    for (let n = 0; n < MAX_OPENING; n++) {
      const copy = { ...row!, fingerprint: `${n}`, state: 'retired' as const }
      // younger than the active one, as a clock that went back would have it
      const created = { created_at: Date.now() + n, retired_at: Date.now() }
      const sealed = store.rowSeal.seal('own_keys', { ...copy, ...created })
      await db.insertInto('own_keys').values(sealed).execute()
    }
  })
  const loaded = await ring(store)
  expect(loaded.all).toHaveLength(MAX_OPENING + 1)
  expect(loaded.unlocked).toHaveLength(MAX_OPENING)
  expect(loaded.active?.fingerprint).toBe(row?.fingerprint)
  await expect(loaded.makePending('bot')).rejects.toThrow(
    refused('refused', `${MAX_OPENING} keys are open already`, { hint: 'postern key delete' }),
  )
})

test('a pending key is discarded only while it is not recorded as offered', async () => {
  const { store } = await openKeys()
  const keys = await ring(store)
  const { fingerprint } = await keys.makePending('bot')
  await keys.markOffered(fingerprint, Date.now())
  await expect(keys.discard(fingerprint)).rejects.toThrow()
  expect((await ring(store)).pending?.offeredAtMs).not.toBeNull()
  await keys.markOffered(fingerprint, null)
  await keys.discard(fingerprint)
  expect([keys.all, (await ring(store)).all]).toEqual([[], []])
})
