import { generateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { giantCertificate, type Made } from '../support/faults-certificates.ts'
import { useScene } from './scene.ts'

const scene = useScene()

/** What a person's key looks like to the service, with the reason why nobody can seal to it. */
type Costly = Made & { reason: RegExp }

const NOISE = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxjMEZ\n-----END PGP PUBLIC KEY BLOCK-----\n'

/** A key of a kind that is too small or too old, made by the library itself. */
async function weak(): Promise<Costly> {
  const { publicKey } = await generateKey({
    type: 'rsa',
    rsaBits: 1024,
    userIDs: [{ name: 'Weak' }],
    format: 'object',
    config: { minRSABits: 1024 },
  })
  const fingerprint = publicKey.getFingerprint()
  return {
    armored: publicKey.armor(),
    fingerprint,
    reason: /^(weak-algorithm|no-encryption-subkey)$/,
  }
}

function giant(bits: number, exponentBits: number, signatures: number): Costly {
  const reason = /^(no-user-id|no-encryption-subkey|deadline|too-large)$/
  return { ...giantCertificate({ bits, exponentBits, signatures }), reason }
}

let people = 0

async function person(key: Costly | { armored: string; fingerprint: string }): Promise<number> {
  const { control } = scene.sandbox
  const { id } = await control.addPerson({ username: `person_${++people}` })
  const { armored: publicKey, fingerprint } = key
  await control.publishKey({ userId: id, publicKey, fingerprint })
  return id
}

async function room(costly: Costly[]): Promise<{ chatId: number; ids: number[] }> {
  const { alice, bot } = scene.sandbox.home
  const ids = await Promise.all(costly.map(person))
  const members = [alice.id, ...ids, bot.id]
  const { id } = await scene.sandbox.control.addRoom({ kind: 'group', members })
  return { chatId: id, ids }
}

test('a send to a group with giant and weak certificates reaches the others and names the skipped people', async () => {
  const costly = [
    await weak(),
    giant(16_384, 17, 1),
    giant(8192, 8192, 1),
    giant(4096, 4096, 2),
    { armored: NOISE, fingerprint: 'a'.repeat(40), reason: /^unparseable$/ },
  ]
  const { chatId, ids } = await room(costly)
  const sending = scene.call('POST', '/messages', { chatId, text: 'to those who can' })
  const { status, json } = await scene.meanwhile(sending)
  expect(status).toBe(201)
  const { postern } = json.result as {
    postern: { recipients: number; skipped: { userId: number; reason: string }[] }
  }
  expect(postern.recipients).toBe(1)
  expect(postern.skipped.map(({ userId }) => userId).sort()).toEqual(ids.toSorted())
  for (const [index, { reason }] of costly.entries()) {
    const found = postern.skipped.find(({ userId }) => userId === ids[index])
    expect(found?.reason, `person ${index}`).toMatch(reason)
  }
  const alice = await scene.sandbox.phone(scene.sandbox.home.alice.id)
  const seen = await alice.seen((one) => one.chatId === chatId)
  expect(seen).toMatchObject({ text: 'to those who can', verdict: 'verified' })
})

test('a private send to a person with a giant RSA key is `postern_recipient_unusable`', async () => {
  const { control, home } = scene.sandbox
  const userId = await person(giant(4096, 4096, 1))
  const { id: chatId } = await control.addPrivateChat({ userId, botId: home.bot.id })
  const sending = scene.call('POST', '/messages', { chatId, text: 'to nobody' })
  const { status, json } = await scene.meanwhile(sending)
  expect(status).toBe(409)
  expect(json.error?.code).toBe('postern_recipient_unusable')
})

test('a message of a person with a giant RSA key is withheld in its place', async () => {
  const { control, home } = scene.sandbox
  const userId = await person(giant(4096, 4096, 1))
  const { id: chatId } = await control.addPrivateChat({ userId, botId: home.bot.id })
  const alice = await scene.sandbox.phone(home.alice.id)
  const armored = await alice.seal('signed by alice', scene.certificates)
  const posted = { userId, chatId, armored, addressed: [home.bot.id] }
  const { messageId } = await control.post(posted)
  const next = await alice.write(home.privateChat, 'and this one is from alice')
  const got = await scene.meanwhile(scene.take())
  expect(got.map(({ id, chat }) => [chat.id, id])).toEqual([
    [chatId, messageId],
    [home.privateChat, next],
  ])
  expect(got[0]?.text).toBeUndefined()
  expect(got[0]?.postern?.verdict).toMatch(/^(bad-signature|unknown-signer)$/)
  expect(got[1]).toMatchObject({ text: 'and this one is from alice' })
})
