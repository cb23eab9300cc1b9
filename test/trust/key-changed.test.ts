import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { expectRefused, known, swap } from '../support/double-sends.ts'
import { canary, newPhone, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { useTrustStage } from './trust-scene.ts'

const { stage, policy, accept, signed } = useTrustStage()

/** What `postern` says of a message that was sent. */
async function sent(chat: DoubleChat, more: Record<string, unknown> = {}): Promise<Json> {
  const { status, json, text } = await stage.send(chat, canary(), more)
  expect([200, 201], text).toContain(status)
  return json.result.postern
}

async function written(chat: DoubleChat, person: Person, phone = person.phone): Promise<Json> {
  const armored = await phone.seal(canary(), [stage.botCertificate])
  return stage.double.world.message(chat, person, { armored })
}

const judged = async (message: Json): Promise<Json> => (await stage.deliver([message]))[0].postern

/** The person has another certificate. @returns what the bot is told of it */
async function change(person: Person): Promise<object> {
  const { fingerprint } = await swap(stage, person)
  return { userId: person.id, from: fingerprint, to: person.phone.fingerprint }
}

test('the first send and the first message after a key change report it, once each, across a restart', async () => {
  const { person, chat } = await known(stage)
  const changed = await change(person)
  const sendId = crypto.randomUUID()
  expect((await sent(chat, { sendId })).keyChanged).toEqual([changed])
  expect((await sent(chat, { sendId })).keyChanged).toEqual([changed])
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
  await stage.restart()
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
  const [first, second] = await stage.deliver([
    await written(chat, person),
    await written(chat, person),
  ])
  expect(first.postern).toMatchObject({ verdict: 'verified', keyChanged: [changed] })
  expect(second.postern).not.toHaveProperty('keyChanged')
  await stage.restart()
  const third = await judged(await written(chat, person))
  expect(third.verdict).toBe('verified')
  expect(third).not.toHaveProperty('keyChanged')
})

test('a repeated update reports a key change again, and a further change is reported anew', async () => {
  const { person, chat } = await known(stage)
  const changed = await change(person)
  const message = await written(chat, person)
  const id = stage.double.world.push({ kind: 'message', message })
  for (let times = 0; times < 2; times++) {
    const [update] = await stage.askAgain(id)
    expect(update.message.postern.keyChanged).toEqual([changed])
  }
  const next = await change(person)
  expect((await sent(chat)).keyChanged).toEqual([next])
})

test('messages withheld for another reason do not use up the report of a key change', async () => {
  const { person, chat } = await known(stage)
  const changed = await change(person)
  await sent(chat)
  const stranger = stage.use(await newPhone())
  const withheld = await stage.deliver([
    stage.double.world.message(chat, person, { text: canary() }),
    await written(chat, person, stranger),
    stage.double.world.message(chat, person, { armored: 'no message' }),
  ])
  for (const { postern } of withheld) expect(postern).not.toHaveProperty('keyChanged')
  const real = await judged(await written(chat, person))
  expect(real).toMatchObject({ verdict: 'verified', keyChanged: [changed] })
})

test('a message withheld for a changed key under first-use reports the change', async () => {
  const { person, chat } = await known(stage)
  await policy('first-use')
  const changed = await change(person)
  await expectRefused(stage, chat, 'postern_trust_required')
  const postern = await judged(await written(chat, person))
  expect(postern).toMatchObject({ reason: 'key-changed', keyChanged: [changed] })
})

test('a send to a group reports changed keys, also of skipped people, and under pinned none', async () => {
  const { person } = await known(stage)
  const chat = stage.group([person, await stage.friend()])
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
  const changed = await change(person)
  expect((await sent(chat)).keyChanged).toEqual([changed])
  await accept(person)
  await policy('first-use')
  const again = await change(person)
  expect(await sent(chat)).toMatchObject({
    skipped: [{ userId: person.id, reason: 'key-changed' }],
    keyChanged: [again],
  })
  await policy('pinned')
  await accept(await stage.friend())
  await change(person)
  expect(await sent(chat)).not.toHaveProperty('keyChanged')
})

test('a revoked certificate stays unusable, after a restart too, and the next one needs `trust accept`', async () => {
  await policy('first-use')
  const { person, chat } = await known(stage)
  const { phone, key } = person
  await phone.revoke()
  Object.assign(person, { key: keyOf(phone) })
  await expectRefused(stage, chat, 'postern_recipient_unusable')
  // the service shows the certificate as it was before
  Object.assign(person, { key })
  await expectRefused(stage, chat, 'postern_recipient_unusable')
  await stage.restart()
  const message = await expectRefused(stage, chat, 'postern_recipient_unusable')
  expect(message).toContain('revoked')
  await change(person)
  await expectRefused(stage, chat, 'postern_trust_required')
  await accept(person)
  await sent(chat)
  expect((await signed(chat, person, 'anew')).postern.verdict).toBe('verified')
})

test('a message signed before a key change is verified by the former certificate after a restart', async () => {
  const { person, chat } = await known(stage)
  const [first, second] = [await written(chat, person), await written(chat, person)]
  const { fingerprint: signer } = await swap(stage, person)
  await stage.restart()
  const former = { verdict: 'verified', reason: 'former-certificate', signer }
  expect(await judged(first)).toMatchObject(former)
  await stage.restart()
  expect(await judged(second)).toMatchObject(former)
  const now = await judged(await written(chat, person))
  expect(now).toMatchObject({ verdict: 'verified', signer: person.phone.fingerprint })
  expect(now).not.toHaveProperty('reason')
})

test('a message signed by the former key after the change, or by a revoked key, is a bad signature', async () => {
  const { person, chat } = await known(stage)
  const earlier = await written(chat, person)
  const before = await swap(stage, person)
  await judged(await written(chat, person))
  await new Promise((resolve) => setTimeout(resolve, 1100))
  const later = await judged(await written(chat, person, before))
  expect(later.verdict).toBe('bad-signature')

  await before.revoke()
  const { key } = person
  for (const listed of [keyOf(before), key]) {
    Object.assign(person, { key: listed })
    await stage.send(chat, canary())
  }
  expect((await judged(earlier)).verdict).toBe('bad-signature')
})
