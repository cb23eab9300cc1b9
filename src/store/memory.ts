/** The kernel's memory over a store: the only place where its records become SQL. */
import type { Kysely } from 'kysely'
import type { FollowedRecords, Memory, Records } from '../kernel/index.ts'
import { CertificateRows, EncryptionKeyRows, KeyListRows } from './records/certificates.ts'
import { ChatRows, PressRows } from './records/chats.ts'
import { ClientRows } from './records/clients.ts'
import { ConfirmedRows } from './records/confirmed.ts'
import { JournalRows } from './records/journal.ts'
import { MediaRows } from './records/media.ts'
import { OwnKeyRows } from './records/own-keys.ts'
import { KeyChangeRows, PinRows, PolicyRows, SignerRows } from './records/people.ts'
import { Rows } from './records/rows.ts'
import { SeenRows } from './records/seen.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

type FollowedKind = FollowedRecords | 'clients'

/** The records of one read or write: the kernel's, and those of clients. */
export class StoreRecords extends Rows implements Records {
  readonly chats = new ChatRows(this.db, this.seal)
  readonly presses = new PressRows(this.db, this.seal)
  readonly pins = new PinRows(this.db, this.seal)
  readonly keyChanges = new KeyChangeRows(this.db, this.seal)
  readonly policies = new PolicyRows(this.db, this.seal)
  readonly signers = new SignerRows(this.db, this.seal)
  readonly certificates = new CertificateRows(this.db, this.seal)
  readonly keyLists = new KeyListRows(this.db, this.seal)
  readonly encryptionKeys = new EncryptionKeyRows(this.db, this.seal)
  readonly journal = new JournalRows(this.db, this.seal)
  readonly ownKeys = new OwnKeyRows(this.db, this.seal)
  readonly seen = new SeenRows(this.db, this.seal)
  readonly confirmed = new ConfirmedRows(this.db, this.seal)
  readonly media = new MediaRows(this.db, this.seal)
  readonly clients = new ClientRows(this.db, this.seal)
}

/** A memory over a store. */
export interface StoreMemory extends Memory<StoreRecords, FollowedKind> {
  /** Reads records of a kind again that this process has changed beside the kernel. */
  reread(kind: FollowedKind, keys: readonly string[]): Promise<void>
}

/** The memory that a store keeps. @param nowMs the time in ms since the epoch, of what it records */
export function memoryOf(store: Store, nowMs = (): number => Date.now()): StoreMemory {
  const kept: { kind: FollowedKind; read: Parameters<StoreMemory['keep']>[1] }[] = []
  const records = (db: Kysely<Schema>): StoreRecords => new StoreRecords(db, store.rowSeal)
  return {
    isShared: store.isShared,
    get epoch() {
      return store.epoch
    },
    get masterSecret() {
      return store.masterSecret
    },
    nowMs,
    read: (query) => store.read((db) => query(records(db))),
    write: (change, onWritten) => store.write((db) => change(records(db)), onWritten),
    note: (change, o) => store.note((db) => change(records(db)), o),
    settle: () => store.settle(),
    fresh: () => store.fresh(),
    writeFirst: (one) =>
      store.writeFirst({ isDue: () => one.isDue(), save: (db) => one.save(records(db)) }),
    keep: async (kind, read) => {
      kept.push({ kind, read })
      store.follow(kind, (db, keys) => read(records(db), keys))
      await store.read((db) => read(records(db), null))
    },
    scrub: () => store.scrub(),
    reread: async (kind, keys) => {
      for (const one of kept) {
        if (one.kind === kind) await store.read((db) => one.read(records(db), keys))
      }
    },
  }
}
