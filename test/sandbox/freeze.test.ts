import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { AT, PAIR } from './seeded.ts'
import { temporaryFolder } from './world-file.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('the control stops the clock, and lets it run on from there', async () => {
  await using sandbox = await createSandbox()
  const { control } = sandbox
  const { now, mode } = await control.setClock({ mode: 'still' })
  expect(mode).toBe('still')
  await pause(5)
  expect(await control.now()).toEqual({ now, mode: 'still' })
  expect(await control.advance({ ms: 1000 })).toEqual({ now: now + 1000, mode: 'still' })
  expect((await control.setClock({ mode: 'running' })).mode).toBe('running')
  await pause(5)
  expect(sandbox.now()).toBeGreaterThan(now + 1000)
})

test('what is scheduled waits while the clock stands, and happens when it runs', async () => {
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

test('a world that stays goes on standing, or running, as it was left', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const left = await (async () => {
    await using sandbox = await createSandbox({ data })
    return await sandbox.control.setClock({ mode: 'still' })
  })()
  await (async () => {
    await using again = await createSandbox({ data })
    expect(await again.control.now()).toEqual(left)
    await again.control.setClock({ mode: 'running' })
  })()
  await using third = await createSandbox({ data })
  expect((await third.control.now()).mode).toBe('running')
})

test('steps that fall due on the way happen at their time, also after one that takes a while', async () => {
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
