/** What the kernel remembers, over a store: the only place where its words become SQL. */
import type { Kysely } from 'kysely'
import type { Memory, Records } from '../kernel/index.ts'
import { CertificateRows, EncryptionKeyRows, KeyListRows } from './records/certificates.ts'
import { ChatRows, PressRows } from './records/chats.ts'
import { JournalRows } from './records/journal.ts'
import { MediaRows } from './records/media.ts'
import { OwnKeyRows } from './records/own-keys.ts'
import { KeyChangeRows, PinRows, PolicyRows, SignerRows } from './records/people.ts'
import { Rows } from './records/rows.ts'
import { ConfirmedRows, SeenRows } from './records/seen.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** The records of one read or write; each kind is made when it is asked for. */
export class SqlRecords extends Rows implements Records {
  get chats(): ChatRows {
    return new ChatRows(this.db)
  }
  get presses(): PressRows {
    return new PressRows(this.db)
  }
  get pins(): PinRows {
    return new PinRows(this.db)
  }
  get keyChanges(): KeyChangeRows {
    return new KeyChangeRows(this.db)
  }
  get policies(): PolicyRows {
    return new PolicyRows(this.db)
  }
  get signers(): SignerRows {
    return new SignerRows(this.db)
  }
  get certificates(): CertificateRows {
    return new CertificateRows(this.db)
  }
  get keyLists(): KeyListRows {
    return new KeyListRows(this.db)
  }
  get encryptionKeys(): EncryptionKeyRows {
    return new EncryptionKeyRows(this.db)
  }
  get journal(): JournalRows {
    return new JournalRows(this.db)
  }
  get ownKeys(): OwnKeyRows {
    return new OwnKeyRows(this.db)
  }
  get seen(): SeenRows {
    return new SeenRows(this.db)
  }
  get confirmed(): ConfirmedRows {
    return new ConfirmedRows(this.db)
  }
  get media(): MediaRows {
    return new MediaRows(this.db)
  }
}

/** The memory that a store keeps. */
export function memoryOf(store: Store): Memory {
  const records = (db: Kysely<Schema>): Records => new SqlRecords(db)
  return {
    isShared: store.isShared,
    get masterSecret() {
      return store.masterSecret
    },
    nowMs: () => Date.now(),
    read: (query) => store.read((db) => query(records(db))),
    write: (change, onWritten) => store.write((db) => change(records(db)), onWritten),
    note: (change, o) => store.note((db) => change(records(db)), o),
    settle: () => store.settle(),
    fresh: () => store.fresh(),
    writeFirst: (one) =>
      store.writeFirst({ isDue: () => one.isDue(), save: (db) => one.save(records(db)) }),
    keep: async (kind, read) => {
      store.follow(kind, (db, keys) => read(records(db), keys))
      await store.read((db) => read(records(db), null))
    },
    scrub: () => store.scrub(),
  }
}
