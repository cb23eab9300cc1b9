import type {
  KeyChange,
  KeyChangeRecords,
  Keys,
  KnownChange,
  Pin,
  PinRecords,
  PolicyRecords,
  SignedKind,
  SignerRecords,
  ToldWith,
  TrustPolicy,
} from '../../kernel/index.ts'
import type { SchemaRow } from '../schema.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, changeRows, upsert } from './rows.ts'

/** People's fingerprints, and how far they are trusted. */
export class PinRows extends Rows implements PinRecords {
  async of(keys: Keys): Promise<Pin[]> {
    const all = this.db
      .selectFrom('pins')
      .select(['user_id as userId', 'fingerprint', 'since as sinceMs', 'standing', 'listed'])
      .select(['listed_at as listedAtMs', 'former', 'former_at', 'former_pinned', 'vouched'])
    const rows = keys === null ? all : all.where('user_id', 'in', keys.map(Number))
    return (await rows.execute()).map(
      ({ former: fingerprint, former_at, former_pinned, vouched, ...plain }) => {
        const pin = vouched === null ? plain : { ...plain, vouched: JSON.parse(vouched) }
        if (fingerprint === null) return pin
        const former = { fingerprint, changedAtMs: former_at ?? 0, wasPinned: former_pinned === 1 }
        return { ...pin, former }
      },
    )
  }

  async save(pins: readonly Pin[]): Promise<void> {
    for await (const { userId, former, vouched, ...pin } of inSlices(pins)) {
      await upsert(this.db, 'pins', 'user_id', {
        user_id: userId,
        fingerprint: pin.fingerprint,
        since: pin.sinceMs,
        standing: pin.standing,
        listed: pin.listed,
        listed_at: pin.listedAtMs,
        former: former?.fingerprint ?? null,
        former_at: former?.changedAtMs ?? null,
        former_pinned: former?.wasPinned === true ? 1 : 0,
        vouched: vouched === undefined ? null : JSON.stringify(vouched),
      })
    }
  }
}

/** The last change of each person's certificate. */
export class KeyChangeRows extends Rows implements KeyChangeRecords {
  async of(keys: Keys): Promise<KnownChange[]> {
    const all = this.db
      .selectFrom('key_changes')
      .select(['user_id as userId', 'before as from', 'now as to', 'message', 'send'])
    return await (keys === null ? all : all.where('user_id', 'in', keys.map(Number))).execute()
  }

  async save(changes: readonly KeyChange[]): Promise<void> {
    for await (const { userId, from, to } of inSlices(changes)) {
      const change = { before: from, now: to, message: null, send: null }
      await upsert(this.db, 'key_changes', 'user_id', { user_id: userId, ...change })
    }
  }

  async setTold({ userId, to }: KeyChange, by: ToldWith, key: string): Promise<void> {
    await changeRows(this.db, 'key_changes', { user_id: userId, now: to }, { [by]: key })
  }
}

/** Policies that were set by command. */
export class PolicyRows extends Rows implements PolicyRecords {
  async of(keys: Keys): Promise<{ chatId: number; policy: TrustPolicy }[]> {
    const all = this.db.selectFrom('trust_policies').select(['chat_id as chatId', 'policy'])
    return await (keys === null ? all : all.where('chat_id', 'in', keys.map(Number))).execute()
  }

  async set(chatId: number, policy: TrustPolicy | null): Promise<void> {
    if (policy !== null) {
      return await upsert(this.db, 'trust_policies', 'chat_id', { chat_id: chatId, policy })
    }
    await this.db.deleteFrom('trust_policies').where('chat_id', '=', chatId).execute()
  }
}

const SIGNED_COLUMN = { words: 'signed_at', file: 'signed_files_at' } as const

/** Everybody who ever signed. */
export class SignerRows extends Rows implements SignerRecords {
  async of(keys: Keys): Promise<{ userId: number; kinds: SignedKind[] }[]> {
    const all = this.db.selectFrom('people').selectAll()
    const rows = keys === null ? all : all.where('user_id', 'in', keys.map(Number))
    return (await rows.execute()).map(signerOf)
  }

  async add(userId: number, kind: SignedKind): Promise<void> {
    const times = { [SIGNED_COLUMN[kind]]: Date.now() }
    await upsert(this.db, 'people', 'user_id', { user_id: userId, ...times })
  }

  async forget(userId: number, alias?: string): Promise<void> {
    const unsigned = { signed_at: null, signed_files_at: null }
    await changeRows(this.db, 'people', { user_id: userId }, unsigned)
    if (alias !== undefined) await changeRows(this.db, 'forgotten', { person: alias }, unsigned)
  }
}

const signerOf = (row: SchemaRow<'people'>): { userId: number; kinds: SignedKind[] } => ({
  userId: row.user_id,
  kinds: (['words', 'file'] as const).filter((kind) => row[SIGNED_COLUMN[kind]] !== null),
})
