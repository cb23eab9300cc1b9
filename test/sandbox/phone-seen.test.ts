import { expect, test } from 'vitest'
import { ask, BUTTON, sent, usePhones } from './support.ts'

const { sandbox, alice, bob, robot } = await usePhones()

const inbox = (after: number, more: object = {}) =>
  sandbox.control.inbox({ userId: alice.userId, after, ...more })
const newest = async () => (await inbox(0)).last

test('the inbox of a phone lists messages, edits and deletions in order, numbered and dated', async () => {
  const chatId = sandbox.home.privateChat
  const after = await newest()
  const armored = await robot.seal('one', [alice.certificate])
  const messageId = await sent(sandbox, chatId, { armored })
  await ask(sandbox, `PATCH /messages/${messageId}`, {
    body: { chatId, armored: await robot.seal('two', [alice.certificate]) },
  })
  await ask(sandbox, `DELETE /messages/${messageId}?chatId=${chatId}`)
  const { seen, last } = await inbox(after)
  expect(seen).toMatchObject([
    { kind: 'message', chatId, messageId, text: 'one', verdict: 'verified', edited: false },
    { kind: 'edited', chatId, messageId, text: 'two', verdict: 'verified', edited: true },
    { kind: 'deleted', chatId, messageId },
  ])
  expect(seen.map(({ n }) => n)).toEqual([after + 1, after + 2, last])
  expect(seen.map(({ at }) => at)).toEqual(seen.map(() => sandbox.now()))
})

test('a message, `typing: false` and 5 seconds each end a typing indicator on a phone', async () => {
  const chatId = sandbox.home.privateChat
  const type = (body: object) => ask(sandbox, `POST /chats/${chatId}/typing`, { body })
  const after = await newest()
  await type({})
  expect(await sandbox.control.screen({ userId: alice.userId, chatId })).toMatchObject({
    typing: [sandbox.home.bot.id],
  })
  await sent(sandbox, chatId, { armored: await robot.seal('x', [alice.certificate]) })
  await sandbox.control.advance({ ms: 3000 })
  await type({})
  await type({ typing: false })
  await sandbox.control.advance({ ms: 3000 })
  await type({})
  await sandbox.control.advance({ ms: 4999 })
  expect((await alice.chat(chatId)).typing).toEqual([sandbox.home.bot.id])
  await sandbox.control.advance({ ms: 1 })
  expect((await alice.chat(chatId)).typing).toEqual([])
  const { seen } = await inbox(after, { kinds: ['typing'] })
  const of = { kind: 'typing', chatId, userId: sandbox.home.bot.id }
  expect(seen).toMatchObject(
    [true, false, true, false, true, false].map((typing) => ({ ...of, typing })),
  )
  expect(bob.seenEvents.filter((event) => event.kind === 'typing')).toEqual([])
})

test('the answer to a press, with its message id, is shown only on the phone of the press', async () => {
  const chatId = sandbox.home.encryptedGroup
  const armored = await robot.seal('press', [alice.certificate, bob.certificate])
  const messageId = await sent(sandbox, chatId, { armored, markup: BUTTON })
  const { callbackId } = await sandbox.control.press({ userId: alice.userId, chatId, messageId })
  const waiting = inbox(await newest(), { kinds: ['answer'], wait: 20_000 })
  const body = { text: 'hi', alert: true, url: 'https://example.com/' }
  await ask(sandbox, `POST /callbacks/${callbackId}/answer`, { body })
  const { seen, answers } = await waiting
  expect(seen).toMatchObject([{ kind: 'answer', callbackId, chatId, messageId, ...body }])
  expect(answers).toEqual(seen)
  await bob.settled()
  expect(bob.answers).toEqual([])
})

test('a phone lists joins and leaves', async () => {
  const chatId = sandbox.home.readableGroup
  const { control } = sandbox
  const { id } = await control.addPerson({ username: 'guest' })
  const after = await newest()
  await control.join({ chatId, userId: id })
  await control.leave({ chatId, userId: id })
  const { seen, inbox: shown } = await inbox(after)
  expect(seen).toMatchObject([
    { kind: 'joined', chatId, fromId: id },
    { kind: 'left', chatId, fromId: id },
  ])
  expect(shown).toEqual(seen)
})

test('`inbox` filters the entries of a phone by chat and kind', async () => {
  const after = await newest()
  const { readableGroup, encryptedGroup } = sandbox.home
  await bob.write(readableGroup, 'in the open')
  const sealed = await bob.write(encryptedGroup, 'sealed')
  bob.delete(encryptedGroup, sealed)
  const { seen } = await inbox(after, { chatId: encryptedGroup, kinds: ['message'] })
  expect(seen).toMatchObject([{ messageId: sealed, text: 'sealed' }])
  expect((await inbox(after, { kinds: ['key'] })).seen).toEqual([])
  expect((await inbox(after)).seen).toHaveLength(3)
})

test('`screen` shows a chat with the person’s own messages and edits, without deleted ones', async () => {
  const { control, home } = sandbox
  const { id: chatId } = await control.addRoom({
    kind: 'group',
    members: [alice.userId, bob.userId, home.bot.id],
  })
  const own = await alice.write(chatId, 'mine')
  const gone = await bob.write(chatId, 'a mistake')
  const reply = await bob.write(chatId, 'see above', { replyTo: gone })
  bob.delete(chatId, gone)
  await alice.edit(chatId, own, 'mine, better')
  const { messages } = await control.screen({ userId: alice.userId, chatId })
  expect(messages).toMatchObject([
    { messageId: own, text: 'mine, better', verdict: 'verified', editedAt: sandbox.now() },
    { messageId: reply, text: 'see above', verdict: 'verified', replyTo: null },
  ])
  const one = await control.screen({ userId: alice.userId, chatId, messageId: reply })
  expect(one.messages).toMatchObject([{ messageId: reply, text: 'see above' }])
  bob.delete(chatId, reply)
  expect((await alice.chat(chatId)).messages).toHaveLength(1)
  expect((await alice.chat(chatId, reply)).messages).toEqual([])
})

test('the screen of an encrypted group begins with the person’s joining', async () => {
  const { control } = sandbox
  const { id: chatId } = await control.addRoom({ kind: 'group', members: [alice.userId] })
  await alice.write(chatId, 'before bob')
  await control.join({ chatId, userId: bob.userId })
  const later = await alice.write(chatId, 'hello bob')
  const { messages } = await bob.chat(chatId)
  expect(messages).toMatchObject([
    { kind: 'joined', fromId: bob.userId },
    { messageId: later, text: 'hello bob' },
  ])
})

test('`screen` refuses a chat without the person', async () => {
  const chatId = sandbox.home.privateChat
  await expect(sandbox.control.screen({ userId: bob.userId, chatId })).rejects.toThrow('is not in')
  await expect(bob.chat(chatId)).rejects.toThrow('not in chat')
})

test('a phone lists a deletion after its message, though the message was still being opened', async () => {
  const { control, home } = sandbox
  const after = await newest()
  const armored = await bob.seal('quick', [alice.certificate])
  const post = { userId: bob.userId, chatId: home.encryptedGroup, armored }
  const posted = control.post(post)
  const messageId = (await control.messages({ chatId: post.chatId })).at(-1)?.id ?? 0
  bob.delete(post.chatId, messageId)
  await posted
  expect((await inbox(after)).seen).toMatchObject([
    { kind: 'message', messageId, text: 'quick' },
    { kind: 'deleted', messageId },
  ])
})

test('the screen shows an edit that was made while the person was not in the group', async () => {
  const { control, home } = sandbox
  const chatId = home.readableGroup
  const messageId = await bob.write(chatId, 'before')
  await alice.settled()
  await control.leave({ chatId, userId: alice.userId })
  await control.advance({ ms: 1 })
  await bob.edit(chatId, messageId, 'after')
  await control.join({ chatId, userId: alice.userId })
  const { messages } = await alice.chat(chatId)
  expect(messages.find((one) => one.messageId === messageId)).toMatchObject({ text: 'after' })
})

test('`Phone.seen` rejects after its time with the last entry of the phone', async () => {
  const chatId = sandbox.home.privateChat
  await sent(sandbox, chatId, { armored: await robot.seal('something else', [alice.certificate]) })
  await alice.settled()
  await expect(alice.seen(({ text }) => text === 'never said', 0)).rejects.toThrow(
    /did not see it in time; the last it showed: .*"something else"$/,
  )
  const { id } = await sandbox.control.addPerson({ username: 'lonely', firstName: 'Lonely' })
  const lonely = await sandbox.phone(id)
  await expect(lonely.seen(() => true, 0)).rejects.toThrow('it showed nothing')
})
