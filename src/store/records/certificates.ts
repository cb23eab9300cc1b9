import { hash } from 'node:crypto'
import type { CertificateCopy, CertificateRecords } from '../../kernel/index.ts'
import type { EncryptionKeyRecords, KeptList } from '../../kernel/index.ts'
import type { KeyListRecords, Keys } from '../../kernel/index.ts'
import type { KnownCertificate, KnownKey } from '../../kernel/index.ts'
import { inSlices } from '../../util/scheduling.ts'
import type { SchemaRow } from '../schema.ts'
import { Rows, chunksOf, findRow, insertNew, upsert } from './rows.ts'

/** Copies that go in one statement. */
const COPIES_AT_ONCE = 100
/** Far below SQLite's limit of variables in one statement. */
const KEYS_AT_ONCE = 500
/** Pairs of key and person that are remembered; a service that invents people adds no more. */
const MOST_KEYS = 500_000
/** They are counted anew after so many: other sidecars add some too. */
const COUNTED_EVERY = 50_000

type CertificateRow = SchemaRow<'certificates'>
const NOTHING = { owner: null, revoked_armored: null, copy: null, copy_digest: null, mac: null }

/** Certificates: whose they are, their copies, their revocations. */
export class CertificateRows extends Rows implements CertificateRecords {
  async of(keys: Keys): Promise<KnownCertificate[]> {
    const found: KnownCertificate[] = []
    for await (const { fingerprint, copy_digest: copyDigest, ...row } of this.#read(keys)) {
      found.push({ fingerprint, copyDigest, isRevoked: row.revoked_armored !== null })
    }
    return found
  }

  async owners(keys: Keys): Promise<{ fingerprint: string; userId: number }[]> {
    const found: { fingerprint: string; userId: number }[] = []
    for await (const { fingerprint, owner: userId } of this.#read(keys, { isOwned: true })) {
      if (userId !== null) found.push({ fingerprint, userId })
    }
    return found
  }

  /** All but the copies, in parts: revoked certificates can be 64 KiB each. */
  async *#read(keys: Keys, { isOwned } = { isOwned: false }) {
    const all = this.db
      .selectFrom('certificates')
      .select(['fingerprint', 'owner', 'revoked_armored', 'copy_digest', 'mac'])
      .orderBy('fingerprint')
      .limit(KEYS_AT_ONCE)
    const some = keys === null ? all : all.where('fingerprint', 'in', keys)
    const wanted = isOwned ? some.where('owner', 'is not', null) : some
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: Omit<CertificateRow, 'copy'>[] = await wanted
        .where('fingerprint', '>', after)
        .execute()
      yield* this.#known(rows)
      after = rows.at(KEYS_AT_ONCE - 1)?.fingerprint
    }
  }

  /** Rows as they count: a forged one as revoked, for that may have been removed from it. */
  #known<R extends Omit<CertificateRow, 'copy'>>(rows: readonly R[]): R[] {
    const sound = new Set(this.seal.sound('certificates', rows))
    return rows.map((row) => (sound.has(row) ? row : { ...row, ...NOTHING, revoked_armored: '' }))
  }

  async #find(fingerprints: readonly string[]): Promise<Map<string, CertificateRow>> {
    const rows = this.db.selectFrom('certificates').selectAll()
    const found = await rows.where('fingerprint', 'in', fingerprints).execute()
    const digested = found.map((row) => ({ ...row, copy_digest: digestOf(row.copy) }))
    return new Map(this.#known(digested).map((row) => [row.fingerprint, row]))
  }

  async #one(fingerprint: string): Promise<CertificateRow> {
    return (await this.#find([fingerprint])).get(fingerprint) ?? { ...NOTHING, fingerprint }
  }

  async #save(rows: readonly CertificateRow[]): Promise<void> {
    const sealed = rows.map((row) => this.seal.seal('certificates', row))
    if (rows.length > 0) await upsert(this.db, 'certificates', 'fingerprint', sealed)
  }

  async setOwner(fingerprint: string, userId: number): Promise<void> {
    await this.#save([{ ...(await this.#one(fingerprint)), owner: userId }])
  }

  async copyOf(fingerprint: string): Promise<string | null> {
    return (await this.#one(fingerprint)).copy
  }

  async addCopies(copies: readonly CertificateCopy[]): Promise<void> {
    for await (const some of inSlices(chunksOf(copies, COPIES_AT_ONCE))) {
      const known = await this.#find(some.map(({ fingerprint }) => fingerprint))
      const blank = some.filter(({ fingerprint }) => {
        const { copy, revoked_armored } = known.get(fingerprint) ?? NOTHING
        return copy === null && revoked_armored !== ''
      })
      const rowOf = (one: CertificateCopy): CertificateRow => {
        return { ...NOTHING, ...known.get(one.fingerprint), ...copyRow(one) }
      }
      await this.#save(blank.map(rowOf))
    }
  }

  async replaceCopy(copy: CertificateCopy, before: string): Promise<void> {
    const known = { fingerprint: copy.fingerprint, copy_digest: before }
    await this.change('certificates', known, copyRow(copy))
  }

  async revokedCopyOf(fingerprint: string): Promise<string | null> {
    return (await this.#one(fingerprint)).revoked_armored
  }

  async setRevokedCopy(fingerprint: string, armored: string): Promise<void> {
    await this.#save([{ ...(await this.#one(fingerprint)), revoked_armored: armored }])
  }
}
const digestOf = (copy: string | null): string | null => copy && hash('sha256', copy, 'base64')

const copyRow = ({ fingerprint, copy, copyDigest }: CertificateCopy) => ({
  fingerprint,
  copy,
  copy_digest: copyDigest,
})

/** The last key list of each chat, and everybody ever on it. */
export class KeyListRows extends Rows implements KeyListRecords {
  async of(chatId: number): Promise<KeptList | undefined> {
    return await findRow(this.db, 'lists', { chat_id: chatId })
  }

  async save(chatId: number, list: KeptList): Promise<void> {
    await upsert(this.db, 'lists', 'chat_id', { chat_id: chatId, ...list })
  }
}

/** Keys that people's certificates list to be encrypted to. */
export class EncryptionKeyRows extends Rows implements EncryptionKeyRecords {
  async room(): Promise<number> {
    const { count } = await this.db
      .selectFrom('encryption_keys')
      .select((row) => row.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return Math.min(MOST_KEYS - count, COUNTED_EVERY)
  }

  async add(keys: readonly KnownKey[]): Promise<void> {
    const rows = keys.map(({ keyId, userId, sinceMs: since }) => {
      return this.seal.seal('encryption_keys', { key_id: keyId, user_id: userId, since })
    })
    for await (const some of inSlices(chunksOf(rows, KEYS_AT_ONCE))) {
      await insertNew(this.db, 'encryption_keys', some)
    }
  }

  async of(keyIds: readonly string[]): Promise<KnownKey[]> {
    const found: KnownKey[] = []
    for (const some of chunksOf(keyIds, KEYS_AT_ONCE)) {
      for (const row of await this.sound('encryption_keys', { key_id: some })) {
        found.push({ keyId: row.key_id, userId: row.user_id, sinceMs: row.since })
      }
    }
    return found
  }
}
