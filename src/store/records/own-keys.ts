import type { Keys, MadeKeyRecord, OwnKeyRecords, OwnKeyRow } from '../../kernel/index.ts'
import { Rows, changeRows, insertNew, readFlag } from './rows.ts'

const FIRST_PUBLISHED = 'first_published_at'

/** The bot's own keys. */
export class OwnKeyRows extends Rows implements OwnKeyRecords {
  async of(keys: Keys): Promise<OwnKeyRow[]> {
    const found = await this.sound('own_keys', keys && { fingerprint: keys })
    const newestFirst = found.toSorted((a, b) => b.created_at - a.created_at)
    return newestFirst.map(({ fingerprint, state, certificate, locked, ...times }) => ({
      fingerprint,
      state,
      createdAtMs: times.created_at,
      offeredAtMs: times.offered_at,
      publishedAtMs: times.published_at,
      retiredAtMs: times.retired_at,
      destroyedAtMs: times.destroyed_at,
      certificate,
      locked,
    }))
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
    const added = this.db.insertInto('own_keys').values({ ...key, locked })
    await added.execute()
    return (await this.of([fingerprint]))[0]!
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
    const unoffered = { fingerprint, state: 'pending', offered_at: null } as const
    const gone = this.db.deleteFrom('own_keys').where((is) => is.and(unoffered))
    return (await gone.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }

  async replaceSecret(fingerprint: string, certificate: string): Promise<boolean> {
    return await changeRows(this.db, 'own_keys', { fingerprint }, { locked: certificate })
  }

  async eraseSecret(fingerprint: string, atMs: number): Promise<boolean> {
    const erased = { state: 'destroyed', destroyed_at: atMs, locked: '' } as const
    return await this.change('own_keys', { fingerprint, state: 'retired' }, erased)
  }
}
