import type { Keys, MadeKeyRecord, OwnKeyRecords, OwnKeyRow } from '../../kernel/index.ts'
import type { SchemaRow } from '../schema.ts'
import { SealedRows, changeRows, insertNew, readFlag } from './rows.ts'

const FIRST_PUBLISHED = 'first_published_at'

/** The bot's own keys. */
export class OwnKeyRows extends SealedRows implements OwnKeyRecords {
  async of(keys: Keys): Promise<OwnKeyRow[]> {
    const found = await this.sound('own_keys', keys && { fingerprint: keys })
    return found.toSorted((a, b) => b.created_at - a.created_at).map(ownKeyOf)
  }

  async firstPublishedAtMs(): Promise<number | null> {
    const value = await readFlag(this.db, FIRST_PUBLISHED)
    return value === null ? null : Number(value)
  }

  async add(
    { fingerprint, createdAtMs, certificate, locked }: MadeKeyRecord,
    retiredAtMs: number | null,
  ): Promise<OwnKeyRow> {
    const key = this.seal.seal('own_keys', {
      fingerprint,
      state: retiredAtMs === null ? 'pending' : 'retired',
      created_at: createdAtMs,
      offered_at: null,
      published_at: null,
      retired_at: retiredAtMs,
      destroyed_at: null,
      certificate,
    })
    const added = this.db
      .insertInto('own_keys')
      .values({ ...key, locked })
      .returningAll()
    return ownKeyOf(await added.executeTakeFirstOrThrow())
  }

  async setOffered(fingerprint: string, atMs: number | null): Promise<void> {
    await this.change('own_keys', { fingerprint }, { offered_at: atMs })
  }

  async promote(fingerprint: string, atMs: number): Promise<void> {
    await this.change('own_keys', { state: 'active' }, { state: 'retired', retired_at: atMs })
    const active = { state: 'active', published_at: atMs, retired_at: null } as const
    await this.change('own_keys', { fingerprint }, active)
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

  async replaceSecret(fingerprint: string, certificate: string): Promise<boolean> {
    return await changeRows(this.db, 'own_keys', { fingerprint }, { locked: certificate })
  }

  async eraseSecret(fingerprint: string, atMs: number): Promise<boolean> {
    const erased = { state: 'destroyed', destroyed_at: atMs, locked: '' } as const
    return await this.change('own_keys', { fingerprint, state: 'retired' }, erased)
  }
}

const ownKeyOf = (row: SchemaRow<'own_keys'>): OwnKeyRow => ({
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
