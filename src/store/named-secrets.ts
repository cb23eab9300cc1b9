import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Refusal } from '../errors.ts'
import type { OpenProtection, SecretSealer } from './protection.ts'
import { corrupt } from './refusals.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

const SECRET_BYTES = 32

/** The table `secrets`, sealed under a store's protection; `Store` documents the methods. */
export class NamedSecrets implements Pick<Store, 'seal' | 'unseal' | 'secret'> {
  readonly #store: Pick<Store, 'read' | 'write'>
  readonly #held: () => OpenProtection | null

  /** @param held the protection as it is at the time of the call */
  constructor(store: Pick<Store, 'read' | 'write'>, held: () => OpenProtection | null) {
    this.#store = store
    this.#held = held
  }

  seal(name: string, secret: Uint8Array): Buffer {
    return this.#sealer.seal(name, secret)
  }

  unseal(name: string, sealed: Uint8Array): Buffer {
    const secret = this.#sealer.open(name, sealed)
    if (secret === null) throw corrupt('a sealed secret was changed')
    return secret
  }

  async secret(name: string): Promise<Buffer> {
    const kept = await this.#store.read((db) => this.#find(db, name))
    return kept ?? (await this.#make(name))
  }

  get #sealer(): SecretSealer {
    const held = this.#held()
    if (held !== null) return held.sealer
    throw new Refusal('postern_locked', 'the store has no protection that this sidecar opens')
  }

  async #find(db: Kysely<Schema>, name: string): Promise<Buffer | null> {
    const row = await db
      .selectFrom('secrets')
      .select('sealed')
      .where('name', '=', name)
      .executeTakeFirst()
    return row === undefined ? null : this.unseal(name, row.sealed)
  }

  async #make(name: string): Promise<Buffer> {
    return await this.#store.write(async (db) => {
      await db
        .insertInto('secrets')
        .values({ name, sealed: this.seal(name, randomBytes(SECRET_BYTES)) })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const made = await this.#find(db, name)
      if (made === null) throw corrupt('a sealed secret is gone')
      return made
    })
  }
}
