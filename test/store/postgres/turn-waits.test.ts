/** Waits for turns, and the division of turns, by a database that a test plays. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lockName } from '../../../src/store/postgres/schema.ts'
import type { Session } from '../../../src/store/postgres/session.ts'
import { TurnWaits } from '../../../src/store/postgres/turn-waits.ts'
import { Listeners } from '../../../src/util/listeners.ts'

const POLL = 'poll'
const turn = (): Promise<void> => new Promise(setImmediate)

/** A process whose database answers what the fields say. */
function scene() {
  const notified = new Listeners<string>()
  const asked: [kind: string, parameters: unknown[]][] = []
  const database = {
    /** Who has a turn that somebody waits for. */
    holder: 9,
    dead: [] as number[],
    /** It does not answer who asks for a turn. */
    isSilent: false,
  }
  const ask = async (text: string, parameters: unknown[] = []) => {
    asked.push([/pg_notify|UPDATE|SELECT process/.exec(text)?.[0] ?? '', parameters])
    if (text.startsWith('UPDATE')) {
      if (database.isSilent) await new Promise(() => {})
      return [{ process: database.holder }]
    }
    return database.dead.map((process) => ({ process }))
  }
  const session = { onNotified: notified.add, onLost: () => {}, query: ask } as unknown as Session
  const waits = new TurnWaits({ session, ask: ask as never })
  const free: string[] = []
  const { signal } = new AbortController()
  /** Waits for the turn of a schema. */
  const wait = async (...schemas: string[]) => {
    for (const schema of schemas) {
      void waits.untilFree(schema, POLL, signal).then(() => free.push(schema))
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
  return { waits, database, notified, free, wait, beat, nameOf, given }
}

describe('`TurnWaits.untilFree`', () => {
  test('a wait for a turn that was released for another process ends a second later', async () => {
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
})

describe('`TurnWaits` and the division of turns', () => {
  const names = (notes: string[][]) => notes.map(([, name]) => name)

  test('a process with too few turns requests half of the missing turns at each beat', async () => {
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

  test('a process with too few turns requests them from the process with the most turns', async () => {
    const { wait, beat, database, nameOf } = scene()
    database.holder = 8
    await wait('a')
    database.holder = 9
    await wait('b', 'c', 'd')
    expect(names(await beat())).toEqual([nameOf('b')])
  })

  test('a process requests no turns while no holder is known', async () => {
    const { wait, beat, database } = scene()
    await wait('a')
    database.isSilent = true
    await wait('b')
    database.dead = [9]
    expect(await beat()).toEqual([])
  })

  test('a request for a turn of this process is passed on until that turn is released', () => {
    const { waits, notified } = scene()
    const heirs: string[] = []
    const end = waits.offer('mine', (heir) => heirs.push(heir))
    for (const note of ['?one mine', '?one other', 'two mine', '?', 'mine']) notified.emit(note)
    end()
    notified.emit('?three mine')
    expect(heirs).toEqual(['one'])
  })
})
