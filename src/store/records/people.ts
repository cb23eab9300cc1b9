import type { KeyChange, KeyChangeRecords, Keys, KnownChange } from '../../kernel/index.ts'
import type { Pin, PinRecords, PolicyRecords, SignedKind } from '../../kernel/index.ts'
import type { SignerRecords, ToldWith, TrustPolicy } from '../../kernel/index.ts'
import type { SchemaRow } from '../schema.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, changeRows, findRows, upsert } from './rows.ts'

/** People's fingerprints, and how far they are trusted. */
export class PinRows extends Rows implements PinRecords {
  async of(keys: Keys): Promise<Pin[]> {
    return (await this.sound('pins', keys && { user_id: keys })).map(pinOf)
  }

  async save(pins: readonly Pin[]): Promise<void> {
    for await (const { userId, former, vouched, ...pin } of inSlices(pins)) {
      const row = this.seal.seal('pins', {
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
      await upsert(this.db, 'pins', 'user_id', row)
    }
  }
}

function pinOf({ former: fingerprint, vouched, ...row }: SchemaRow<'pins'>): Pin {
  const { user_id: userId, since: sinceMs, listed_at: listedAtMs, standing, listed } = row
  const plain = { userId, fingerprint: row.fingerprint, sinceMs, standing, listed, listedAtMs }
  const pin = vouched === null ? plain : { ...plain, vouched: JSON.parse(vouched) }
  if (fingerprint === null) return pin
  const wasPinned = row.former_pinned === 1
  return { ...pin, former: { fingerprint, changedAtMs: row.former_at ?? 0, wasPinned } }
}

/** The last change of each person's certificate. */
export class KeyChangeRows extends Rows implements KeyChangeRecords {
  async of(keys: Keys): Promise<KnownChange[]> {
    const rows = await findRows(this.db, 'key_changes', keys && { user_id: keys })
    return rows.map(({ user_id, before, now, ...told }) => {
      return { userId: user_id, from: before, to: now, ...told }
    })
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
    const sound = await this.sound('trust_policies', keys && { chat_id: keys })
    return sound.map(({ chat_id: chatId, policy }) => ({ chatId, policy }))
  }

  async set(chatId: number, policy: TrustPolicy | null): Promise<void> {
    if (policy !== null) {
      const row = this.seal.seal('trust_policies', { chat_id: chatId, policy })
      return await upsert(this.db, 'trust_policies', 'chat_id', row)
    }
    await this.db.deleteFrom('trust_policies').where('chat_id', '=', chatId).execute()
  }
}

const SIGNED_COLUMN = { words: 'signed_at', file: 'signed_files_at' } as const

/** Everybody who ever signed. */
export class SignerRows extends Rows implements SignerRecords {
  async of(keys: Keys): Promise<{ userId: number; kinds: SignedKind[] }[]> {
    const rows = await findRows(this.db, 'people', keys && { user_id: keys })
    return rows.map((row) => ({
      userId: row.user_id,
      kinds: (['words', 'file'] as const).filter((kind) => row[SIGNED_COLUMN[kind]] !== null),
    }))
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
