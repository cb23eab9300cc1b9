import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { ask } from './support.ts'
import { temporaryFolder } from './world-file.ts'

test('a phone of a reopened world has its entries, and continues their numbers', async () => {
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
