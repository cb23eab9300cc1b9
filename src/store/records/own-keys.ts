import type { Keys, MadeKeyRecord, OwnKeyRecords, OwnKeyRow } from '../../kernel/index.ts'
import type { SchemaRow } from '../schema.ts'
import { Rows, changeRows, insertNew, readFlag } from './rows.ts'

const FIRST_PUBLISHED = 'first_published_at'

/** The bot's own keys. */
export class OwnKeyRows extends Rows implements OwnKeyRecords {
  async of(keys: Keys): Promise<OwnKeyRow[]> {
    const all = this.db.selectFrom('own_keys').selectAll().orderBy('created_at', 'desc')
    const rows = keys === null ? all : all.where('fingerprint', 'in', keys)
    return (await rows.execute()).map(keyOf)
  }

  async firstPublishedAtMs(): Promise<number | null> {
    const value = await readFlag(this.db, FIRST_PUBLISHED)
    return value === null ? null : Number(value)
  }

  async add(
    { fingerprint, createdAtMs, certificate, locked }: MadeKeyRecord,
    retiredAtMs: number | null,
  ): Promise<OwnKeyRow> {
    const row = await this.db
      .insertInto('own_keys')
      .values({
        fingerprint,
        created_at: createdAtMs,
        certificate,
        locked,
        state: retiredAtMs === null ? 'pending' : 'retired',
        retired_at: retiredAtMs,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return keyOf(row)
  }

  async setOffered(fingerprint: string, atMs: number | null): Promise<void> {
    await changeRows(this.db, 'own_keys', { fingerprint }, { offered_at: atMs })
  }

  async promote(fingerprint: string, atMs: number): Promise<void> {
    await this.db
      .updateTable('own_keys')
      .set({ state: 'retired', retired_at: atMs })
      .where('state', '=', 'active')
      .where('fingerprint', '!=', fingerprint)
      .execute()
    const active = { state: 'active', published_at: atMs, retired_at: null } as const
    await changeRows(this.db, 'own_keys', { fingerprint }, active)
    await insertNew(this.db, 'flags', { name: FIRST_PUBLISHED, value: String(atMs) })
  }

  async deleteUnoffered(fingerprint: string): Promise<boolean> {
    const gone = await this.db
      .deleteFrom('own_keys')
      .where('fingerprint', '=', fingerprint)
      .where('state', '=', 'pending')
      .where('offered_at', 'is', null)
      .returning('fingerprint')
      .execute()
    return gone.length > 0
  }

  async eraseSecret(fingerprint: string, atMs: number): Promise<boolean> {
    const erased = { state: 'destroyed', destroyed_at: atMs, locked: '' } as const
    return await changeRows(this.db, 'own_keys', { fingerprint, state: 'retired' }, erased)
  }
}

const keyOf = (row: SchemaRow<'own_keys'>): OwnKeyRow => ({
  fingerprint: row.fingerprint,
  state: row.state,
  createdAtMs: row.created_at,
  offeredAtMs: row.offered_at,
  publishedAtMs: row.published_at,
  retiredAtMs: row.retired_at,
  destroyedAtMs: row.destroyed_at,
  certificate: row.certificate,
  locked: row.locked,
})
