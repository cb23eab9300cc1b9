import type { Client, ClientRecords, ClientScope } from '../../clients/records.ts'
import type { Keys } from '../../kernel/index.ts'
import { OvertakenError } from '../../errors.ts'
import { Rows, findRow, upsert } from './rows.ts'

/** The clients of the bot's door that were added by command. */
export class ClientRows extends Rows implements ClientRecords {
  async of(keys: Keys): Promise<Client[]> {
    const found = await this.sound('clients', keys && { name: keys })
    return found.map(({ name, credential, allows, created_at }) => ({
      ...(JSON.parse(allows) as ClientScope),
      name,
      credential,
      createdAtMs: created_at,
    }))
  }

  async save({ name, credential, createdAtMs, ...scope }: Client): Promise<void> {
    const allows = JSON.stringify(scope)
    const values = { name, credential, allows, created_at: createdAtMs ?? 0 }
    const row = this.seal.seal('clients', values)
    await upsert(this.db, 'clients', 'name', row)
  }

  async remove(name: string): Promise<void> {
    await this.db.deleteFrom('clients').where('name', '=', name).execute()
    const rates = this.db.deleteFrom('client_rates')
    await rates.where('name', 'in', [name, `${name} given`]).execute()
  }

  async nextAtMs(name: string): Promise<number> {
    return (await this.sound('client_rates', { name }))[0]?.next_at ?? 0
  }

  async setNextAt(name: string, atMs: number, beforeMs: number): Promise<void> {
    // a forged one is written over
    const kept = (await findRow(this.db, 'client_rates', { name }))?.next_at ?? 0
    if ((await this.nextAtMs(name)) !== beforeMs) throw new OvertakenError()
    const rate = this.seal.seal('client_rates', { name, next_at: atMs })
    const set = await this.db
      .insertInto('client_rates')
      .values(rate)
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet(rate).where('client_rates.next_at', '=', kept),
      )
      .returning('name')
      .execute()
    if (set.length === 0) throw new OvertakenError()
  }
}
