import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { openedFile } from '../support/openpgp-file.ts'
import { bot as robot } from '../support/openpgp-people.ts'
import { ask, sent, usePhones } from './support.ts'

/** A bot whose secret key the tests hold, and which receives every message of a group. */
const { sandbox, alice, bob } = await usePhones({ clock: 'running' })
const { certificate: publicKey, unlocked } = robot
await ask(sandbox, 'PUT /key', { body: { publicKey, fingerprint: unlocked.fingerprint } })
await sandbox.control.changeBot({ botId: sandbox.home.bot.id, privacyMode: false })

interface Received {
  armored?: string
  media: { url: string }[]
}

const received = async (): Promise<Received[]> => {
  const { result } = await ask<{ updateId: number; message: Received }[]>(sandbox, 'GET /updates')
  await ask(sandbox, `GET /updates?offset=${(result.at(-1)?.updateId ?? 0) + 1}`)
  return result.map(({ message }) => message)
}

const fetched = async (url: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(sandbox.url + url)).arrayBuffer())

test('the caption of a file in an encrypted chat is sealed', async () => {
  await alice.send(sandbox.home.privateChat, Buffer.from('file'), { text: 'caption-canary' })
  const [message] = await received()
  expect(message?.armored).toContain('BEGIN PGP MESSAGE')
  expect(message?.media).toHaveLength(1)
  expect(sandbox.transcript.search('caption-canary')).toEqual([])
})

test('a file in an encrypted group is not sealed to a bot in privacy mode, but its caption is', async () => {
  const { control, home } = sandbox
  await control.changeBot({ botId: home.bot.id, privacyMode: true })
  const file = Buffer.from('for people')
  await bob.send(home.encryptedGroup, file, { text: 'see @echo_bot' })
  await bob.send(home.encryptedGroup, file)
  await control.changeBot({ botId: home.bot.id, privacyMode: false })
  const messages = await received()
  expect(messages).toHaveLength(1)
  expect(messages[0]?.armored).toBeDefined()
  await expect(openedFile(await fetched(messages[0]?.media[0]?.url ?? ''))).rejects.toThrow()
})

test('a reply that consists of a file is delivered to the quoted bot in privacy mode', async () => {
  const { control, home } = sandbox
  await control.changeBot({ botId: home.bot.id, privacyMode: true })
  const replyTo = await sent(sandbox, home.readableGroup, { text: 'a picture, please' })
  await alice.send(home.readableGroup, Buffer.from('picture'), { replyTo })
  await control.changeBot({ botId: home.bot.id, privacyMode: false })
  expect(await received()).toMatchObject([{ replyTo: { id: replyTo } }])
})

test('`sendMedia` seals a file in any form, unsigned, with another’s signature, or to others', async () => {
  const control = createControlClient(sandbox.controlUrl)
  const { alice: person, privateChat: chatId, bob: other } = sandbox.home
  const file = randomBytes(70_000)
  const common = { userId: person.id, chatId, base64: file.toString('base64') }
  const forms = [
    { compression: 'zlib', framing: 'partial' },
    { recipients: 'anonymous' },
    { encoding: 'armored', cipher: 'aes128' },
  ] as const
  for (const form of forms) {
    const { url } = await control.sendMedia({ ...common, ...form })
    const stored = await fetched(url)
    const armored = 'encoding' in form
    expect(stored.includes('BEGIN PGP MESSAGE')).toBe(armored)
    if (armored) continue
    const { data, verdict } = await openedFile(stored, alice)
    expect(data.equals(file)).toBe(true)
    expect(verdict).toBe(true)
  }
  const unsigned = await control.sendMedia({ ...common, signature: 'none' })
  expect((await openedFile(await fetched(unsigned.url), alice)).verdict).toBeUndefined()
  const forged = await fetched((await control.sendMedia({ ...common, signedBy: other.id })).url)
  expect((await openedFile(forged, alice)).verdict).toBe(false)
  expect((await openedFile(forged, bob)).verdict).toBe(true)
  const misled = await fetched((await control.sendMedia({ ...common, to: [other.id] })).url)
  await expect(openedFile(misled)).rejects.toThrow()
  await received()
})

test('`addMedia` stores a file of 64 MiB unchanged', async () => {
  const control = createControlClient(sandbox.controlUrl)
  const file = randomBytes(64 * 1024 * 1024)
  const { url } = await control.addMedia({ base64: file.toString('base64') })
  expect(Buffer.compare(await fetched(url), file)).toBe(0)
}, 120_000)

test('`sendMedia` refuses bad base64, unknown people and a person who may not write', async () => {
  const { control, home } = sandbox
  const common = { userId: home.alice.id, chatId: home.privateChat, base64: 'AAAA' }
  for (const base64 of ['no base64!', 'A', 'AAAAA']) {
    await expect(control.sendMedia({ ...common, base64 })).rejects.toThrow('not base64')
  }
  await expect(control.sendMedia({ ...common, userId: home.bob.id })).rejects.toThrow('not in chat')
  await expect(control.sendMedia({ ...common, signedBy: 7 })).rejects.toThrow('no person')
  await expect(control.sendMedia({ ...common, to: [7] })).rejects.toThrow('no key')
  await control.block({ userId: home.alice.id, botId: home.bot.id })
  await expect(control.sendMedia(common)).rejects.toThrow('cannot write')
  await control.unblock({ userId: home.alice.id, botId: home.bot.id })
  expect(await received()).toEqual([])
})

test('`openMedia` returns a sealed file decrypted, with its verdict and signer', async () => {
  const { home, control } = sandbox
  const { encryptedGroup: chatId } = home
  const file = randomBytes(5000)
  const { messageId, mediaId } = await alice.send(chatId, file)
  const seen = { chatId, messageId, mediaId }
  const opened = await control.openMedia({ userId: home.bob.id, ...seen })
  expect(Buffer.from(opened.base64, 'base64').equals(file)).toBe(true)
  expect(opened).toMatchObject({ verdict: 'verified', signer: alice.fingerprint })
  expect(opened.storedBytes).toBeGreaterThan(file.length)
  expect(await alice.openFile(seen)).toMatchObject({ verdict: 'verified' })
})

test('`openMedia` returns a file of a readable chat as it is stored', async () => {
  const { home, control } = sandbox
  const file = Buffer.from('for everybody')
  const { messageId, mediaId } = await alice.send(home.readableGroup, file)
  const where = { userId: home.bob.id, chatId: home.readableGroup }
  expect(await control.openMedia({ ...where, messageId, mediaId })).toEqual({
    base64: file.toString('base64'),
    verdict: 'readable',
    signer: null,
    storedBytes: file.length,
  })
})

test.each([
  ['bad', 'damaged'],
  ['unsigned', 'none'],
  ['bad', 'by somebody else'],
] as const)(
  '`openMedia` gives the verdict `%s` to a file whose signature is %s',
  async (verdict, signature) => {
    const { home, control } = sandbox
    const { messageId, mediaId } = await control.sendMedia({
      userId: home.alice.id,
      chatId: home.encryptedGroup,
      base64: Buffer.from('a file').toString('base64'),
      ...(signature === 'by somebody else' ? { signedBy: home.bob.id } : { signature }),
    })
    const seen = { chatId: home.encryptedGroup, messageId, mediaId }
    expect(await control.openMedia({ userId: home.bob.id, ...seen })).toMatchObject({
      verdict,
      signer: null,
    })
  },
)

test('`openMedia` gives the verdict `unopened` to a file sealed to others', async () => {
  const { home, control } = sandbox
  const chatId = home.encryptedGroup
  const send = (more: object) =>
    control.sendMedia({ userId: home.alice.id, chatId, base64: 'AAAA', ...more })
  const others = await send({ to: [home.bot.id] })
  const seen = { userId: home.bob.id, chatId }
  const { messageId, mediaId } = others
  expect(await control.openMedia({ ...seen, messageId, mediaId })).toMatchObject({
    base64: '',
    verdict: 'unopened',
  })
})

test('`openMedia` refuses a file of another message, and of a chat without the person', async () => {
  const { home, control } = sandbox
  const { messageId, mediaId } = await alice.send(home.privateChat, Buffer.from('mine'))
  const where = { chatId: home.privateChat, messageId, mediaId }
  await expect(control.openMedia({ userId: home.bob.id, ...where })).rejects.toThrow(
    'is not in chat',
  )
  await expect(
    control.openMedia({ userId: home.alice.id, ...where, messageId: messageId - 1 }),
  ).rejects.toThrow('has no file')
})

test('`certificate` returns a person’s certificate, or null for a person without a key', async () => {
  const { home, control } = sandbox
  expect(await control.certificate({ userId: home.alice.id })).toMatchObject({
    fingerprint: alice.fingerprint,
    publicKey: alice.certificate,
  })
  const { id: userId } = await control.addPerson({ username: 'carol' })
  expect(await control.certificate({ userId })).toBeNull()
  await expect(control.certificate({ userId: 1 })).rejects.toThrow('nobody has the id 1')
})
