import { expect, test } from 'vitest'
import { ARMORED, ask, sent, usePhones } from './support.ts'

const { sandbox, alice, bob, robot } = await usePhones({ clock: 'running' })

const updates = async () => {
  const { result } = await ask<
    { updateId: number; message: { armored?: string; text?: string } }[]
  >(sandbox, 'GET /updates')
  await ask(sandbox, `GET /updates?offset=${(result.at(-1)?.updateId ?? 0) + 1}`)
  return result.map(({ message }) => message)
}

test('a new phone publishes its own key', async () => {
  const { result } = await ask(sandbox, `GET /users/${alice.userId}/key`)
  expect(result).toEqual({
    userId: alice.userId,
    fingerprint: alice.fingerprint,
    publicKey: alice.certificate,
  })
  expect(await sandbox.phone(alice.userId)).toBe(alice)
})

test('a phone seals a message of a private chat, and the service never receives its text', async () => {
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

test('a phone seals a group message to all members, and to the bot only if it is addressed', async () => {
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

test('a phone seals a reply to the bot’s message to the bot', async () => {
  const chatId = sandbox.home.encryptedGroup
  const armored = await robot.seal('question', [alice.certificate, bob.certificate])
  const question = await sent(sandbox, chatId, { armored })
  const plain = await alice.write(chatId, 'answer')
  const reply = await alice.write(chatId, 'answer', { replyTo: question })
  expect(await updates()).toHaveLength(1)
  const added = (await sealedSize(chatId, reply)) - (await sealedSize(chatId, plain))
  expect(added).toBeGreaterThan(100)
})

test('a phone gives the verdict `bad` to a bot message signed by another person', async () => {
  const chatId = sandbox.home.privateChat
  const id = await sent(sandbox, chatId, { armored: await bob.seal('forged', [alice.certificate]) })
  const seen = await alice.seen((one) => one.chatId === chatId && one.messageId === id)
  expect(seen).toMatchObject({ verdict: 'bad', signer: null })
})

test('a phone gives the verdict `unopened` to a message sealed to others or damaged', async () => {
  const chatId = sandbox.home.privateChat
  for (const armored of [await robot.seal('not for alice', [bob.certificate]), ARMORED]) {
    const id = await sent(sandbox, chatId, { armored })
    const seen = await alice.seen((one) => one.chatId === chatId && one.messageId === id)
    expect(seen).toMatchObject({ verdict: 'unopened', text: '', signer: null })
  }
})

test('an unusable certificate of one member does not prevent sealing to the others', async () => {
  const chatId = sandbox.home.encryptedGroup
  const { id } = await sandbox.control.addPerson({ username: 'broken' })
  await sandbox.control.publishKey({ userId: id, publicKey: 'no key', fingerprint: 'x' })
  await sandbox.control.join({ chatId, userId: id })
  const messageId = await alice.write(chatId, 'still here')
  await bob.seen((one) => one.chatId === chatId && one.messageId === messageId)
  await sandbox.control.leave({ chatId, userId: id })
})

test('a phone whose person is not in the chat can neither write nor receive', async () => {
  await expect(bob.write(sandbox.home.privateChat, 'x')).rejects.toThrow('not in chat')
  await bob.settled()
  expect(bob.inbox.some(({ chatId }) => chatId === sandbox.home.privateChat)).toBe(false)
  await expect(bob.seen(() => false, 10)).rejects.toThrow('in time')
})
