import { expect, test } from 'vitest'
import { GpgPhone, atTime, keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const DAY_MS = 86_400_000
const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

/** A person whose certificate the sidecar has seen, because it sealed to it. */
async function known(person?: Person): Promise<{ person: Person; chat: DoubleChat }> {
  const someone = person ?? (await stage.person())
  const chat = stage.privateChat(someone)
  await stage.show(chat)
  expect([200, 201]).toContain((await stage.send(chat, canary())).status)
  return { person: someone, chat }
}

async function written(chat: DoubleChat, person: Person, phone = person.phone): Promise<Json> {
  const armored = await phone.seal(canary(), [stage.botCertificate])
  return stage.double.world.message(chat, person, { armored })
}

/** The person has another certificate. @returns the phone of before */
async function swap(person: Person): Promise<GpgPhone> {
  const { phone } = person
  const next = stage.use(await GpgPhone.make())
  Object.assign(person, { phone: next, key: keyOf(next) })
  return phone
}

async function judged(message: Json): Promise<Json> {
  const [read] = await stage.deliver([message])
  return read.postern
}

test('words of before a change verify by the former certificate, also in another process', async () => {
  const { person, chat } = await known()
  const [first, second] = [await written(chat, person), await written(chat, person)]
  const before = await swap(person)
  await stage.send(chat, canary())
  const former = {
    verdict: 'verified',
    reason: 'former-certificate',
    signer: before.fingerprint,
  }
  expect(await judged(first)).toMatchObject(former)
  await stage.restart()
  expect(await judged(second)).toMatchObject(former)
  const now = await judged(await written(chat, person))
  expect(now).toMatchObject({ verdict: 'verified', signer: person.phone.fingerprint })
  expect(now).not.toHaveProperty('reason')
})

test('a change that happened while no sidecar ran counts from when it was seen', async () => {
  const { person, chat } = await known()
  const message = await written(chat, person)
  const before = await swap(person)
  await stage.restart()
  expect(await judged(message)).toMatchObject({
    reason: 'former-certificate',
    signer: before.fingerprint,
  })
})

test('words that were signed after the change was seen do not, nor does a revoked certificate', async () => {
  const { person, chat } = await known()
  const earlier = await written(chat, person)
  const before = await swap(person)
  await judged(await written(chat, person))
  await new Promise((resolve) => setTimeout(resolve, 1100))
  const later = await judged(await written(chat, person, before))
  expect(later.verdict).toBe('bad-signature')

  await before.revoke()
  const present = { key: person.key }
  Object.assign(person, { key: keyOf(before) })
  await stage.send(chat, canary())
  Object.assign(person, present)
  await stage.send(chat, canary())
  expect((await judged(earlier)).verdict).toBe('bad-signature')
})

test('not under pinned, nor for somebody blocked, nor where the new one is verified', async () => {
  const loosened = async (spoken: (person: Person) => string[]): Promise<string> => {
    const { person, chat } = await known()
    const message = await written(chat, person)
    await swap(person)
    await judged(await written(chat, person))
    const { code } = await stage.sidecar.postern(...spoken(person))
    expect(code).toBe(0)
    return (await judged(message)).verdict
  }
  expect(await loosened(({ id }) => ['trust', 'accept', String(id)])).toBe('verified')
  expect(
    await loosened(({ id, phone }) => ['trust', 'verify', String(id), phone.fingerprint]),
  ).toBe('bad-signature')
  expect(await loosened(({ id }) => ['trust', 'block', String(id)])).not.toBe('verified')
  expect(await loosened(() => ['trust', 'policy', 'pinned'])).not.toBe('verified')
  await stage.sidecar.postern('trust', 'policy', 'accept')
})

test('an older copy of a certificate without its end is read with the end, after a restart too', async () => {
  const made = new Date(Date.now() - 10 * DAY_MS).toISOString().replace(/[-:]|\.\d+Z/g, '')
  const phone = stage.use(await GpgPhone.make({ clock: made }))
  const older = keyOf(phone)
  const person = stage.with(phone)
  await phone.gpg([
    ...atTime(Date.now() - 5 * DAY_MS),
    '--quick-set-expire',
    phone.fingerprint,
    '2d',
  ])
  await phone.reread()
  const newer = keyOf(phone)
  expect(newer).not.toEqual(older)
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const unusable = async (key: typeof older): Promise<[number, string]> => {
    Object.assign(person, { key })
    const { status, json } = await stage.send(chat, canary())
    return [status, json.error?.code]
  }
  const refused = [409, 'postern_recipient_unusable']
  expect(await unusable(newer)).toEqual(refused)
  expect(await unusable(older)).toEqual(refused)
  await stage.restart()
  expect(await unusable(older)).toEqual(refused)
})
