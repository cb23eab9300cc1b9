import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { ask, homeScene, outcome } from './support.ts'

const phoneOf = (sandbox: Sandbox, who: 'alice' | 'bob') => sandbox.phone(sandbox.home[who].id)

test('a restored phone has its key and inbox as of the snapshot', async () => {
  const { sandbox, encryptedGroup, bob } = await homeScene({ clock: 'running' })
  const fingerprint = (await phoneOf(sandbox, 'bob')).fingerprint
  await (await phoneOf(sandbox, 'alice')).write(encryptedGroup, 'one')
  await (await phoneOf(sandbox, 'bob')).seen(({ text }) => text === 'one')
  sandbox.snapshot('one')
  await (await phoneOf(sandbox, 'alice')).write(encryptedGroup, 'two')
  await (await phoneOf(sandbox, 'bob')).seen(({ text }) => text === 'two')
  await sandbox.control.newKey({ userId: bob.id })
  await sandbox.restore('one')
  const restored = await phoneOf(sandbox, 'bob')
  expect(restored.fingerprint).toBe(fingerprint)
  expect(restored.inbox.map(({ text }) => text)).toEqual(['one'])
  expect(restored.keyChanges.filter(({ userId }) => userId === bob.id)).toEqual([])
  await (await phoneOf(sandbox, 'alice')).write(encryptedGroup, 'three')
  expect(await restored.seen(({ text }) => text === 'three')).toMatchObject({ verdict: 'verified' })
})

test('a phone receives messages after a reset without being requested first', async () => {
  await using sandbox = await createSandbox({ phones: 'all' })
  const { alice, bob, encryptedGroup } = sandbox.home
  await sandbox.reset()
  await sandbox.control.write({ userId: alice.id, chatId: encryptedGroup, text: 'hello' })
  const { inbox } = await sandbox.control.inbox({ userId: bob.id })
  expect(inbox).toMatchObject([{ text: 'hello', verdict: 'verified' }])
})

test('a restored phone opens the messages that were unread at the snapshot', async () => {
  await using sandbox = await createSandbox()
  const bob = await phoneOf(sandbox, 'bob')
  await (await phoneOf(sandbox, 'alice')).write(sandbox.home.encryptedGroup, 'hello')
  expect(bob.inbox).toEqual([])
  sandbox.snapshot('unread')
  await sandbox.restore('unread')
  const restored = await phoneOf(sandbox, 'bob')
  expect(await restored.seen(({ text }) => text === 'hello')).toMatchObject({ verdict: 'verified' })
})

test('a reset with `phones: all` restores the published keys of the start', async () => {
  await using sandbox = await createSandbox({ phones: 'all' })
  const { alice } = sandbox.home
  const key = () => ask(sandbox, `GET /users/${alice.id}/key`)
  const before = await key()
  expect(before.status).toBe(200)
  await sandbox.control.newKey({ userId: alice.id })
  expect((await key()).result).not.toEqual(before.result)
  await sandbox.reset()
  expect((await key()).result).toEqual(before.result)
})

test('a reset without `phones: all` leaves people without published keys', async () => {
  await using sandbox = await createSandbox()
  await phoneOf(sandbox, 'alice')
  await sandbox.reset()
  expect(await outcome(sandbox, `GET /users/${sandbox.home.alice.id}/key`)).toBe('no_user_key')
})

test('a `Phone` object from before a reset refuses to write, send and wait', async () => {
  await using sandbox = await createSandbox()
  const alice = await phoneOf(sandbox, 'alice')
  await sandbox.reset()
  const { readableGroup } = sandbox.home
  await expect(alice.write(readableGroup, 'lost')).rejects.toThrow('get the phone of the world')
  await expect(alice.send(readableGroup, Buffer.of(1))).rejects.toThrow(
    'get the phone of the world',
  )
  await expect(alice.seen(() => true)).rejects.toThrow('get the phone of the world')
})

test('a write that is being sealed during a reset is refused and stored in neither world', async () => {
  const { sandbox, control, home } = await homeScene({ clock: 'running' })
  await phoneOf(sandbox, 'bob')
  const write = control.write({ userId: home.alice.id, chatId: home.encryptedGroup, text: 'late' })
  const refused = expect(write).rejects.toThrow('reset or restored meanwhile; call again')
  await control.reset()
  await refused
  const messages = await control.messages({ chatId: home.encryptedGroup })
  expect(messages.filter(({ kind }) => kind === 'user')).toEqual([])
  expect(sandbox.transcript.list()).toEqual([])
})

test('a reset discards the sends and writes under way, so that the new world has none of them', async () => {
  await using sandbox = await createSandbox({ rates: 'off' })
  const { control, home } = sandbox
  await Promise.all([home.alice, home.bob].map(({ id }) => sandbox.phone(id)))
  sandbox.fault('delay', { delayMs: 100 })
  const body = { chatId: home.readableGroup, text: 'noise' }
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const sends = numbers.map(() => outcome(sandbox, 'POST /messages', { body }))
  await expect.poll(() => sandbox.transcript.list().length).toBe(sends.length)
  const place = { userId: home.bob.id, chatId: home.encryptedGroup }
  const writes = numbers.map(() => control.write({ ...place, text: 'noise' }))
  await control.reset()
  const ended = await Promise.allSettled([...sends, ...writes])
  expect(new Set(ended.slice(0, sends.length).map(({ status }) => status))).toEqual(
    new Set(['fulfilled']),
  )
  for (const chatId of [home.readableGroup, home.encryptedGroup]) {
    expect(await control.messages({ chatId })).toEqual([])
  }
  expect(await control.queued({ botId: home.bot.id })).toEqual([])
  expect(sandbox.transcript.list()).toEqual([])
})
