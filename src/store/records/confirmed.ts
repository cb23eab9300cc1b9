import { sql } from 'kysely'
import type { ConfirmedRecords } from '../../kernel/index.ts'
import { Rows } from './rows.ts'

const ROW = 1

/** Up to where updates were confirmed. */
export class ConfirmedRows extends Rows implements ConfirmedRecords {
  async below(): Promise<number> {
    const row = await this.db.selectFrom('confirmed').select('below').executeTakeFirst()
    return row?.below ?? 0
  }

  async raise(
    below: number,
    { isAlone = false }: { isAlone?: boolean } = {},
  ): Promise<{ countsAnew: boolean } | null> {
    const webhook = this.db.selectFrom('webhook').select('id').where('url', 'is not', null)
    const others = this.db.selectFrom('cursors').select('name').where('name', '!=', '')
    const row = this.db.selectNoFrom((is) => [is.val(ROW).as('id'), is.val(below).as('below')])
    const wanted = row.where((is) =>
      isAlone ? is.not(is.or([is.exists(webhook), is.exists(others)])) : sql.lit(true),
    )
    const raised = await this.db
      .insertInto('confirmed')
      .columns(['id', 'below'])
      .expression(wanted)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ below }).where('confirmed.below', '<', below),
      )
      .returning('counts_anew')
      .executeTakeFirst()
    return raised === undefined ? null : { countsAnew: raised.counts_anew === 1 }
  }

  async isRecorded(below: number): Promise<boolean> {
    const unconfirmed = this.db
      .selectFrom('seen')
      .select('update_id')
      .where('counted_anew', '=', sql.lit(1))
      .where('update_id', '<', below)
    const row = await this.db
      .selectFrom('confirmed')
      .select('id')
      .where('below', '>=', below)
      .where((is) => is.not(is.exists(unconfirmed)))
      .executeTakeFirst()
    return row !== undefined
  }

  async noteCountedAnew(): Promise<void> {
    await this.db.updateTable('confirmed').set({ counts_anew: 1 }).execute()
  }

  async settle(below: number): Promise<void> {
    const raised = await this.raise(below)
    if (raised?.countsAnew === false) return
    await this.db
      .updateTable('seen')
      .set({ counted_anew: 0 })
      .where('counted_anew', '=', sql.lit(1))
      .where('update_id', '<', below)
      .execute()
  }
}
