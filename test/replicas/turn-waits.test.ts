/** Waits for turns, and the division of turns, by a database that a test plays. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lockName } from '../../src/replicas/schema.ts'
import type { Session } from '../../src/replicas/session.ts'
import { TurnWaits } from '../../src/replicas/turn-waits.ts'
import { Listeners } from '../../src/util/listeners.ts'

const POLL = 'poll'
const turn = (): Promise<void> => new Promise(setImmediate)

/** A process whose database answers what the fields say. */
function scene() {
  const notified = new Listeners<string>()
  const lost = new Listeners<'ended'>()
  const asked: [kind: string, parameters: unknown[]][] = []
  const database = {
    /** Who has a turn that somebody waits for; null: nobody. */
    holder: 9 as number | null | Error,
    dead: [] as number[],
    wanted: [] as boolean[],
    /** It does not answer who asks for a turn. */
    isSilent: false,
  }
  const rowsFor = (text: string): object[] => {
    if (database.holder instanceof Error) throw database.holder
    if (text.startsWith('UPDATE'))
      return database.holder === null ? [] : [{ process: database.holder }]
    if (text.startsWith('SELECT process')) return database.dead.map((process) => ({ process }))
    return database.wanted.map((wanted) => ({ wanted }))
  }
  const ask = async (text: string, parameters: unknown[] = []) => {
    asked.push([
      /pg_notify|UPDATE|SELECT process|SELECT wanted|SELECT 1/.exec(text)?.[0] ?? '',
      parameters,
    ])
    if (database.isSilent && text.startsWith('UPDATE')) await new Promise(() => {})
    return rowsFor(text)
  }
  const session = { onNotified: notified.add, onLost: lost.add, query: ask } as unknown as Session
  const waits = new TurnWaits({ session, ask: ask as never })
  const free: string[] = []
  const stop = new AbortController()
  /** Waits for the turn of a schema. */
  const wait = async (...schemas: string[]) => {
    for (const schema of schemas) {
      void waits.untilFree(schema, POLL, stop.signal).then(() => free.push(schema))
    }
    await turn()
  }
  /** Names that are asked for at the next beat, and the name of this process. */
  const beat = async () => {
    asked.length = 0
    await waits.ask()
    const [, [notes] = []] = asked.find(([kind]) => kind === 'pg_notify') ?? []
    return ((notes ?? []) as string[]).map((note) => note.replace('?', '').split(' '))
  }
  const nameOf = (schema: string) => lockName(schema, POLL)
  const given = async (schema: string, heir = '') => {
    notified.emit(`${heir} ${nameOf(schema)}`)
    await turn()
  }
  return { waits, database, asked, notified, lost, free, stop, wait, beat, nameOf, given }
}

describe('a wait for a turn', () => {
  test('ends when the turn is given back, and not when another is', async () => {
    const { wait, given, free, asked, nameOf } = scene()
    await wait('a')
    expect(asked).toEqual([['UPDATE', [POLL]]])
    await given('b')
    expect(free).toEqual([])
    await given('a')
    expect(free).toEqual(['a'])
    expect(nameOf('a')).not.toBe(nameOf('b'))
  })

  test('ends a second later when it was given back for another process', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { wait, given, free, beat } = scene()
    await wait('a', 'b', 'c', 'd')
    const [[own = ''] = []] = await beat()
    expect(own).toMatch(/^[0-9a-f-]{36}$/)
    await given('a', own)
    await given('b', 'another')
    expect(free).toEqual(['a'])
    vi.advanceTimersByTime(999)
    await turn()
    expect(free).toEqual(['a'])
    vi.advanceTimersByTime(1)
    await turn()
    expect(free).toEqual(['a', 'b'])
  })

  test.each<[string, (o: ReturnType<typeof scene>) => unknown]>([
    ['nobody has the turn', ({ database }) => (database.holder = null)],
    ['the database does not answer', ({ database }) => (database.holder = new Error('lost'))],
    ['the wait is given up', ({ stop }) => stop.abort()],
  ])('ends at once where %s', async (_why, change) => {
    const all = scene()
    change(all)
    await all.wait('a')
    expect(all.free).toEqual(['a'])
  })

  test.each<[string, (o: ReturnType<typeof scene>) => unknown]>([
    ['the session is lost', ({ lost }) => lost.emit('ended')],
    ['it is given up', ({ stop }) => stop.abort()],
  ])('ends when %s', async (_why, change) => {
    const all = scene()
    await all.wait('a', 'b')
    expect(all.free).toEqual([])
    change(all)
    await turn()
    expect(all.free).toEqual(['a', 'b'])
    await all.beat()
    expect(all.asked).toEqual([['SELECT 1', []]])
  })

  test('ends at the beat that finds its holder dead', async () => {
    const { wait, database, beat, free, asked } = scene()
    await wait('a', 'b')
    database.holder = 8
    await wait('c')
    database.dead = [8]
    await beat()
    await turn()
    expect(asked[0]).toEqual(['SELECT process', [[9, 8]]])
    expect(free).toEqual(['c'])
  })
})

test.each([
  ['that nobody waits at', []],
  ['at which somebody waits', ['a']],
])('a beat %s fails with the database', async (_what, schemas) => {
  const { wait, waits, database } = scene()
  await wait(...schemas)
  database.holder = new Error('lost')
  await expect(waits.ask()).rejects.toThrow('lost')
})

describe('turns', () => {
  const names = (notes: string[][]) => notes.map(([, name]) => name)

  test('are asked for by a process that has too few, half of them at each beat', async () => {
    const { wait, beat, nameOf, waits } = scene()
    expect(await beat()).toEqual([])
    await wait('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
    expect(names(await beat())).toEqual([nameOf('a'), nameOf('b')])
    for (const schema of ['i', 'j', 'k']) waits.offer(nameOf(schema), () => {})
    expect(names(await beat())).toEqual([nameOf('a')])
    const ends = ['l', 'm'].map((schema) => waits.offer(nameOf(schema), () => {}))
    expect(names(await beat())).toEqual([nameOf('a')])
    waits.offer(nameOf('n'), () => {})
    waits.offer(nameOf('o'), () => {})
    expect(await beat()).toEqual([])
    for (const end of ends) end()
    expect(names(await beat())).toEqual([nameOf('a')])
  })

  test('are asked for of the process that has most', async () => {
    const { wait, beat, database, nameOf } = scene()
    database.holder = 8
    await wait('a')
    database.holder = 9
    await wait('b', 'c', 'd')
    expect(names(await beat())).toEqual([nameOf('b')])
  })

  test('are not asked for while nobody is known to have them', async () => {
    const { wait, beat, database } = scene()
    await wait('a')
    database.isSilent = true
    await wait('b')
    database.dead = [9]
    expect(await beat()).toEqual([])
  })

  test('of this process are asked for by their names, until it has them no more', () => {
    const { waits, notified } = scene()
    const heirs: string[] = []
    const end = waits.offer('mine', (heir) => heirs.push(heir))
    for (const note of ['?one mine', '?one other', 'two mine', '?', 'mine']) notified.emit(note)
    end()
    notified.emit('?three mine')
    expect(heirs).toEqual(['one'])
  })

  test('are wanted where the database has it so', async () => {
    const { waits, database, asked } = scene()
    const isWanted = () => waits.isWanted('a', POLL)
    expect(await isWanted()).toBe(false)
    database.wanted = [false]
    expect(await isWanted()).toBe(false)
    database.wanted = [true]
    expect(await isWanted()).toBe(true)
    expect(asked[0]).toEqual(['SELECT wanted', [POLL]])
  })
})
