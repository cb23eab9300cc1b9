import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'
import { AT, PAIR, pairWith, still, texts, token } from './seeded.ts'
import { ask, BUTTON, outcome } from './support.ts'
import { observableState, temporaryFolder } from './world-file.ts'

const MINUTE_MS = 60_000

test('scheduled steps run at their time and in their order, and `last` names the newest message', async () => {
  await using sandbox = await still({
    ...pairWith([{ from: 'echo_bot', text: 'press', markup: BUTTON }]),
    schedule: [
      { at: '10s', post: { userId: 'alice', chatId: 'dm', text: 'third' } },
      { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'first' } },
      { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'second', replyTo: 'last' } },
      { at: '3s', press: { userId: 'alice', chatId: 'dm', messageId: 'last by echo_bot' } },
      { at: '1h', pause: { botId: 'echo_bot' } },
    ],
  })
  const { control } = sandbox
  await control.advance({ ms: 1999 })
  expect(await texts(sandbox)).toEqual(['press'])
  await control.advance({ ms: 1 })
  expect(await texts(sandbox)).toEqual(['press', 'first', 'second'])
  await control.advance({ ms: 7999 })
  expect(await control.schedule({})).toMatchObject({ left: 2, errors: [] })
  await control.advance({ ms: 1 })
  expect(await texts(sandbox)).toEqual(['press', 'first', 'second', 'third'])
  const as = { token: token(sandbox) }
  const { result } = await ask<{ kind: string }[]>(sandbox, 'GET /updates', as)
  expect(result.map(({ kind }) => kind)).toEqual([
    'message',
    'message',
    'callback_query',
    'message',
  ])
  expect(result[1]).toMatchObject({ message: { replyTo: { text: 'first' } } })
  await control.advance({ ms: 60 * MINUTE_MS })
  expect(await outcome(sandbox, 'GET /updates', as)).toBe('bot_paused')
})

test('a failed step is reported, and the next step runs', async () => {
  const reported: string[] = []
  await using sandbox = await createSandbox({
    world: {
      ...PAIR,
      clock: { mode: 'still' },
      schedule: [
        { at: '1s', press: { userId: 'alice', chatId: 'dm', messageId: 'last' } },
        { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'still here' } },
      ],
    },
    onStepError: ({ action, reason }) => reported.push(`${action}: ${reason}`),
  })
  await sandbox.control.advance({ ms: 5000 })
  expect(reported).toEqual(['press: there is no such message'])
  expect(await sandbox.control.schedule({})).toMatchObject({
    left: 0,
    errors: [{ action: 'press', reason: 'there is no such message' }],
  })
  expect(await texts(sandbox)).toEqual(['still here'])
})

test('a world file keeps the record names of its first version', async () => {
  const data = join(temporaryFolder(), 'a.world')
  await (async () => {
    await using _sandbox = await createSandbox({
      world: { ...PAIR, schedule: [{ at: '1h', pause: { botId: 'echo_bot' } }] },
      data,
    })
  })()
  const database = new DatabaseSync(data, { readOnly: true })
  const rows = database.prepare('SELECT kind, value FROM records').all()
  database.close()
  const step = rows.find(({ kind }) => kind === 'step')
  expect(JSON.parse(String(step?.['value']))).toEqual({
    atMs: expect.any(Number) as number,
    deed: 'pause',
    input: { botId: expect.any(Number) as number },
  })
  expect(rows.filter(({ kind }) => kind === 'seat')).toHaveLength(2)
})

test('an existing world ignores a seed and continues its own schedule', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const seed: SeedInput = {
    ...PAIR,
    clock: { at: AT, mode: 'still' },
    schedule: [
      { at: '1s', post: { userId: 'alice', chatId: 'dm', text: 'before' } },
      { at: '9s', post: { userId: 'alice', chatId: 'dm', text: 'after' } },
    ],
  }
  const before = await (async () => {
    await using sandbox = await createSandbox({ world: seed, data })
    expect(sandbox.isNew).toBe(true)
    await sandbox.control.advance({ ms: 2000 })
    return await observableState(sandbox)
  })()
  await using again = await createSandbox({ world: { people: { zoe: {} } }, data })
  expect(again.isNew).toBe(false)
  expect(await observableState(again)).toEqual(before)
  await again.control.advance({ ms: 7000 })
  expect(await texts(again)).toEqual(['before', 'after'])
})
