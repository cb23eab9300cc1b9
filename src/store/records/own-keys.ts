import type { Keys, MadeKeyRecord, OwnKeyRecords, OwnKeyRow } from '../../kernel/index.ts'
import { SealedRows, changeRows, insertNew, readFlag } from './rows.ts'

const FIRST_PUBLISHED = 'first_published_at'
const COLUMNS = [
  'fingerprint',
  'state',
  'created_at as createdAtMs',
  'offered_at as offeredAtMs',
  'published_at as publishedAtMs',
  'retired_at as retiredAtMs',
  'destroyed_at as destroyedAtMs',
  'certificate',
  'locked',
] as const

/** The bot's own keys. */
export class OwnKeyRows extends SealedRows implements OwnKeyRecords {
  async of(keys: Keys): Promise<OwnKeyRow[]> {
    const all = this.db.selectFrom('own_keys').select([...COLUMNS, 'mac'])
    const rows = keys === null ? all : all.where('fingerprint', 'in', keys)
    const found = await rows.orderBy('created_at', 'desc').execute()
    return this.seal.sound('own_keys', found).map(({ mac: _mac, ...row }) => row)
  }

  async firstPublishedAtMs(): Promise<number | null> {
    const value = await readFlag(this.db, FIRST_PUBLISHED)
    return value === null ? null : Number(value)
  }

  async add(
    { fingerprint, createdAtMs, certificate, locked }: MadeKeyRecord,
    retiredAtMs: number | null,
  ): Promise<OwnKeyRow> {
    return await this.db
      .insertInto('own_keys')
      .values({
        ...this.seal.seal('own_keys', { fingerprint, certificate }),
        created_at: createdAtMs,
        locked,
        state: retiredAtMs === null ? 'pending' : 'retired',
        retired_at: retiredAtMs,
      })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
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

  async replaceSecret(fingerprint: string, certificate: string): Promise<boolean> {
    return await changeRows(this.db, 'own_keys', { fingerprint }, { locked: certificate })
  }

  async eraseSecret(fingerprint: string, atMs: number): Promise<boolean> {
    const erased = { state: 'destroyed', destroyed_at: atMs, locked: '' } as const
    return await changeRows(this.db, 'own_keys', { fingerprint, state: 'retired' }, erased)
  }
}
