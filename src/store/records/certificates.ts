import type { CertificateCopy, CertificateRecords } from '../../kernel/index.ts'
import type { EncryptionKeyRecords, KeptList } from '../../kernel/index.ts'
import type { KeyListRecords, Keys } from '../../kernel/index.ts'
import type { KnownCertificate, KnownKey } from '../../kernel/index.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, SealedRows, changeRows, chunksOf, findRow, insertNew, upsert } from './rows.ts'

/** Copies that go in one statement. */
const COPIES_AT_ONCE = 100
/** Far below SQLite's limit of variables in one statement. */
const KEYS_AT_ONCE = 500
/** Pairs of key and person that are remembered; a service that invents people adds no more. */
const MOST_KEYS = 500_000

/** Certificates: whose they are, their copies, their revocations. */
export class CertificateRows extends SealedRows implements CertificateRecords {
  async of(keys: Keys): Promise<KnownCertificate[]> {
    const all = this.db
      .selectFrom('certificates')
      .select(['fingerprint', 'copy_digest as copyDigest'])
      .select((row) => row('revoked_armored', 'is not', null).as('is_revoked'))
    const rows = keys === null ? all : all.where('fingerprint', 'in', keys)
    return (await rows.execute()).map(({ fingerprint, copyDigest, is_revoked }) => ({
      fingerprint,
      copyDigest,
      isRevoked: Number(is_revoked) === 1,
    }))
  }

  async owners(keys: Keys): Promise<{ fingerprint: string; userId: number }[]> {
    const all = this.db
      .selectFrom('certificates')
      .select(['fingerprint', 'owner', 'mac'])
      .where('owner', 'is not', null)
      .$narrowType<{ owner: number }>()
    const some = keys === null ? all : all.where('fingerprint', 'in', keys)
    const sound = this.seal.sound('certificates', await some.execute())
    return sound.map(({ fingerprint, owner: userId }) => ({ fingerprint, userId }))
  }

  async setOwner(fingerprint: string, userId: number): Promise<void> {
    const row = this.seal.seal('certificates', { fingerprint, owner: userId })
    await upsert(this.db, 'certificates', 'fingerprint', row)
  }

  async copyOf(fingerprint: string): Promise<string | null> {
    return (await findRow(this.db, 'certificates', { fingerprint }))?.copy ?? null
  }

  async addCopies(copies: readonly CertificateCopy[]): Promise<void> {
    for await (const some of inSlices(chunksOf(copies, COPIES_AT_ONCE))) {
      await this.db
        .insertInto('certificates')
        .values(some.map(copyRow))
        .onConflict((conflict) =>
          conflict
            .column('fingerprint')
            .doUpdateSet((row) => ({
              copy: row.ref('excluded.copy'),
              copy_digest: row.ref('excluded.copy_digest'),
            }))
            .where('certificates.copy', 'is', null),
        )
        .execute()
    }
  }

  async replaceCopy(copy: CertificateCopy, before: string): Promise<void> {
    const known = { fingerprint: copy.fingerprint, copy_digest: before }
    await changeRows(this.db, 'certificates', known, copyRow(copy))
  }

  async revokedCopyOf(fingerprint: string): Promise<string | null> {
    return (await findRow(this.db, 'certificates', { fingerprint }))?.revoked_armored ?? null
  }

  async setRevokedCopy(fingerprint: string, armored: string): Promise<void> {
    const row = { fingerprint, revoked_armored: armored }
    await upsert(this.db, 'certificates', 'fingerprint', row)
  }
}

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
  async add(keys: readonly KnownKey[]): Promise<void> {
    const { count } = await this.db
      .selectFrom('encryption_keys')
      .select((row) => row.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= MOST_KEYS) return
    const rows = keys.map(({ keyId, userId, sinceMs: since }) => {
      return { key_id: keyId, user_id: userId, since }
    })
    for await (const some of inSlices(chunksOf(rows, KEYS_AT_ONCE))) {
      await insertNew(this.db, 'encryption_keys', some)
    }
  }

  async of(keyIds: readonly string[]): Promise<KnownKey[]> {
    const found: KnownKey[] = []
    for (const some of chunksOf(keyIds, KEYS_AT_ONCE)) {
      const rows = await this.db
        .selectFrom('encryption_keys')
        .select(['key_id as keyId', 'user_id as userId', 'since as sinceMs'])
        .where('key_id', 'in', some)
        .execute()
      found.push(...rows)
    }
    return found
  }
}
