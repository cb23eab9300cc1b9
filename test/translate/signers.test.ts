import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { arrives } from '../support/double-sends.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
const DAY_MS = 86_400_000

/** Words arrive from a person, sealed by a phone that may be another one's. */
async function says(chat: DoubleChat, from: Person, words: string, by = from): Promise<Json> {
  return await arrives(stage, chat, from, await by.phone.seal(words, [stage.botCertificate]))
}

/** A person whose key is old enough for signatures of any date. */
const oldHand = (): Promise<Person> => stage.person({ createdMs: Date.UTC(2025, 0, 1) })

test('a person who changes keys between two messages is verified with each key', async () => {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  const first = await says(chat, person, 'old key')
  expect(first).toMatchObject({ text: 'old key', postern: { verdict: 'verified' } })

  await person.phone.rotate()
  const key = keyOf(person.phone)
  chat.people[0] = { id: person.id, key }
  stage.double.world.users.set(person.id, { id: person.id, key })
  const since = stage.double.mark()
  const second = await says(chat, person, 'new key')
  expect(second).toMatchObject({
    text: 'new key',
    postern: { verdict: 'verified', signer: person.phone.fingerprint },
  })
  expect(stage.double.calls('GET', `/chats/${chat.id}/keys`, since).length).toBe(1)
})

test('twelve forged signatures cause fewer than twelve key lookups', async () => {
  const [person, thief] = [await stage.friend(), await stage.person()]
  const chat = stage.privateChat(person)
  const forged = await thief.phone.sign('forged')
  const since = stage.double.mark()
  for (let n = 0; n < 12; n++) {
    const armored = await thief.phone.sealPackets(forged, [stage.botCertificate])
    expect((await arrives(stage, chat, person, armored)).postern.verdict).toBe('bad-signature')
  }
  expect(stage.double.calls('GET', /keys?$/, since).length).toBeLessThan(12)
})

const dates: [string, number, string][] = [
  ['4 minutes ahead of our clock is good', 240_000, 'verified'],
  ['10 minutes ahead of our clock is bad', 600_000, 'bad-signature'],
  ['20 days old is good', -20 * DAY_MS, 'verified'],
  ['older than the memory of 30 days counts as replayed', -40 * DAY_MS, 'replayed'],
]
for (const [name, offsetMs, verdict] of dates) {
  test(`a signature ${name}`, async () => {
    const startedMs = Date.now()
    const person = await oldHand()
    const chat = stage.privateChat(person)
    const signed = await person.phone.sign('dated', Date.now() + offsetMs)
    const now = await stage.friend()
    const armored = await now.phone.sealPackets(signed, [stage.botCertificate])
    const one = await arrives(stage, chat, person, armored)
    expect(one.postern.verdict).toBe(verdict)
    expect(one.text).toBe(verdict === 'verified' ? 'dated' : undefined)
    const signedAtMs = Math.floor((startedMs + offsetMs) / 1000) * 1000
    if (verdict === 'verified') {
      expect(one.postern.signedAt).toBeGreaterThanOrEqual(signedAtMs)
      expect(one.postern.signedAt).toBeLessThan(signedAtMs + 60_000)
    } else expect(one.postern).not.toHaveProperty('signedAt')
    expect(one.postern.reason === 'signed-long-before').toBe(name === '20 days old is good')
  })
}
