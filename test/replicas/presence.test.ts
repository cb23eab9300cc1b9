/** That processes have a store open, or alone, by a database that a test plays; and a folder's lock. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { DataDirLock } from '../../src/replicas/data-dir-lock.ts'
import {
  Presence,
  schemaInUse,
  takeAlone,
  type OpenLockServer,
} from '../../src/replicas/open-lock.ts'
import { lockName } from '../../src/replicas/schema.ts'
import { temporary } from '../store/support.ts'

const address = { host: 'db', port: 5432, database: 'd', user: 'u', password: 'secret', tls: null }
const LOCK = lockName('s', 'presence')
const kindOf = (text: string) =>
  /INSERT|DELETE|advisory_unlock|try_advisory|set_config|to_regclass|EXISTS/.exec(text)?.[0]

/** A process whose database gives these answers in turn, and then one that all is free. */
function scene(...answers: object[]) {
  const asked: [kind: string | undefined, parameters: unknown[]][] = []
  const session = {
    isConnected: true,
    generation: 1,
    query: vi.fn(async (text: string, parameters: unknown[] = []) => {
      asked.push([kindOf(text), parameters])
      return []
    }),
  }
  const ask = async (text: string, parameters: unknown[] = []) => {
    asked.push([kindOf(text.replace(/^\s*WITH[^]*?INSERT/, 'INSERT')), parameters])
    return [answers.shift() ?? { taken: true, there: false }]
  }
  const server = { session, ask, address } as unknown as OpenLockServer
  return { server, session, asked }
}

describe('the presence of a process', () => {
  test('is written once, and again where its session was lost', async () => {
    const { server, session, asked } = scene()
    const presence = new Presence(server, 's')
    expect(presence.isHeld).toBe(false)
    await Promise.all([presence.ensure(), presence.ensure()])
    await presence.ensure()
    expect([presence.isHeld, asked]).toEqual([true, [['INSERT', [LOCK]]]])
    session.isConnected = false
    expect(presence.isHeld).toBe(false)
    Object.assign(session, { isConnected: true, generation: 2 })
    expect(presence.isHeld).toBe(false)
    await presence.ensure()
    expect([presence.isHeld, asked.length]).toEqual([true, 2])
  })

  test('is taken away once, where it is there', async () => {
    const { server, asked } = scene()
    const presence = new Presence(server, 's')
    await presence[Symbol.asyncDispose]()
    expect(asked).toEqual([])
    await presence.ensure()
    await presence[Symbol.asyncDispose]()
    await presence[Symbol.asyncDispose]()
    expect([presence.isHeld, asked]).toEqual([
      false,
      [
        ['INSERT', [LOCK]],
        ['DELETE', []],
      ],
    ])
  })

  test('is refused while the store is being moved, and can be written after that', async () => {
    const { server } = scene({ taken: false })
    const presence = new Presence(server, 's')
    await expect(presence.ensure()).rejects.toEqual(schemaInUse(address, 'moved'))
    expect(presence.isHeld).toBe(false)
    await presence.ensure()
    expect(presence.isHeld).toBe(true)
  })
})

describe('a store that a process needs alone', () => {
  const take: [string, unknown[]] = ['try_advisory', [LOCK]]
  const keep: [string, unknown[]] = ['set_config', []]
  const give: [string, unknown[]] = ['advisory_unlock', [LOCK]]
  const find: [string, unknown[]] = ['to_regclass', ['"s".presence']]

  test.each([
    ['is new', [{ taken: true }, {}, { there: false }], [take, keep, find]],
    [
      'nobody has open',
      [{ taken: true }, {}, { there: true }, { open: false }],
      [take, keep, find, ['EXISTS', []]],
    ],
  ])('and that %s is its own until it is given back', async (_what, answers, steps) => {
    const { server, asked } = scene(...answers)
    const alone = await takeAlone(server, 's')
    expect(asked).toEqual(steps)
    await alone[Symbol.asyncDispose]()
    expect(asked).toEqual([...steps, give])
  })

  test.each([
    ['another process has alone', [{ taken: false }], [take]],
    [
      'a sidecar has open',
      [{ taken: true }, {}, { there: true }, { open: true }],
      [take, keep, find, ['EXISTS', []], give],
    ],
  ])('and that %s is refused', async (_what, answers, steps) => {
    const { server, asked } = scene(...answers)
    await expect(takeAlone(server, 's')).rejects.toEqual(schemaInUse(address, 'open'))
    expect(asked).toEqual(steps)
  })
})

test.each([
  ['moved', 'is being moved', 'wait until `postern store move` has ended'],
  ['open', 'is open in a sidecar', 'stop every sidecar of this bot first'],
  ['older', 'must be upgraded, and another sidecar uses it', 'then start the new version'],
] as const)('a store that is in use (%s) is refused: it %s', (why, what, hint) => {
  expect(schemaInUse(address, why)).toMatchObject({
    code: 'store-in-use',
    message: `the store in d at db:5432 as u ${what}`,
    hint: expect.stringContaining(hint) as string,
  })
})

test('a data directory is of one process, by a file that nobody else reads', () => {
  const dataDir = temporary()
  const lock = new DataDirLock(dataDir)
  expect(statSync(join(dataDir, 'sidecar.lock')).mode & 0o777).toBe(0o600)
  const used = { code: 'store-in-use', message: expect.stringContaining(dataDir) as string }
  expect(() => new DataDirLock(dataDir)).toThrow(expect.objectContaining(used) as Error)
  lock[Symbol.dispose]()
  using _again = new DataDirLock(dataDir)
  expect(() => new DataDirLock(join(dataDir, 'none'))).toThrow('ENOENT')
})
