import { expect, test } from 'vitest'
import { ask, BUTTON, send, sent, still, usePhones } from './support.ts'

const { sandbox, alice, bob, robot } = await usePhones()

const inbox = (after: number, more: object = {}) =>
  sandbox.control.inbox({ userId: alice.userId, after, ...more })
const newest = async () => (await inbox(0)).last

test('one list holds in order what the phone showed, numbered and dated', async () => {
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

test('typing appears, and disappears with a message, when cleared, or after a few seconds', async () => {
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

test('an answer to a press names the message, and is the presser’s alone', async () => {
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

test('joins and leaves are shown as such, in the inbox too', async () => {
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

test('the list can be had for one chat, and of some kinds', async () => {
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

test('the screen shows a chat as it is now: own messages too, edits, and nothing deleted', async () => {
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

test('the screen of an encrypted group begins when the person came', async () => {
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

test('nobody sees the screen of a chat they are not in', async () => {
  const chatId = sandbox.home.privateChat
  await expect(sandbox.control.screen({ userId: bob.userId, chatId })).rejects.toThrow('is not in')
  await expect(bob.chat(chatId)).rejects.toThrow('not in chat')
})

test('waiting for a phone ends when it shows something, not before', async () => {
  await using other = await still()
  const { alice: person, privateChat: chatId } = other.home
  const { control } = other
  const { last } = await control.inbox({ userId: person.id })
  const waiting = control.inbox({ userId: person.id, after: last, wait: 20_000 })
  await send(other, chatId, { text: 'hello' })
  const { seen, last: next } = await waiting
  expect(seen).toMatchObject([{ n: last + 1, text: 'hello', verdict: 'readable' }])
  expect(await control.inbox({ userId: person.id, after: next, wait: 5 })).toMatchObject({
    seen: [],
    inbox: [],
    last: next,
  })
})

test('what comes while a message is being opened is shown after it', async () => {
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

test('the screen shows an edit that was made while the person was away', async () => {
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

test('whoever waits in vain for a message reads what the phone showed instead', async () => {
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
