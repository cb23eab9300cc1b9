import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import type { Phone } from '../../src/sandbox/phone/phone.ts'
import { ARMORED, ask, still } from './support.ts'

/** A bot that seals for itself, as a phone would. */
let sandbox: Sandbox
let alice: Phone
let bob: Phone
let robot: Phone
beforeAll(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  const { home, control } = sandbox
  alice = await sandbox.phone(home.alice.id)
  bob = await sandbox.phone(home.bob.id)
  const person = await control.addPerson({ username: 'keeper', firstName: 'Keeper' })
  robot = await sandbox.phone(person.id)
  const { certificate: publicKey, fingerprint } = robot
  await ask(sandbox, 'PUT /key', { body: { publicKey, fingerprint } })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const updates = async () => {
  const { result } = await ask<
    { updateId: number; message: { armored?: string; text?: string } }[]
  >(sandbox, 'GET /updates')
  await ask(sandbox, `GET /updates?offset=${(result.at(-1)?.updateId ?? 0) + 1}`)
  return result.map(({ message }) => message)
}
const sent = async (chatId: number, body: object) => {
  const response = await ask<{ id: number }>(sandbox, 'POST /messages', {
    body: { chatId, ...body },
  })
  return response.result.id
}

test('a phone has published its own key', async () => {
  const { result } = await ask(sandbox, `GET /users/${alice.userId}/key`)
  expect(result).toEqual({
    userId: alice.userId,
    fingerprint: alice.fingerprint,
    publicKey: alice.certificate,
  })
  expect(await sandbox.phone(alice.userId)).toBe(alice)
})

test('a private chat is sealed to the bot, and the service cannot read it', async () => {
  await alice.write(sandbox.home.privateChat, 'private-canary')
  const [message] = await updates()
  expect(message).not.toHaveProperty('text')
  expect(sandbox.transcript.search('private-canary')).toEqual([])
  const stored = await sandbox.control.messages({ chatId: sandbox.home.privateChat })
  expect(JSON.stringify(stored)).not.toContain('private-canary')
  await sandbox.control.addPrivateChat({ userId: robot.userId, botId: sandbox.home.bot.id })
})

/** Length of a message as the service keeps it; every recipient adds to it. */
async function sealedSize(chatId: number, messageId: number): Promise<number> {
  const messages = await sandbox.control.messages({ chatId })
  return messages.find(({ id }) => id === messageId)?.armored?.length ?? 0
}

test('in an encrypted group everybody reads, the bot only what is addressed to it', async () => {
  const chatId = sandbox.home.encryptedGroup
  const unheard = await alice.write(chatId, 'tell me, echo bot')
  const heard = await alice.write(chatId, 'tell me @echo_bot')
  for (const messageId of [unheard, heard]) {
    const seen = await bob.seen((one) => one.chatId === chatId && one.messageId === messageId)
    expect(seen).toMatchObject({ verdict: 'verified', signer: alice.fingerprint })
  }
  expect(await updates()).toHaveLength(1)
  const added = (await sealedSize(chatId, heard)) - (await sealedSize(chatId, unheard))
  expect(added).toBeGreaterThan(100)
})

test('a reply to the bot is addressed to it', async () => {
  const chatId = sandbox.home.encryptedGroup
  const armored = await robot.seal('question', [alice.certificate, bob.certificate])
  const question = await sent(chatId, { armored })
  const plain = await alice.write(chatId, 'answer')
  const reply = await alice.write(chatId, 'answer', { replyTo: question })
  expect(await updates()).toHaveLength(1)
  const added = (await sealedSize(chatId, reply)) - (await sealedSize(chatId, plain))
  expect(added).toBeGreaterThan(100)
})

test('what the bot seals and signs is verified', async () => {
  const chatId = sandbox.home.privateChat
  const id = await sent(chatId, { armored: await robot.seal('hello', [alice.certificate]) })
  const seen = await alice.seen((one) => one.chatId === chatId && one.messageId === id)
  expect(seen).toMatchObject({ text: 'hello', verdict: 'verified', signer: robot.fingerprint })
})

test('an edit is shown as an edit', async () => {
  const chatId = sandbox.home.privateChat
  const id = await sent(chatId, { armored: await robot.seal('one', [alice.certificate]) })
  const armored = await robot.seal('two', [alice.certificate])
  await ask(sandbox, `PATCH /messages/${id}`, { body: { chatId, armored } })
  const seen = await alice.seen((one) => one.messageId === id && one.edited)
  expect(seen).toMatchObject({ text: 'two', verdict: 'verified' })
})

test('somebody else’s signature is bad', async () => {
  const chatId = sandbox.home.privateChat
  const id = await sent(chatId, { armored: await bob.seal('forged', [alice.certificate]) })
  const seen = await alice.seen((one) => one.chatId === chatId && one.messageId === id)
  expect(seen).toMatchObject({ verdict: 'bad', signer: null })
})

test('what is sealed to others, or damaged, stays unopened', async () => {
  const chatId = sandbox.home.privateChat
  for (const armored of [await robot.seal('not for alice', [bob.certificate]), ARMORED]) {
    const id = await sent(chatId, { armored })
    const seen = await alice.seen((one) => one.chatId === chatId && one.messageId === id)
    expect(seen).toMatchObject({ verdict: 'unopened', text: '', signer: null })
  }
})

test('in a readable group the text is readable', async () => {
  const chatId = sandbox.home.readableGroup
  const id = await sent(chatId, { text: 'in the open' })
  const seen = await bob.seen((one) => one.chatId === chatId && one.messageId === id)
  expect(seen).toMatchObject({ text: 'in the open', verdict: 'readable' })
  const written = await bob.write(chatId, 'also open')
  const other = await alice.seen((one) => one.chatId === chatId && one.messageId === written)
  expect(other.text).toBe('also open')
})

test('an unusable certificate in the group does not stop the others', async () => {
  const chatId = sandbox.home.encryptedGroup
  const { id } = await sandbox.control.addPerson({ username: 'broken' })
  await sandbox.control.publishKey({ userId: id, publicKey: 'no key', fingerprint: 'x' })
  await sandbox.control.join({ chatId, userId: id })
  const messageId = await alice.write(chatId, 'still here')
  await bob.seen((one) => one.chatId === chatId && one.messageId === messageId)
  await sandbox.control.leave({ chatId, userId: id })
})

test('phones learn of key changes and of answers to their presses', async () => {
  const { bot, privateChat: chatId } = sandbox.home
  expect(alice.keyChanges.at(-1)).toMatchObject({ userId: bot.id, fingerprint: robot.fingerprint })
  const markup = { inlineKeyboard: [[{ text: 'b', callbackData: 'd' }]] }
  const armored = await robot.seal('press', [alice.certificate])
  const messageId = await sent(chatId, { armored, markup })
  const { callbackId } = await sandbox.control.press({ userId: alice.userId, chatId, messageId })
  await ask(sandbox, `POST /callbacks/${callbackId}/answer`, { body: { text: 'ok' } })
  await alice.settled()
  expect(alice.answers).toMatchObject([{ callbackId, text: 'ok', alert: false, url: null }])
  expect(bob.answers).toEqual([])
})

test('a phone whose person is not in the chat can neither write nor see', async () => {
  await expect(bob.write(sandbox.home.privateChat, 'x')).rejects.toThrow('not in chat')
  await bob.settled()
  expect(bob.inbox.some(({ chatId }) => chatId === sandbox.home.privateChat)).toBe(false)
  await expect(bob.seen(() => false, 10)).rejects.toThrow('in time')
})

test('without a key of the bot its private chat is readable', async () => {
  await using other = await still()
  const phone = await other.phone(other.home.alice.id)
  await phone.write(other.home.privateChat, 'plain')
  const { result } = await ask(other, 'GET /updates')
  expect(result).toMatchObject([{ message: { text: 'plain' } }])
})

test('a phone can be asked to write and show over the control listener', async () => {
  const { home, control } = sandbox
  const { messageId } = await control.write({
    userId: home.alice.id,
    chatId: home.encryptedGroup,
    text: 'by remote',
  })
  const { inbox } = await control.inbox({ userId: home.bob.id })
  expect(inbox).toContainEqual(expect.objectContaining({ messageId, text: 'by remote' }))
})
