import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { child, flags, gone, newStore, open, put, temporary } from './support.ts'

const WORD = 'locked-secret-key-'.repeat(200)

/** The files of a directory in which the word can be found. */
function holding(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => readFileSync(join(dataDir, name)).includes(WORD))
}

const drop = (name: string) => `store.write((db) =>
  db.deleteFrom('flags').where('name', '=', '${name}').execute())`

test('a deleted value is in no file of the store after a scrub', async () => {
  const { dataDir, store } = await newStore()
  await put(store, 'kept', 'still here')
  await put(store, 'secret', WORD)
  expect(holding(dataDir)).toEqual(['postern.db-wal'])
  await store.scrub()
  expect(holding(dataDir)).toEqual(['postern.db'])
  await store.write((db) => db.deleteFrom('flags').where('name', '=', 'secret').execute())
  await store.scrub()
  expect(holding(dataDir)).toEqual([])
  expect(await flags(store)).toMatchObject({ kept: 'still here' })
})

test('a store keeps every write during repeated scrubs', async () => {
  const { store } = await newStore()
  const names = Array.from({ length: 60 }, (_, n) => `n${n}`)
  await Promise.all(
    names.map(async (name, n) => {
      await put(store, name, name)
      if (n % 7 === 0) await store.scrub()
    }),
  )
  expect(Object.keys(await flags(store)).toSorted()).toEqual(names.toSorted())
})

test('a process that is killed after a scrub keeps the writes before and after the scrub', async () => {
  const dataDir = temporary()
  const { process, line } = child(
    dataDir,
    `const store = await openStore({ dataDir, passphrase: null, mode: 'create' })
     const put = (name) => store.write((db) =>
       db.insertInto('flags').values({ name, value: name }).execute())
     await put('before')
     await put('dropped')
     await ${drop('dropped')}
     await store.scrub()
     await put('after')
     console.log('done')
     setInterval(() => {}, 1000)`,
  )
  expect(await line()).toBe('done')
  process.kill('SIGKILL')
  await gone(process)
  const store = await open(dataDir)
  expect(await flags(store)).toEqual({ before: 'before', after: 'after' })
})
