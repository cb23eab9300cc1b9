import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { child, flags, gone, newStore, note, open, put, temporary, testOfFile } from './support.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

describe('rows of a store', () => {
  test('a store that is opened again has exactly the rows of its successful writes', async () => {
    const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'naïve “name”')
    const change = fc.oneof(
      fc.record({
        op: fc.constant('put' as const),
        name: names,
        value: fc.string({ unit: 'binary' }),
      }),
      fc.record({ op: fc.constant('remove' as const), name: names }),
      fc.record({ op: fc.constant('fail' as const), name: names, value: fc.string() }),
      fc.record({ op: fc.constant('reopen' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const dataDir = temporary()
        const expected = new Map<string, string>()
        let store = await openStore({ dataDir, passphrase: null, mode: 'create' })
        for (const step of [...changes, { op: 'reopen' as const }]) {
          if (step.op === 'put') {
            await put(store, step.name, step.value)
            expected.set(step.name, step.value)
          } else if (step.op === 'remove') {
            await store.write((db) =>
              db.deleteFrom('flags').where('name', '=', step.name).execute(),
            )
            expected.delete(step.name)
          } else if (step.op === 'fail') {
            const failing = store.write(async (db) => {
              await db.deleteFrom('flags').execute()
              throw new RangeError('changed our mind')
            })
            await expect(failing).rejects.toThrow(RangeError)
          } else {
            await store[Symbol.asyncDispose]()
            store = await openStore({ dataDir, passphrase: null, mode: 'existing' })
          }
          const rows = await store.read((db) => db.selectFrom('flags').selectAll().execute())
          expect(new Map(rows.map(({ name, value }) => [name, value]))).toEqual(expected)
        }
        await store[Symbol.asyncDispose]()
      }),
      { numRuns: runs(8) },
    )
  })

  test('a store that is opened again has its notes and its writes', async () => {
    const { dataDir, store } = await newStore()
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`)
    await Promise.all(names.map((name, n) => (n % 3 === 0 ? put : note)(store, name, 'kept')))
    await store[Symbol.asyncDispose]()
    const kept = await flags(await open(dataDir))
    expect(Object.keys(kept).toSorted()).toEqual(names.toSorted())
  })

  test('a row keeps bytes, nulls and large integers', async () => {
    const { dataDir, store: first } = await newStore()
    const digest = Uint8Array.from({ length: 32 }, (_, index) => index * 7)
    const row = {
      digest,
      kind: 'data' as const,
      chat_id: Number.MAX_SAFE_INTEGER,
      message_id: null,
      user_id: -5,
      seen_at: 1_700_000_000_000,
    }
    await first.write((db) => db.insertInto('seen').values(row).execute())
    await first[Symbol.asyncDispose]()
    const second = await open(dataDir)
    const rows = await second.read((db) => db.selectFrom('seen').selectAll().execute())
    const unset = { media_id: null, update_id: null, dated_at: null }
    const others = { ...unset, repeats: 0, is_signed: 0, counted_anew: 0 }
    expect(rows).toEqual([{ ...row, ...others }])
  })

  test('concurrent writes run one after the other', async () => {
    const store = await open(temporary())
    await put(store, 'count', '0')
    const increment = () =>
      store.write(async (db) => {
        const { value } = await db.selectFrom('flags').select('value').executeTakeFirstOrThrow()
        await new Promise((resolve) => setImmediate(resolve))
        await db
          .updateTable('flags')
          .set({ value: String(Number(value) + 1) })
          .execute()
      })
    await Promise.all(Array.from({ length: 20 }, increment))
    expect(await flags(store)).toEqual({ count: '20' })
  })

  testOfFile('a process that is killed while it writes loses no acknowledged write', async () => {
    const dataDir = temporary()
    const writer = child(
      dataDir,
      `const store = await openStore({ dataDir, passphrase: null, mode: 'create' })
       for (let n = 0; ; n++) {
         await store.write(async (db) => {
           await db.insertInto('people').values({ user_id: n, signed_at: n }).execute()
           await db.insertInto('flags').values({ name: 'half' + n, value: 'x' }).execute()
         })
         console.log(n)
       }`,
    )
    let acknowledged = -1
    while (acknowledged < 40) acknowledged = Number(await writer.line())
    writer.process.kill('SIGKILL')
    for (let rest = await writer.line(); rest !== ''; rest = await writer.line()) {
      acknowledged = Number(rest)
    }
    await gone(writer.process)

    const store = await open(dataDir, { mode: 'existing' })
    const people = await store.read((db) => db.selectFrom('people').select('user_id').execute())
    const halves = await store.read((db) => db.selectFrom('flags').select('name').execute())
    expect(people.length).toBeGreaterThan(acknowledged)
    expect(people.length).toBeLessThanOrEqual(acknowledged + 2)
    expect(halves.length).toBe(people.length)
  })
})
