import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'
import { send } from './support.ts'
import { copyAsLeftByKill, observableState, temporaryFolder } from './world-file.ts'

const inFile = async (options: SandboxOptions = {}) => {
  const data = join(temporaryFolder(), 'a.world')
  return { data, sandbox: await createSandbox({ clock: 'still', data, ...options }) }
}

const post = (sandbox: Sandbox, text: string) =>
  sandbox.control.post({ userId: sandbox.home.alice.id, chatId: sandbox.home.privateChat, text })

test('a restored snapshot replaces the file of the world before the answer', async () => {
  const { data, sandbox: opened } = await inFile()
  await using sandbox = opened
  await post(sandbox, 'one')
  sandbox.snapshot('one')
  const kept = await observableState(sandbox)
  await post(sandbox, 'two')
  await sandbox.control.addMedia({ base64: 'AAEC' })
  await sandbox.restore('one')
  await using left = await createSandbox({ data: copyAsLeftByKill(data) })
  expect(await observableState(left)).toEqual(kept)
  expect(left.home).toEqual(sandbox.home)
})

test('a world reopened after a reset has the changes since the reset', async () => {
  const { data, sandbox } = await inFile()
  await post(sandbox, 'one')
  await sandbox.reset()
  await post(sandbox, 'two')
  await send(sandbox, sandbox.home.readableGroup, { text: 'three' })
  const kept = await observableState(sandbox)
  await sandbox[Symbol.asyncDispose]()
  await using again = await createSandbox({ data })
  expect(await observableState(again)).toEqual(kept)
  const queued = await again.control.queued({ botId: again.home.bot.id })
  expect(queued).toMatchObject([{ message: { text: 'two' } }])
})

test('`reset` restores the world as this sandbox read it from the file', async () => {
  const { data, sandbox: first } = await inFile()
  await post(first, 'one')
  await first[Symbol.asyncDispose]()
  await using second = await createSandbox({ data })
  const opened = await observableState(second)
  await post(second, 'two')
  await second.reset()
  expect(await observableState(second)).toEqual(opened)
})

test('a restore that fails on a full disk leaves the world and its file unchanged and usable', async () => {
  const { data, sandbox: opened } = await inFile()
  await using sandbox = opened
  await post(sandbox, 'one')
  sandbox.snapshot('one')
  await post(sandbox, 'two')
  const before = await observableState(sandbox)
  const exec = Reflect.get(DatabaseSync.prototype, 'exec')
  DatabaseSync.prototype.exec = function refuse(sql: string) {
    if (sql === 'DELETE FROM records') throw Object.assign(new Error('full'), { errcode: 13 })
    exec.call(this, sql)
  }
  try {
    await expect(sandbox.restore('one')).rejects.toThrow('the disk is full')
  } finally {
    DatabaseSync.prototype.exec = exec
  }
  expect(await observableState(sandbox)).toEqual(before)
  await post(sandbox, 'three')
  const kept = await observableState(sandbox)
  {
    await using left = await createSandbox({ data: copyAsLeftByKill(data) })
    expect(await observableState(left)).toEqual(kept)
  }
  await sandbox.restore('one')
  expect(await sandbox.control.queued({ botId: sandbox.home.bot.id })).toHaveLength(1)
})

test('a change during a reset reaches neither the new world nor the file', async () => {
  const { data, sandbox: opened } = await inFile({ rates: 'off' })
  await using sandbox = opened
  const before = await observableState(sandbox)
  const calls = Array.from({ length: 30 }, (_, n) => post(sandbox, `late ${n}`))
  await sandbox.reset()
  await Promise.allSettled(calls)
  expect(await observableState(sandbox)).toEqual(before)
  await using left = await createSandbox({ data: copyAsLeftByKill(data) })
  expect(await observableState(left)).toEqual(before)
})
