import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { AT, PAIR } from './seeded.ts'
import { temporaryFolder } from './world-file.ts'
import { homeScene } from './support.ts'

const DAY_MS = 86_400_000
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('`setClock` stops the clock, and starts it again from its time', async () => {
  const { sandbox, control } = await homeScene({ clock: 'running' })
  const { now, mode } = await control.setClock({ mode: 'still' })
  expect(mode).toBe('still')
  await pause(5)
  expect(await control.now()).toEqual({ now, mode: 'still' })
  expect(await control.advance({ ms: 1000 })).toEqual({ now: now + 1000, mode: 'still' })
  expect((await control.setClock({ mode: 'running' })).mode).toBe('running')
  await pause(5)
  expect(sandbox.now()).toBeGreaterThan(now + 1000)
})

test('a scheduled step waits while the clock is stopped, and runs once it is started', async () => {
  await using sandbox = await createSandbox({
    world: {
      ...PAIR,
      clock: { at: AT, mode: 'still' },
      schedule: [{ at: '10ms', post: { userId: 'alice', chatId: 'dm', text: 'there' } }],
    },
  })
  await pause(30)
  expect((await sandbox.control.schedule()).left).toBe(1)
  await sandbox.control.setClock({ mode: 'running' })
  await expect.poll(async () => (await sandbox.control.schedule()).left).toBe(0)
})

test('a world reopened from its file has its clock stopped or running as before, with its advances', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const left = await (async () => {
    await using sandbox = await createSandbox({ data })
    return await sandbox.control.setClock({ mode: 'still' })
  })()
  await (async () => {
    await using again = await createSandbox({ data })
    expect(await again.control.now()).toEqual(left)
    await again.control.setClock({ mode: 'running' })
    await again.advance(3 * DAY_MS)
  })()
  await using third = await createSandbox({ data })
  expect((await third.control.now()).mode).toBe('running')
  expect(third.now() - left.now).toBeGreaterThanOrEqual(3 * DAY_MS)
})

test('scheduled steps run at their time during an advance, also after a slow step', async () => {
  await using sandbox = await createSandbox({
    world: {
      ...PAIR,
      people: { alice: {} },
      clock: { at: AT, mode: 'still' },
      schedule: [
        { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'one' } },
        { at: '3s', newKey: { userId: 'alice', kind: 'rsa3072' } },
        { at: '7s', post: { userId: 'alice', chatId: 'dm', text: 'two' } },
      ],
    },
  })
  await sandbox.advance(60_000)
  const messages = await sandbox.control.messages({ chatId: sandbox.chats[0]?.id ?? 0 })
  expect(messages.map(({ date }) => date - Date.parse(AT))).toEqual([2000, 7000])
})
