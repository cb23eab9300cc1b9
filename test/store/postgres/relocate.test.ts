/** Moves between ends that a test plays, with the rows of a real store; and ends that are folders. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { fileSource, fileTarget } from '../../../src/store/postgres/move-ends.ts'
import { relocate, type MoveEnd } from '../../../src/store/postgres/move-store.ts'
import { CARRIED_TABLES, type Row, type RowSource } from '../../../src/store/carry.ts'
import { ARRIVING, MOVED_TO, type MoveMark } from '../../../src/store/flags.ts'
import { addKey, flags, open, put, temporary } from '../support.ts'

type Rows = Record<string, Row[]>
const REQUEST = { passphrase: null }
const corrupt = (what: string) => ({
  code: 'store-corrupt',
  message: `the store is damaged: ${what}`,
})
const markOf = (flag: MoveMark['flag'], id = 'i'): MoveMark => ({
  flag,
  id,
  place: 'p',
  at: 'then',
})

/** Fills a folder with a store: a key, a destroyed one, a secret and flags. @returns its master secret */
async function fill(dataDir: string): Promise<string> {
  const store = await open(dataDir, { protection: 'none', isRequired: true })
  await store.secret('seen')
  await addKey(store, 'f1', { state: 'active', locked: 'locked' })
  await addKey(store, 'f2', { state: 'destroyed', locked: '' })
  await put(store, 'nul', 'a\0b')
  const { masterSecret } = store
  await store[Symbol.asyncDispose]()
  return masterSecret ?? ''
}

/** Adds all rows of a source. */
async function addRows(source: RowSource, to: Rows): Promise<void> {
  for (const table of CARRIED_TABLES) {
    const rows: Row[] = []
    for await (const some of source(table)) rows.push(...some)
    to[table] = rows
  }
}

async function storedRows(): Promise<{ rows: Rows; masterSecret: string }> {
  const dataDir = temporary()
  const masterSecret = await fill(dataDir)
  await using end = await fileSource(dataDir, REQUEST)
  const rows: Rows = {}
  await end.withRows((source) => addRows(source, rows))
  return { rows, masterSecret }
}

/** An end in memory. @param arrive what it makes of rows that it receives */
class PlayedEnd implements MoveEnd {
  readonly place: string
  readonly steps: string[]
  rows: Rows | null
  mark: MoveMark | null = null
  arrive = (rows: Rows): Rows => rows

  constructor(place: string, steps: string[], rows: Rows | null) {
    this.place = place
    this.steps = steps
    this.rows = rows
  }

  find() {
    return Promise.resolve({ isStore: this.rows !== null, mark: this.mark })
  }

  withRows<T>(read: (rows: RowSource) => Promise<T>): Promise<T> {
    this.steps.push(`read ${this.place}`)
    return read((table) => [this.rows?.[table] ?? []] as never)
  }

  async receive(source: RowSource, mark: MoveMark): Promise<void> {
    this.steps.push(`fill ${this.place}, ${mark.flag} from ${mark.place}`)
    const rows: Rows = {}
    await addRows(source, rows)
    this.rows = this.arrive(rows)
    this.mark = mark
  }

  setMark(mark: MoveMark | null): Promise<void> {
    this.steps.push(
      mark === null ? `open ${this.place}` : `${this.place} ${mark.flag} ${mark.place}`,
    )
    this.mark = mark
    return Promise.resolve()
  }

  discard(): Promise<void> {
    this.steps.push(`discard ${this.place}`)
    this.rows = null
    return Promise.resolve()
  }

  [Symbol.asyncDispose] = () => Promise.resolve()
}

async function scene(change: (rows: Rows) => void = () => {}) {
  const { rows, masterSecret } = await storedRows()
  change(rows)
  const steps: string[] = []
  const [from, to] = [new PlayedEnd('here', steps, rows), new PlayedEnd('there', steps, null)]
  const tryKey = vi.fn((_key: object, _secret: string) => Promise.resolve())
  const move = () => relocate({ from, to, request: REQUEST, tryKey })
  return { from, to, steps, tryKey, move, masterSecret }
}

const MOVED = [
  'read here',
  'fill there, arriving from here',
  'read there',
  'here moved_to there',
  'open there',
]

describe('`relocate`', () => {
  test('a store move fills the target, opens its secrets and keys, marks the source and then opens the target', async () => {
    const { move, steps, tryKey, from, to, masterSecret } = await scene()
    const { tables, keys } = await move()
    expect([keys, tables?.['own_keys']?.rows, tables?.['secrets']?.rows]).toEqual([1, 2, 1])
    expect(Object.keys(tables ?? {})).toEqual([...CARRIED_TABLES])
    expect(steps).toEqual(MOVED)
    const named = { flag: MOVED_TO, id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string }
    expect(from.mark).toMatchObject({ ...named, at: expect.stringMatching(/Z$/) as string })
    expect([to.mark, to.rows]).toEqual([null, from.rows])
    const key = expect.objectContaining({ fingerprint: 'f1', locked: 'locked' }) as object
    expect(tryKey.mock.calls).toEqual([[key, masterSecret]])
  })

  test.each<[string, object, object, Record<string, string | RegExp>]>([
    [
      'without a store',
      { rows: null },
      {},
      {
        code: 'store-missing',
        message: /no store in here/,
        hint: /^the settings say where the store is that moves/,
      },
    ],
    [
      'from a store that is arriving',
      { mark: markOf(ARRIVING) },
      {},
      { code: 'store-moved', message: /from p into here/ },
    ],
    ['over another store', {}, { rows: {} }, { code: 'refused', message: /there holds a store,/ }],
    [
      'over a store that was moved away',
      {},
      { rows: {}, mark: markOf(MOVED_TO) },
      { code: 'refused', message: /there holds the store that was moved away/ },
    ],
    ['of a store that was moved before', { mark: markOf(MOVED_TO) }, {}, { code: 'store-moved' }],
    [
      'into the new place of another move',
      { mark: markOf(MOVED_TO) },
      { rows: {}, mark: markOf(ARRIVING, 'other') },
      { code: 'store-moved' },
    ],
    [
      'into a new place that is open already',
      { mark: markOf(MOVED_TO) },
      { rows: {}, mark: markOf(MOVED_TO) },
      { code: 'store-moved' },
    ],
  ])('a store move %s is refused before any step', async (_what, here, there, refused) => {
    const { move, steps, from, to } = await scene()
    Object.assign(from, here)
    Object.assign(to, there)
    const refusal = Object.entries(refused).map(([name, text]): [string, unknown] => [
      name,
      expect.stringMatching(text),
    ])
    await expect(move()).rejects.toMatchObject(Object.fromEntries(refusal))
    expect(steps).toEqual([])
  })

  const some = (rows: Rows, table: string, change: (row: Row) => Row): Rows => ({
    ...rows,
    [table]: (rows[table] ?? []).map(change),
  })

  test.each<[string, (rows: Rows) => Rows]>([
    ['own_keys', (rows) => ({ ...rows, own_keys: (rows['own_keys'] ?? []).slice(1) })],
    ['own_keys', (rows) => some(rows, 'own_keys', (row) => ({ ...row, state: 'retired' }))],
    ['secrets', (rows) => some(rows, 'secrets', (row) => ({ ...row, sealed: new Uint8Array(3) }))],
    ['flags', (rows) => ({ ...rows, flags: [{ name: 'other', value: '1' }] })],
  ])(
    'a store move marks no source where the table %s differs in the target',
    async (table, arrive) => {
      const { move, from, to } = await scene()
      to.arrive = arrive
      await expect(move()).rejects.toMatchObject(
        corrupt(`the table ${table} did not arrive as it left`),
      )
      expect([from.mark, to.mark?.flag]).toEqual([null, ARRIVING])
    },
  )

  test('a store move accepts rows and columns in another order, marks, and NUL that the database replaced', async () => {
    const { move, to } = await scene()
    to.arrive = (rows) => ({
      ...some(rows, 'own_keys', (row) => Object.fromEntries(Object.entries(row).toReversed())),
      protection: some(rows, 'protection', (row) => ({ ...row }))['protection'] ?? [],
      flags: [
        { name: ARRIVING, value: 'x' },
        { name: MOVED_TO, value: 'x' },
        { name: 'nul', value: 'a\u{FFFD}b', mac: null },
      ],
      secrets: (rows['secrets'] ?? []).toReversed(),
    })
    expect((await move()).tables?.['flags']?.rows).toBe(1)
  })

  test.each<[string, (rows: Rows) => void]>([
    [
      'a sealed secret was changed',
      ({ secrets = [] }) => Object.assign(secrets[0] ?? {}, { sealed: new Uint8Array(60) }),
    ],
    ['the record of its protection is gone', (rows) => (rows['protection'] = [])],
    [
      'the record of its protection is gone',
      (rows) => Object.assign(rows, { protection: [], secrets: [] }),
    ],
  ])('a store move leaves the source unmarked where %s', async (what, change) => {
    const { move, from, tryKey } = await scene(change)
    await expect(move()).rejects.toMatchObject(corrupt(what))
    expect([from.mark, tryKey.mock.calls]).toEqual([null, []])
  })

  test('a store move of a store without protection moves no key', async () => {
    const none = { protection: [], secrets: [], own_keys: [] }
    const { move, to } = await scene((rows) => Object.assign(rows, none))
    expect((await move()).keys).toBe(0)
    expect(to.mark).toBeNull()
  })

  test('a store move leaves the source unmarked where a key does not open', async () => {
    const { move, from, tryKey } = await scene()
    tryKey.mockRejectedValue(new Error('it does not open'))
    await expect(move()).rejects.toThrow('it does not open')
    expect(from.mark).toBeNull()
  })
})

describe('a data directory as an end of a move', () => {
  const move = async (here: string, there: string) => {
    await using from = await fileSource(here, REQUEST)
    await using to = fileTarget(there)
    return await relocate({ from, to, request: REQUEST, tryKey: async () => {} })
  }

  test('a store move from folder to folder carries every row, leaves no temporary file and closes the source', async () => {
    const [here, there] = [temporary(), join(temporary(), 'new')]
    await fill(here)
    expect((await move(here, there)).tables?.['own_keys']?.rows).toBe(2)
    expect((await flags(await open(there, { mode: 'existing' })))['nul']).toBe('a\0b')
    await expect(open(here, { mode: 'existing' })).rejects.toMatchObject({ code: 'store-moved' })
    expect(readdirSync(there).filter((name) => /unfinished|tmp/.test(name))).toEqual([])
    await expect(move(here, temporary())).rejects.toMatchObject({ code: 'store-moved' })
  })

  test('a folder that is an end of a move is locked for everybody else', async () => {
    const [here, there] = [temporary(), temporary()]
    await fill(here)
    await fill(there)
    const inUse = { code: 'store-in-use' }
    const from = await fileSource(here, REQUEST)
    const to = fileTarget(there)
    await expect(open(here, { mode: 'existing' })).rejects.toMatchObject(inUse)
    await expect(open(there, { mode: 'existing' })).rejects.toMatchObject(inUse)
    expect(() => fileTarget(there)).toThrow(expect.objectContaining(inUse) as Error)
    await from[Symbol.asyncDispose]()
    await to[Symbol.asyncDispose]()
    expect((await open(here, { mode: 'existing' })).method).toBe('none')
    expect((await open(there, { mode: 'existing' })).method).toBe('none')
  })

  test('`discard` of a data directory removes an arriving store and its log', async () => {
    const dataDir = temporary()
    await fill(dataDir)
    const file = join(dataDir, 'postern.db')
    const end = fileTarget(dataDir)
    expect(await end.find()).toEqual({ isStore: true, mark: null })
    await end.setMark(markOf(ARRIVING))
    expect((await end.find()).mark).toEqual(markOf(ARRIVING))
    for (const suffix of ['-wal', '-shm']) writeFileSync(file + suffix, '')
    await end.discard()
    expect(['', '-wal', '-shm'].filter((suffix) => existsSync(file + suffix))).toEqual([])
    expect((await end.find()).isStore).toBe(false)
  })

  test('`receive` of a data directory keeps a store that appeared meanwhile', async () => {
    const dataDir = temporary()
    const end = fileTarget(dataDir)
    await fill(dataDir)
    const rows = (() => []) as unknown as RowSource
    await expect(end.receive(rows, markOf(ARRIVING))).rejects.toThrow('a store appeared meanwhile')
    expect((await open(dataDir, { mode: 'existing' })).method).toBe('none')
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.db'))).toEqual(['postern.db'])
  })
})
