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
async function scene(o: { journal?: Pick<Journal, 'append'> } = {}) {
  const dataDir = temporary()
  const openIt = () => openStore({ dataDir, passphrase: null, mode: 'create' })
  let store = await openIt()
  onTestFinished(() => store[Symbol.asyncDispose]())
  return {
    store,
    knownChats: await KnownChats.load(memoryOf(store), o),
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

testOfFile('an unwritten latch counts at once, and is refused until written', async () => {
  const { knownChats, ...stage } = await scene()
  await stage.fill(true)
  for (const kind of ['group', 'group', 'private']) {
    const seen = { ...PROTECTED, kind, isProtected: kind === 'group' }
    await expect(knownChats.saw([seen])).rejects.toMatchObject(UNWRITABLE)
    expect([knownChats.isLatched(50), knownChats.get(50)?.kind]).toEqual([true, kind])
  }
  await stage.fill(false)
  await put(stage.store, 'any', 'x')
  expect((await stage.restart()).isLatched(50)).toBe(true)
})

testOfFile(
  'a new latch is written, and then only compared with other sidecars’ records',
  async () => {
    const { knownChats } = await scene()
    const fails = () => Promise.reject(new Error('out of reach'))
    await knownChats.saw([PROTECTED], fails)
    await expect(knownChats.saw([PROTECTED], fails)).rejects.toThrow('out of reach')
    expect([knownChats.isLatched(50), knownChats.isUnwritten(50)]).toEqual([true, false])
  },
)

testOfFile('an unwritten latch is written before any other record', async () => {
  const { knownChats, ...stage } = await scene()
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

testOfFile('an unwritten latch is written by itself once writing works', async () => {
  const { knownChats, ...stage } = await scene()
  await stage.fill(true)
  await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
  await stage.fill(false)
  const latched = async () =>
    (await stage.store.read((db) => db.selectFrom('chats').select('latched_at').execute())).length
  await expect.poll(latched, { timeout: 10_000 }).toBe(1)
})

testOfFile('the operator lifts a latch only once that can be written', async () => {
  const { knownChats, ...stage } = await scene()
  await stage.fill(true)
  await expect(knownChats.saw([PROTECTED])).rejects.toMatchObject(UNWRITABLE)
  await expect(liftLatches(knownChats, [50])).rejects.toMatchObject(UNWRITABLE)
  await expect(knownChats.refused(50)).rejects.toMatchObject(UNWRITABLE)
  expect(knownChats.get(50)).toMatchObject({ refusedAtMs: null })
  expect(knownChats.isLatched(50)).toBe(true)
  await stage.fill(false)
  expect(await liftLatches(knownChats, [50])).toEqual([50])
  expect(knownChats.isLatched(50)).toBe(false)
  await knownChats.saw([PROTECTED])
  expect((await stage.restart()).isLatched(50)).toBe(true)
})

testOfFile('a private chat and its first person count before they are written', async () => {
  const { knownChats, ...stage } = await scene()
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

testOfFile('a latch counts as written only together with its journal entry', async () => {
  const append = vi.fn(() => Promise.reject(new Error('no room for the journal')))
  const journal = { append: append as unknown as Journal['append'] }
  const { knownChats, ...stage } = await scene({ journal })
  await expect(knownChats.saw([PROTECTED])).rejects.toThrow()
  expect([knownChats.isLatched(50), knownChats.isUnwritten(50)]).toEqual([true, true])
  await expect(knownChats.saw([PROTECTED])).rejects.toThrow()
  append.mockImplementation(() => Promise.resolve(() => {}) as never)
  await knownChats.saw([PROTECTED])
  expect((await stage.restart()).isLatched(50)).toBe(true)
})
