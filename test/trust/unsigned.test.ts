import { beforeEach, expect, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
import type { Operations } from '../../src/control/operations.ts'
import { GpgPhone, keyOf } from '../support/double-phones.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import { no, type Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

/** Leaving the signature out gains nothing. */
const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

async function ask(run: (operations: Operations) => Promise<{ message: string }>): Promise<string> {
  await using control = await connectControl(stage.sidecar.dataDir)
  if (control === null) throw new Error('no sidecar runs')
  return (await run(control)).message
}
const policy = (wanted: 'accept' | 'first-use' | 'pinned' | null) =>
  ask((operations) => operations.trustPolicy({ chatId: null, policy: wanted }))
const accept = ({ id: userId }: { id: number }) =>
  ask((operations) => operations.trustAccept({ userId }))
const verify = ({ id: userId, phone }: Person, fingerprint = phone.fingerprint) =>
  ask((operations) => operations.trustVerify({ userId, fingerprint }))

beforeEach(async () => {
  await policy(null)
})

async function known(): Promise<{ person: Person; chat: DoubleChat }> {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  expect((await stage.send(chat, 'hello')).status).toBe(201)
  return { person, chat }
}

async function deliver(chat: DoubleChat, from: Person, armored: string): Promise<Json> {
  return (await stage.deliver([stage.double.world.message(chat, from, { armored })]))[0]
}
const signed = async (chat: DoubleChat, from: Person, words: string) =>
  await deliver(chat, from, await from.phone.seal(words, [stage.botCertificate]))
const bare = async (chat: DoubleChat, from: Person, words: string) =>
  await deliver(chat, from, await from.phone.sealUnsigned(words, [stage.botCertificate]))

function withheld(message: Json, verdict: string, reason: string): void {
  expect(message.postern).toMatchObject({ verdict, reason })
  expect(message).not.toHaveProperty('text')
}

test('under pinned, whom the operator has not accepted does not speak, signed or not', async () => {
  const { person, chat } = await known()
  await policy('pinned')
  withheld(await signed(chat, person, 'a'), 'unknown-signer', 'not-accepted')
  withheld(await bare(chat, person, 'b'), 'unknown-signer', 'not-accepted')
  await accept(person)
  expect(await bare(chat, person, 'c')).toMatchObject({
    text: 'c',
    postern: { verdict: 'unsigned' },
  })
})

test('under first-use, whose certificate changed does not speak, signed or not, even as the first sign of it', async () => {
  const { person, chat } = await known()
  await policy('first-use')
  expect((await bare(chat, person, 'before')).postern.verdict).toBe('unsigned')
  const phone = stage.use(await GpgPhone.make())
  Object.assign(person, { phone, key: keyOf(phone) })
  withheld(await bare(chat, person, 'a'), 'unknown-signer', 'key-changed')
  withheld(await signed(chat, person, 'b'), 'unknown-signer', 'key-changed')
  await accept(person)
  expect((await bare(chat, person, 'c')).text).toBe('c')
})

test('under first-use, whose certificate is gone does not speak unsigned; who never had one does', async () => {
  const { person, chat } = await known()
  await policy('first-use')
  person.key = null
  withheld(await bare(chat, person, 'a'), 'unknown-signer', 'key-changed')
  const nobody: Person = Object.assign(stage.double.world.addUser(null), { phone: person.phone })
  const theirs = stage.privateChat(nobody)
  expect((await bare(theirs, nobody, 'b')).postern.verdict).toBe('unsigned')
})

test('a service that will not say what is listed does not thereby let anybody speak', async () => {
  const { person, chat } = await known()
  await policy('first-use')
  using _chat = stage.double.script('GET', `/chats/${chat.id}/keys`, no(500, 'internal'))
  using _user = stage.double.script('GET', `/users/${person.id}/key`, no(500, 'internal'))
  const one = await bare(chat, person, 'a')
  expect(one.postern.verdict).toBe('signer-unavailable')
  expect(one).not.toHaveProperty('text')
})

test('under accept, unsigned words cost no question to the service', async () => {
  const { person, chat } = await known()
  const since = stage.double.mark()
  expect((await bare(chat, person, 'a')).text).toBe('a')
  expect(stage.double.calls('GET', /keys?$/, since)).toEqual([])
})

test('whom the operator verified must sign from the first word on, under every policy', async () => {
  const { person, chat } = await known()
  await verify(person)
  for (const one of ['accept', 'first-use', 'pinned'] as const) {
    await policy(one)
    withheld(await bare(chat, person, `under ${one}`), 'bad-signature', 'must-sign')
  }
  expect((await signed(chat, person, 'signed')).text).toBe('signed')
})

test('verifying does not forget that the person signs, whatever fingerprint is verified; accepting does, and says so', async () => {
  const { person, chat } = await known()
  expect((await signed(chat, person, 'signed')).text).toBe('signed')
  await verify(person)
  withheld(await bare(chat, person, 'a'), 'bad-signature', 'stopped-signing')
  await verify(person, 'ab'.repeat(20))
  withheld(await bare(chat, person, 'b'), 'bad-signature', 'stopped-signing')
  await stage.restart()
  await stage.sidecar.whenReady()
  withheld(await bare(chat, person, 'c'), 'bad-signature', 'stopped-signing')
  expect(await accept(person)).toMatch(/start over/)
  expect((await bare(chat, person, 'd')).text).toBe('d')
})

test('of a verified person words must be signed, and files once they have signed one', async () => {
  const { person, chat } = await known()
  await verify(person)
  const fetched = async (armored: string) => {
    const item = stage.double.world.store(Buffer.from(armored))
    const [one] = await stage.deliver([
      stage.double.world.message(chat, person, { text: null, media: [item] }),
    ])
    const response = await fetch(`${stage.sidecar.url}${one.media[0].url}`)
    return [response.status, response.headers.get('postern-verdict')]
  }
  const to = [stage.botCertificate]
  expect(await fetched(await person.phone.sealUnsigned('file a', to))).toEqual([200, 'unsigned'])
  expect(await fetched(await person.phone.seal('file b', to))).toEqual([200, 'verified'])
  expect((await fetched(await person.phone.sealUnsigned('file c', to)))[0]).toBe(422)
  await using control = await connectControl(stage.sidecar.dataDir)
  const rows = (await control?.trustList())?.people
  expect(rows?.find(({ userId }) => userId === person.id)).toMatchObject({
    signs: true,
    signsFiles: true,
  })
})
