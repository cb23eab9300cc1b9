/** Guesses of a sidecar about the changes of another one: nothing of a wrong one is kept. */
import { describe, expect, test } from 'vitest'
import { ConfirmedUpdates } from '../../../src/kernel/opening/confirmed-updates.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { flags, put } from '../support.ts'
import { pair } from './scene.ts'

describe.skipIf(!hasPostgres())('a wrong guess about another sidecar', () => {
  test('a write that may run again includes an earlier change by another sidecar', async () => {
    const { one, two } = await pair()
    const rereads: string[] = []
    two.follow('flags', async (_db, keys) => void rereads.push(...keys))
    await put(one, 'first', 'x')
    const seen: string[][] = []
    await two.note(
      async (db) => {
        seen.push([...rereads])
        await db
          .insertInto('flags')
          .values({ name: `${seen.length}`, value: 'y' })
          .execute()
      },
      { isOrdered: true },
    )
    expect([seen, await flags(one)]).toEqual([[[], ['first']], { first: 'x', 2: 'y' }])
  })

  test('a poll confirms nothing before a webhook of another sidecar is known', async () => {
    const { one, two } = await pair()
    const confirmed = new ConfirmedUpdates(memoryOf(two))
    const below = (): Promise<number> => memoryOf(one).read((records) => records.confirmed.below())
    const webhook = { id: 1, url: 'https://bot.example', failures: 0 }
    await one.write((db) => db.insertInto('webhook').values(webhook).execute())
    confirmed.expect(9)
    await put(two, 'a', 'later')
    expect(await below()).toBe(0)
    await confirmed.record(9)
    expect(await below()).toBe(9)
  })
})
