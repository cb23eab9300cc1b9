import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { PAIR, still as seeded, texts } from './seeded.ts'
import { ask, homeScene, outcome, sent } from './support.ts'

interface Quoting {
  kind: string
  message: { text?: string; replyTo: { id: number; text?: string } | null }
}

const updates = async (sandbox: Sandbox) => (await ask<Quoting[]>(sandbox, 'GET /updates')).result

test('a person’s edit in an encrypted chat is sealed, and the other phones open and verify it', async () => {
  const { sandbox, control, alice, bob, encryptedGroup: chatId } = await homeScene()
  const phone = await sandbox.phone(bob.id)
  const { messageId } = await control.write({ userId: alice.id, chatId, text: 'first-canary' })
  await control.editMessage({ userId: alice.id, chatId, messageId, text: 'second-canary' })
  expect(await control.messages({ chatId })).toMatchObject([{ editedAt: sandbox.now() }])
  expect(await phone.seen(({ edited }) => edited)).toMatchObject({
    messageId,
    text: 'second-canary',
    verdict: 'verified',
  })
  expect(sandbox.transcript.search('second-canary')).toEqual([])
  const edit = sandbox.transcript.list().find(({ method }) => method === 'PATCH')
  expect(edit).toMatchObject({ by: 'phone', path: `/phones/${alice.id}/messages/${messageId}` })
})

test('a deleted message cannot be quoted, pressed, edited or deleted, and its file is 404', async () => {
  const { sandbox, control, alice, readableGroup: chatId } = await homeScene({ rates: 'off' })
  const at = { userId: alice.id, chatId }
  const { messageId, url } = await control.sendMedia({ ...at, base64: 'AAAA', text: '/start' })
  expect(await control.deleteMessage({ ...at, messageId })).toEqual({ deleted: true })
  expect((await fetch(sandbox.url + url)).status).toBe(404)
  await control.post({ ...at, text: '/quote', replyTo: messageId })
  expect((await updates(sandbox)).at(-1)?.message.replyTo).toBeNull()
  const gone = 'no message has the id'
  await expect(control.editMessage({ ...at, messageId, text: 'x' })).rejects.toThrow(gone)
  await expect(control.deleteMessage({ ...at, messageId })).rejects.toThrow(gone)
  await expect(control.press({ ...at, messageId })).rejects.toThrow(gone)
  const path = `DELETE /messages/${messageId}?chatId=${chatId}`
  expect(await outcome(sandbox, path)).toBe('message_not_found')
})

test('`editMessage` refuses messages of other people and of the bot, and service notices', async () => {
  const { sandbox, control, alice, bob, readableGroup: chatId } = await homeScene()
  const { messageId } = await control.post({ userId: alice.id, chatId, text: 'mine' })
  const edit = (userId: number, id = messageId) =>
    control.editMessage({ userId, chatId, messageId: id, text: 'changed' })
  await expect(edit(bob.id)).rejects.toThrow('only its author')
  await expect(edit(alice.id, await sent(sandbox, chatId))).rejects.toThrow('only its author')
  await control.leave({ chatId, userId: bob.id })
  const notice = (await control.messages({ chatId })).at(-1)?.id ?? 0
  await expect(edit(bob.id)).rejects.toThrow('is not in')
  await control.join({ chatId, userId: bob.id })
  await expect(edit(bob.id, notice)).rejects.toThrow('service notice')
  const held = (await control.messages({ chatId })).map(({ text }) => text)
  expect(held).toEqual(['mine', 'x', null, null])
})

test('`deleteMessage` of another’s message requires the delete right, and fails in a private chat', async () => {
  const { sandbox, control, alice, bob, privateChat, readableGroup: chatId } = await homeScene()
  const remove = (userId: number, messageId: number, where = chatId) =>
    control.deleteMessage({ userId, chatId: where, messageId })
  const byAlice = await control.post({ userId: alice.id, chatId, text: 'x' })
  const byBob = await control.post({ userId: bob.id, chatId, text: 'y' })
  await expect(remove(bob.id, byAlice.messageId)).rejects.toThrow('right to delete')
  expect(await remove(alice.id, byBob.messageId)).toEqual({ deleted: true })
  await control.setMembership({ chatId, userId: bob.id, status: 'admin', rights: 1 })
  expect(await remove(bob.id, byAlice.messageId)).toEqual({ deleted: true })
  const byBot = await sent(sandbox, privateChat)
  await expect(remove(alice.id, byBot, privateChat)).rejects.toThrow('right to delete')
})

test('a closed account cannot delete, and a person who blocked the bot cannot edit in their chat', async () => {
  const { control, alice, bot, privateChat: chatId } = await homeScene()
  const at = { userId: alice.id, chatId }
  const { messageId } = await control.post({ ...at, text: 'x' })
  await control.block({ userId: alice.id, botId: bot.id })
  await expect(control.editMessage({ ...at, messageId, text: 'y' })).rejects.toThrow()
  await control.closeAccount({ userId: alice.id })
  await expect(control.deleteMessage({ ...at, messageId })).rejects.toThrow('closed')
})

test('a phone refuses to edit or delete a message of another person', async () => {
  const { sandbox, alice, bob, readableGroup: chatId } = await homeScene()
  const phone = await sandbox.phone(bob.id)
  const { messageId } = await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
  await expect(phone.edit(chatId, messageId, 'y')).rejects.toThrow('wrote no message')
  expect(() => phone.delete(chatId, messageId)).toThrow('wrote no message')
})

test('the schedule of a seed edits, deletes and renames by names', async () => {
  const at = { userId: 'alice', chatId: 'dm' }
  await using sandbox = await seeded({
    ...PAIR,
    schedule: [
      { at: '1s', post: { ...at, text: 'one' } },
      { at: '2s', editMessage: { ...at, messageId: 'last by alice', text: 'two' } },
      { at: '3s', deleteMessage: { ...at, messageId: 'last' } },
      { at: '4s', renameBot: { botId: 'echo_bot', username: 'parrot_bot' } },
    ],
  })
  const { control } = sandbox
  await control.advance({ ms: 2000 })
  expect(await texts(sandbox)).toEqual(['two'])
  await control.advance({ ms: 2000 })
  expect(await texts(sandbox)).toEqual([])
  expect(sandbox.bots).toMatchObject([{ username: 'parrot_bot' }])
  expect(await control.schedule()).toEqual({ left: 0, errors: [] })
})

test('an edit whose message is deleted while the phone seals it is refused with a reason', async () => {
  const { sandbox, alice, encryptedGroup: chatId } = await homeScene()
  const at = { userId: alice.id, chatId }
  const { messageId } = await sandbox.control.write({ ...at, text: 'first' })
  const body = JSON.stringify({ ...at, messageId, text: 'second' })
  const headers = { 'content-type': 'application/json' }
  const answer = fetch(`${sandbox.controlUrl}/editMessage`, { method: 'POST', headers, body })
  const phone = await sandbox.phone(alice.id)
  const seal = phone.seal.bind(phone)
  phone.seal = async (...what) => {
    const sealed = await seal(...what)
    await sandbox.control.deleteMessage({ ...at, messageId })
    return sealed
  }
  const refused = await answer
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'bad_control', message: expect.stringContaining('wrote no message') } },
  ])
})
