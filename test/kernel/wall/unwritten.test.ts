/** What the service said of a chat while the store could not be written. */
import { sql } from 'kysely'
import { expect, onTestFinished, vi } from 'vitest'
import type { Journal } from '../../../src/kernel/people/journal.ts'
import { liftLatches } from '../../../src/kernel/wall/chat-decisions.ts'
import { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { put, temporary, testOfFile } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const UNWRITABLE = { code: 'postern_store_unwritable' }
const PROTECTED = { chatId: 50, kind: 'group', isProtected: true }

/** A store in a file that can be made to refuse every write, and opened again. */
async function scene() {
  const dataDir = temporary()
  const openIt = () => openStore({ dataDir, passphrase: null, mode: 'create' })
  let store = await openIt()
  onTestFinished(() => store[Symbol.asyncDispose]())
  return {
    get store() {
      return store
    },
    fill: (isFull: boolean) => setFull(store, isFull),
    restart: async () => {
      await store[Symbol.asyncDispose]()
      store = await openIt()
      return await KnownChats.load(memoryOf(store))
    },
  }
}

async function setFull(store: Store, isFull: boolean): Promise<void> {
  await store.read((db) => sql.raw(`PRAGMA query_only = ${isFull ? 1 : 0}`).execute(db))
}

testOfFile(
  'a chat that was seen protected is latched at once, although that is refused',
  async () => {
    const { store, fill } = await scene()
    const knownChats = await KnownChats.load(memoryOf(store))
    await fill(true)
    await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
    expect([knownChats.isLatched(50), knownChats.get(50)?.kind]).toEqual([true, 'group'])
    expect(knownChats.all.map(({ id }) => id)).toEqual([50])
  },
)

testOfFile('it is refused again, and not taken for known, until it is written', async () => {
  const stage = await scene()
  const knownChats = await KnownChats.load(memoryOf(stage.store))
  await stage.fill(true)
  await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
  await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
  await stage.fill(false)
  await knownChats.saw([PROTECTED])
  expect((await stage.restart()).isLatched(50)).toBe(true)
})

testOfFile('it is written although what others wrote cannot be read', async () => {
  const stage = await scene()
  const knownChats = await KnownChats.load(memoryOf(stage.store))
  const fails = () => Promise.reject(new Error('out of reach'))
  await expect(knownChats.saw([PROTECTED], fails)).rejects.toThrow('out of reach')
  expect([knownChats.isLatched(50), knownChats.isUnwritten(50)]).toEqual([true, false])
})

testOfFile('it is written before anything else is', async () => {
  const stage = await scene()
  const knownChats = await KnownChats.load(memoryOf(stage.store))
  for (const write of [
    () => put(stage.store, 'written', 'x'),
    () =>
      stage.store.note((db) =>
        db.insertInto('flags').values({ name: 'noted', value: 'x' }).execute(),
      ),
  ]) {
    await liftLatches(knownChats, [50])
    await stage.fill(true)
    await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
    await stage.fill(false)
    await write()
    const [row] = await stage.store.read((db) => db.selectFrom('chats').selectAll().execute())
    expect(row?.latched_at).not.toBeNull()
  }
  expect((await stage.restart()).isLatched(50)).toBe(true)
})

testOfFile('it is written by itself once writing works', async () => {
  const stage = await scene()
  const knownChats = await KnownChats.load(memoryOf(stage.store))
  await stage.fill(true)
  await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
  await stage.fill(false)
  const latched = async () =>
    (await stage.store.read((db) => db.selectFrom('chats').select('latched_at').execute())).length
  await expect.poll(latched, { timeout: 10_000 }).toBe(1)
})

testOfFile(
  'the operator’s word counts after it: what was seen before is lifted, what comes later is not',
  async () => {
    const stage = await scene()
    const knownChats = await KnownChats.load(memoryOf(stage.store))
    await stage.fill(true)
    await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
    await expect(liftLatches(knownChats, [50])).rejects.toMatchObject(UNWRITABLE)
    expect(knownChats.isLatched(50)).toBe(true)
    await stage.fill(false)
    expect(await liftLatches(knownChats, [50])).toEqual([50])
    expect(knownChats.isLatched(50)).toBe(false)
    await knownChats.saw([PROTECTED])
    expect((await stage.restart()).isLatched(50)).toBe(true)
  },
)

testOfFile('a private chat and its person count at once, the first person of several', async () => {
  const stage = await scene()
  const knownChats = await KnownChats.load(memoryOf(stage.store))
  await stage.fill(true)
  const saw = (userId: number) =>
    knownChats.saw([
      { chatId: 7, kind: 'private' },
      { chatId: 7, userId },
    ])
  await expect(saw(11)).rejects.toMatchObject(UNWRITABLE)
  await expect(saw(12)).rejects.toMatchObject(UNWRITABLE)
  expect(knownChats.personOf(7)).toBe(11)
  await stage.fill(false)
  await put(stage.store, 'any', 'x')
  expect((await stage.restart()).personOf(7)).toBe(11)
})

testOfFile('the memory of a chat never runs ahead of a write that fails', async () => {
  const stage = await scene()
  const knownChats = await KnownChats.load(memoryOf(stage.store))
  await knownChats.saw([PROTECTED])
  await stage.fill(true)
  await expect(liftLatches(knownChats, [50])).rejects.toMatchObject(UNWRITABLE)
  await expect(knownChats.refused(50)).rejects.toMatchObject(UNWRITABLE)
  expect(knownChats.get(50)).toMatchObject({ refusedAtMs: null })
  expect(knownChats.isLatched(50)).toBe(true)
})

testOfFile('it counts as written only once all of its write is, with the journal', async () => {
  const stage = await scene()
  const append = vi.fn(() => Promise.reject(new Error('no room for the journal')))
  const journal = { append: append as unknown as Journal['append'] }
  const knownChats = await KnownChats.load(memoryOf(stage.store), { journal })
  await expect(knownChats.saw([PROTECTED])).rejects.toThrow()
  expect([knownChats.isLatched(50), knownChats.isUnwritten(50)]).toEqual([true, true])
  await expect(knownChats.saw([PROTECTED])).rejects.toThrow()
  append.mockImplementation(() => Promise.resolve(() => {}) as never)
  await knownChats.saw([PROTECTED])
  expect((await stage.restart()).isLatched(50)).toBe(true)
})

testOfFile('chats beyond the number that is remembered are not held either', async () => {
  const { store, fill } = await scene()
  const full = vi.fn()
  const knownChats = await KnownChats.load(memoryOf(store), { maxChats: 1 })
  knownChats.onFull(full)
  await fill(true)
  for (const chatId of [1, 2]) {
    await expect(knownChats.saw([{ ...PROTECTED, chatId }])).rejects.toMatchObject(UNWRITABLE)
  }
  expect(knownChats.all.map(({ id }) => id)).toEqual([1])
})
