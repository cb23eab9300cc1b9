import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { ask } from './support.ts'
import { temporaryFolder } from './world-file.ts'

test('what a phone showed is there again, and its numbers go on', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const before = await (async () => {
    await using sandbox = await createSandbox({ data, clock: 'still' })
    const { alice, bob, readableGroup: chatId } = sandbox.home
    await sandbox.phone(alice.id)
    const { messageId } = await sandbox.control.post({ userId: bob.id, chatId, text: 'x' })
    await sandbox.control.deleteMessage({ userId: bob.id, chatId, messageId })
    return await sandbox.control.inbox({ userId: alice.id })
  })()
  expect(before.seen.map(({ kind }) => kind)).toEqual(['message', 'deleted'])
  await using again = await createSandbox({ data })
  const { alice, readableGroup: chatId } = again.home
  expect(await again.control.inbox({ userId: alice.id })).toEqual(before)
  await ask(again, `POST /chats/${chatId}/typing`)
  const { seen } = await again.control.inbox({ userId: alice.id, after: before.last })
  expect(seen).toMatchObject([{ n: before.last + 1, kind: 'typing' }])
})

test('the three lists of a file of the first version become one, and are taken once', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const alice = await (async () => {
    await using sandbox = await createSandbox({ data, clock: 'still' })
    await sandbox.phone(sandbox.home.alice.id)
    return sandbox.home.alice.id
  })()
  const entry = {
    messageId: 1,
    chatId: 2,
    fromId: 3,
    text: 'hi',
    verdict: 'readable',
    signer: null,
  }
  const database = new DatabaseSync(data)
  const insert = database.prepare(
    'INSERT INTO records (kind, owner, key, value) VALUES (?, ?, ?, ?)',
  )
  const add = (kind: string, key: number, value: object) =>
    insert.run(kind, String(alice), String(key), JSON.stringify(value))
  add('seen', 0, { ...entry, edited: false })
  add('seen', 1, { ...entry, edited: true })
  add('key change', 0, { userId: 3, fingerprint: null })
  add('shown answer', 0, { callbackId: 'c', text: null, alert: true, url: null })
  database.close()
  const seen = async () => {
    await using sandbox = await createSandbox({ data })
    return (await sandbox.control.inbox({ userId: alice })).seen
  }
  const taken = await seen()
  expect(taken).toMatchObject([
    { n: 1, kind: 'message', ...entry, edited: false },
    { n: 2, kind: 'edited', edited: true },
    { n: 3, kind: 'key', userId: 3, fingerprint: null },
    { n: 4, kind: 'answer', callbackId: 'c', alert: true },
  ])
  expect(await seen()).toEqual(taken)
})
