import { expect, onTestFinished, test, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { A_KEY, ask, homeScene, outcome, send, still } from './support.ts'
import { createReceiver } from '../contract/receiver.ts'
import { observableState } from './world-file.ts'

/** Lets much happen in a world. */
async function live(sandbox: Sandbox): Promise<void> {
  const { control, home } = sandbox
  await ask(sandbox, 'PUT /key', { body: A_KEY })
  await send(sandbox, home.readableGroup)
  await control.post({ userId: home.alice.id, chatId: home.readableGroup, text: '@echo_bot hi' })
  await control.leave({ chatId: home.encryptedGroup, userId: home.bob.id })
  await control.renamePerson({ userId: home.bob.id, username: 'robert' })
  await control.addPerson({ username: 'carol' })
  await control.addBot({ username: 'other_bot' })
  await control.issueToken({ botId: home.bot.id })
  await control.block({ userId: home.alice.id, botId: home.bot.id })
  await control.advance({ ms: 5000 })
}

test('`reset` restores the state, clock and home of the start', async () => {
  await using sandbox = await still()
  const before = await observableState(sandbox)
  const [nowMs, { home }] = [sandbox.now(), sandbox]
  await live(sandbox)
  expect(await observableState(sandbox)).not.toEqual(before)
  await sandbox.reset()
  expect(await observableState(sandbox)).toEqual(before)
  expect([sandbox.now(), sandbox.home]).toEqual([nowMs, home])
  expect(await outcome(sandbox, 'GET /me')).toBe(200)
  expect(await outcome(sandbox, 'GET /resolve/carol')).toBe('username_not_found')
})

test('the same calls have the same results after each reset', async () => {
  await using sandbox = await still()
  const lives: unknown[] = []
  for (let n = 0; n < 3; n++) {
    const { token } = sandbox
    await live(sandbox)
    const { bots: _random, transcript: _dated, ...rest } = await observableState(sandbox)
    lives.push({ token, rest })
    await sandbox.reset()
  }
  expect(lives[1]).toEqual(lives[0])
  expect(lives[2]).toEqual(lives[0])
})

test('`restore` restores a snapshot any number of times', async () => {
  const { sandbox, control, home } = await homeScene()
  await control.leave({ chatId: home.encryptedGroup, userId: home.bob.id })
  const post = { userId: home.bob.id, chatId: home.readableGroup, text: '@echo_bot hello' }
  await control.post(post)
  const kept = await observableState(sandbox)
  const name = sandbox.snapshot()
  const offset = (await control.queued({ botId: home.bot.id })).at(-1)?.updateId ?? 0
  const commands = [{ command: 'a', description: 'b' }]
  for (let n = 0; n < 2; n++) {
    await control.renamePerson({ userId: home.bob.id, username: 'bobby' })
    await control.post(post)
    await ask(sandbox, `GET /updates?offset=${offset + 1}`)
    await ask(sandbox, 'PUT /commands', { body: { commands } })
    await sandbox.restore(name)
    expect(await observableState(sandbox)).toEqual(kept)
    expect((await ask(sandbox, 'GET /commands')).result).toEqual([])
    sandbox.transcript.clear()
    kept.transcript = []
  }
})

test('snapshots are listed, replaced and deleted by name', async () => {
  const { sandbox, control } = await homeScene()
  const names = async () => (await control.snapshots()).map(({ name }) => name)
  expect(await control.snapshot({ name: 'a' })).toEqual({ name: 'a' })
  expect(await control.snapshot()).toEqual({ name: 'snapshot-1' })
  expect(await names()).toEqual(['a', 'snapshot-1'])
  await control.addPerson({ username: 'carol' })
  await control.snapshot({ name: 'a' })
  expect(await names()).toEqual(['snapshot-1', 'a'])
  await sandbox.reset()
  await control.restore({ name: 'a' })
  expect(sandbox.people.map(({ username }) => username)).toContain('carol')
  await control.removeSnapshot({ name: 'a' })
  expect(await names()).toEqual(['snapshot-1'])
  await expect(control.restore({ name: 'a' })).rejects.toThrow('there is no snapshot a')
  await expect(control.removeSnapshot({ name: 'a' })).rejects.toThrow('there is no snapshot a')
})

test('a reset ends a poll with an empty answer, and the next poll reads the new world', async () => {
  await using sandbox = await createSandbox()
  const poll = ask<unknown[]>(sandbox, 'GET /updates?timeout=50')
  await expect.poll(() => sandbox.transcript.list().length).toBe(1)
  await sandbox.reset()
  expect((await poll).result).toEqual([])
  const next = ask<unknown[]>(sandbox, 'GET /updates?timeout=50')
  await expect.poll(() => sandbox.transcript.list().length).toBe(1)
  const { alice, privateChat } = sandbox.home
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'hello' })
  expect((await next).result).toMatchObject([{ message: { text: 'hello' } }])
})

test('faults end at a restore, and those of a seed begin anew at a reset', async () => {
  await using sandbox = await createSandbox({
    world: {
      bots: { echo_bot: {} },
      faults: [{ name: 'error', route: 'getMe', times: 1, status: 500, code: 'internal' }],
    },
  })
  const [bot] = sandbox.bots
  const me = () => outcome(sandbox, 'GET /me', { token: bot?.token ?? '' })
  sandbox.snapshot('begun')
  expect([await me(), await me()]).toEqual(['internal', 200])
  await sandbox.restore('begun')
  expect(await me()).toBe(200)
  sandbox.fault('html')
  await sandbox.reset()
  expect([await me(), await me()]).toEqual(['internal', 200])
})

test('webhook deliveries resume from the restored state, and a reset ends them', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await createSandbox({ webhooks: 'local' })
  const { control, home } = sandbox
  const post = () => control.post({ userId: home.alice.id, chatId: home.privateChat, text: 'x' })
  await ask(sandbox, 'POST /webhook', { body: { url: receiver.url } })
  sandbox.snapshot('hooked')
  await post()
  await receiver.until(1)
  await sandbox.restore('hooked')
  expect(await control.queued({ botId: home.bot.id })).toEqual([])
  await post()
  await receiver.until(2)
  const [first, second] = receiver.deliveries.map(({ body }) => JSON.parse(body) as object)
  expect(second).toHaveProperty('updateId', Reflect.get(first ?? {}, 'updateId'))
  await sandbox.reset()
  expect((await ask(sandbox, 'GET /webhook')).result).toMatchObject({ url: null })
  await post()
  expect(await ask(sandbox, 'GET /updates')).toMatchObject({ result: [{}] })
  expect(receiver.deliveries).toHaveLength(2)
})

test('the schedule of a seed on a running clock counts from the reset', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  await using sandbox = await createSandbox({
    world: {
      people: { alice: { key: 'none' } },
      schedule: [{ at: '10m', renamePerson: { userId: 'alice', username: 'alicia' } }],
    },
  })
  vi.setSystemTime(Date.now() + 3_600_000)
  await sandbox.reset()
  await sandbox.control.advance({ ms: 599_000 })
  expect(sandbox.people).toMatchObject([{ username: 'alice' }])
  await sandbox.control.advance({ ms: 1000 })
  expect(sandbox.people).toMatchObject([{ username: 'alicia' }])
})

test('a restored clock is stopped or running as at its snapshot', async () => {
  await using sandbox = await createSandbox({ clock: 'running' })
  const { control } = sandbox
  await control.setClock({ mode: 'still' })
  const { now } = await control.now()
  sandbox.snapshot('still')
  await control.setClock({ mode: 'running' })
  await control.advance({ ms: 1000 })
  await sandbox.restore('still')
  expect(await control.now()).toEqual({ now, mode: 'still' })
  await sandbox.reset()
  expect(await control.now()).toMatchObject({ mode: 'running' })
})

test('`reset` undoes the advance of a running clock', async () => {
  await using sandbox = await createSandbox()
  await sandbox.control.advance({ ms: 86_400_000 })
  await sandbox.reset()
  expect(Math.abs(sandbox.now() - Date.now())).toBeLessThan(3_600_000)
})
