/** Our own keys on disk. Each change is one transaction, on disk when it resolves. */
import type { Kysely, Transaction } from 'kysely'
import { OperatorError } from '../errors.ts'
import type { OwnKeysRow, Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

const FIRST_PUBLISHED = 'first_published_at'

/** Every key, newest first, and when the first of them was published (ms since the epoch). */
export async function readRows(
  store: Store,
): Promise<{ rows: OwnKeysRow[]; firstPublishedAtMs: number | null }> {
  const rows = await store.read((db) =>
    db.selectFrom('own_keys').selectAll().orderBy('created_at', 'desc').execute(),
  )
  return { rows, firstPublishedAtMs: await store.read(readFirstPublished) }
}

/** When the first key was published, ms since the epoch; null when none was. */
export async function readFirstPublished(db: Kysely<Schema>): Promise<number | null> {
  const flag = await db
    .selectFrom('flags')
    .select('value')
    .where('name', '=', FIRST_PUBLISHED)
    .executeTakeFirst()
  return flag === undefined ? null : Number(flag.value)
}

/**
 * Keeps a new key: as the pending one, or as one that opens alone.
 * @param o `lockedUnder` the master secret that it was locked under; `retiredAtMs` makes it a
 *   retired one, null the pending one
 * @returns null, with nothing written, when the store has come under another one since
 * @throws OperatorError `refused` when another key is pending; Refusal `postern_store_unwritable`
 */
export async function insertRow(
  store: Store,
  made: { fingerprint: string; created_at: number; certificate: string; locked: string },
  { lockedUnder, retiredAtMs }: { lockedUnder: string; retiredAtMs: number | null },
): Promise<OwnKeysRow | null> {
  return await store.write(async (db) => {
    if (store.masterSecret !== lockedUnder) return null
    if (retiredAtMs === null) await refuseSecondPending(db)
    const state = retiredAtMs === null ? 'pending' : 'retired'
    return await db
      .insertInto('own_keys')
      .values({ ...made, state, retired_at: retiredAtMs })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

async function refuseSecondPending(db: Transaction<Schema>): Promise<void> {
  const pending = await db
    .selectFrom('own_keys')
    .select('fingerprint')
    .where('state', '=', 'pending')
    .executeTakeFirst()
  if (pending !== undefined) throw otherPending(pending.fingerprint)
}

function otherPending(fingerprint: string): OperatorError {
  return new OperatorError(
    'refused',
    `another key waits for its publication: ${fingerprint}`,
    'let `postern run` or `postern key publish` finish it first',
  )
}

/** @param atMs when its publication was begun; null takes that back */
export async function setOffered(
  store: Store,
  fingerprint: string,
  atMs: number | null,
): Promise<void> {
  await store.write((db) =>
    db
      .updateTable('own_keys')
      .set({ offered_at: atMs })
      .where('fingerprint', '=', fingerprint)
      .execute(),
  )
}

/**
 * Makes a pending or active key the active one and retires the one before it.
 * @returns when the first key was published, ms since the epoch; null, with nothing written, when
 *   the key is another's former one by now
 */
export async function promoteRow(
  store: Store,
  { fingerprint, nowMs }: { fingerprint: string; nowMs: number },
): Promise<number | null> {
  return await store.write(async (db) => {
    const key = await db
      .selectFrom('own_keys')
      .select('state')
      .where('fingerprint', '=', fingerprint)
      .executeTakeFirst()
    if (key?.state !== 'pending' && key?.state !== 'active') return null
    await db
      .updateTable('own_keys')
      .set({ state: 'retired', retired_at: nowMs })
      .where('state', '=', 'active')
      .where('fingerprint', '!=', fingerprint)
      .execute()
    await db
      .updateTable('own_keys')
      .set({ state: 'active', published_at: nowMs, retired_at: null })
      .where('fingerprint', '=', fingerprint)
      .execute()
    await db
      .insertInto('flags')
      .values({ name: FIRST_PUBLISHED, value: String(nowMs) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return await readFirstPublished(db)
  })
}

/** Deletes a pending key that was never offered. @returns whether there was one */
export async function deleteUnoffered(store: Store, fingerprint: string): Promise<boolean> {
  const gone = await store.write((db) =>
    db
      .deleteFrom('own_keys')
      .where('fingerprint', '=', fingerprint)
      .where('state', '=', 'pending')
      .where('offered_at', 'is', null)
      .returning('fingerprint')
      .execute(),
  )
  return gone.length > 0
}

/** Drops the secret of a retired key, and leaves the rest of it. @returns whether there was one */
export async function eraseSecret(
  store: Store,
  fingerprint: string,
  nowMs: number,
): Promise<boolean> {
  const erased = await store.write((db) =>
    db
      .updateTable('own_keys')
      .set({ state: 'destroyed', destroyed_at: nowMs, locked: '' })
      .where('fingerprint', '=', fingerprint)
      .where('state', '=', 'retired')
      .returning('fingerprint')
      .execute(),
  )
  return erased.length > 0
}

/** Adds to what a key has opened. */
export async function addKeyUsage(
  store: Store,
  usage: readonly { fingerprint: string; messages: number; media: number; lastAtMs: number }[],
): Promise<void> {
  await store.write(async (db) => {
    for (const { fingerprint, messages, media, lastAtMs } of usage) {
      await db
        .updateTable('own_keys')
        .set((own) => ({
          opened_messages: own('opened_messages', '+', messages),
          opened_media: own('opened_media', '+', media),
          last_opened_at: lastAtMs,
        }))
        .where('fingerprint', '=', fingerprint)
        .execute()
    }
  })
}
