import { expect, test } from 'vitest'
import { GpgPhone, keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

async function known(): Promise<{ person: Person; chat: DoubleChat }> {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  expect((await sent(chat)).keyChanged).toBeUndefined()
  return { person, chat }
}

/** What `postern` says of a message that was sent. */
async function sent(chat: DoubleChat, more: Record<string, unknown> = {}): Promise<Json> {
  const { status, json, text } = await stage.send(chat, canary(), more)
  expect([200, 201], text).toContain(status)
  return json.result.postern
}

async function written(chat: DoubleChat, person: Person): Promise<Json> {
  const armored = await person.phone.seal(canary(), [stage.botCertificate])
  return stage.double.world.message(chat, person, { armored })
}

/** The person has another certificate. @returns what the bot is told of it */
async function swap(person: Person): Promise<object> {
  const from = person.phone.fingerprint
  const phone = stage.use(await GpgPhone.make())
  Object.assign(person, { phone, key: keyOf(phone) })
  return { userId: person.id, from, to: phone.fingerprint }
}

test('the first send and the first message after a change say so, once each, across a restart', async () => {
  const { person, chat } = await known()
  const change = await swap(person)
  const sendId = crypto.randomUUID()
  expect((await sent(chat, { sendId })).keyChanged).toEqual([change])
  expect((await sent(chat, { sendId })).keyChanged).toEqual([change])
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
  await stage.restart()
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
  const [first, second] = await stage.deliver([
    await written(chat, person),
    await written(chat, person),
  ])
  expect(first.postern).toMatchObject({ verdict: 'verified', keyChanged: [change] })
  expect(second.postern).not.toHaveProperty('keyChanged')
  await stage.restart()
  const [third] = await stage.deliver([await written(chat, person)])
  expect(third.postern.verdict).toBe('verified')
  expect(third.postern).not.toHaveProperty('keyChanged')
})

test('the same update asked for again says it again, and another change is told anew', async () => {
  const { person, chat } = await known()
  const change = await swap(person)
  const message = await written(chat, person)
  const id = stage.double.world.push({ kind: 'message', message })
  for (let times = 0; times < 2; times++) {
    const [update] = await stage.askAgain(id)
    expect(update.message.postern.keyChanged).toEqual([change])
  }
  const next = await swap(person)
  expect((await sent(chat)).keyChanged).toEqual([next])
})

test('words that are withheld for another reason use up nothing', async () => {
  const { person, chat } = await known()
  const change = await swap(person)
  await sent(chat)
  const stranger = stage.use(await GpgPhone.make())
  const forged = await stranger.seal(canary(), [stage.botCertificate])
  const withheld = await stage.deliver([
    stage.double.world.message(chat, person, { text: canary() }),
    stage.double.world.message(chat, person, { armored: forged }),
    stage.double.world.message(chat, person, { armored: 'no message' }),
  ])
  for (const { postern } of withheld) expect(postern).not.toHaveProperty('keyChanged')
  const [real] = await stage.deliver([await written(chat, person)])
  expect(real.postern).toMatchObject({ verdict: 'verified', keyChanged: [change] })
})

test('under first-use a message that is withheld for the change itself says so', async () => {
  const { person, chat } = await known()
  await stage.sidecar.postern('trust', 'policy', 'first-use')
  const change = await swap(person)
  expect((await stage.send(chat, canary())).json.error.code).toBe('postern_trust_required')
  const [message] = await stage.deliver([await written(chat, person)])
  expect(message.postern).toMatchObject({ reason: 'key-changed', keyChanged: [change] })
  await stage.sidecar.postern('trust', 'policy', 'accept')
})

test('in a group the answer names who changed, and not who did not', async () => {
  const { person } = await known()
  const chat = stage.group([person, await stage.friend()])
  await sent(chat)
  const change = await swap(person)
  expect((await sent(chat)).keyChanged).toEqual([change])
})

test('under first-use it is told with what is skipped, and under pinned it is left to the operator', async () => {
  const { person } = await known()
  const chat = stage.group([person, await stage.friend()])
  await sent(chat)
  await stage.sidecar.postern('trust', 'policy', 'first-use')
  const change = await swap(person)
  const told = await sent(chat)
  expect(told.skipped).toEqual([{ userId: person.id, reason: 'key-changed' }])
  expect(told.keyChanged).toEqual([change])
  await stage.sidecar.postern('trust', 'policy', 'pinned')
  await stage.sidecar.postern('trust', 'accept', String((await stage.friend()).id))
  await swap(person)
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
})

test('a certificate that its person revoked stays so; the next one counts once the operator accepts it', async () => {
  await stage.sidecar.postern('trust', 'policy', 'first-use')
  try {
    const { person, chat } = await known()
    const { phone, key } = person
    await phone.revoke()
    Object.assign(person, { key: keyOf(phone) })
    expect((await stage.send(chat, canary())).json.error.code).toBe('postern_recipient_unusable')
    // the service shows the certificate as it was before
    Object.assign(person, { key })
    expect((await stage.send(chat, canary())).json.error.code).toBe('postern_recipient_unusable')
    await swap(person)
    expect((await stage.send(chat, canary())).json.error.code).toBe('postern_trust_required')
    expect((await stage.sidecar.postern('trust', 'accept', String(person.id))).code).toBe(0)
    await sent(chat)
    const [update] = await stage.deliver([await written(chat, person)])
    expect(update.postern.verdict).toBe('verified')
  } finally {
    await stage.sidecar.postern('trust', 'policy', 'accept')
  }
})
