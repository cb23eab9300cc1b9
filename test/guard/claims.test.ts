import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat, ListedPerson } from '../support/double-world.ts'
import { graft, subkeysOf } from '../support/openpgp-graft.ts'
import { curve25519, ed25519 } from '../support/openpgp-key.ts'
import { MADE_MS } from '../support/openpgp-people.ts'

/** No member can silence another, whatever she publishes at an honest service. */
const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

const postern = async (...args: string[]): Promise<string> => {
  const { code, stderr, stdout } = await stage.sidecar.postern(...args)
  expect(code, stderr).toBe(0)
  return stdout + stderr
}

async function journal(kind: string): Promise<Json[]> {
  const lines = (await postern('trust', 'log', '--json')).trim().split('\n')
  return lines.map((line) => JSON.parse(line)).filter((entry) => entry.kind === kind)
}

/** Sends, and gives the recipient packets' count; the people given can read it. */
async function reaches(chat: DoubleChat, people: Person[], skipped: unknown[] = []) {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  expect(sent.status, sent.text).toBe(201)
  expect(sent.json.result.postern.skipped).toEqual(skipped)
  const [{ armored }] = stage.bodies(since)
  for (const { phone } of people) {
    expect((await phone.open(armored, stage.botCertificate)).text).toBe(words)
  }
  const listed = await people[0]?.phone.gpg(['--list-packets'], armored)
  return listed?.stdout.toString().match(/^:pubkey enc packet/gm)?.length
}

async function says(chat: DoubleChat, from: Person, words: string): Promise<Json> {
  const listed = chat.people.flatMap(({ key }) => (key === null ? [] : [key.certificate]))
  const armored = await from.phone.seal(words, [...new Set([stage.botCertificate, ...listed])])
  return (await stage.deliver([stage.double.world.message(chat, from, { armored })]))[0]
}

/** Somebody who publishes this certificate as hers. */
const thiefOf = ({ key }: { key: ListedPerson['key'] }): ListedPerson =>
  stage.double.world.addUser(key)
const lists = (certificate: string, fingerprint: string): ListedPerson =>
  stage.double.world.addUser({ certificate, fingerprint })

test('a copy of Bob’s certificate takes nothing from Bob, in groups and in his own chat, whoever is seen first', async () => {
  for (const isThiefFirst of [true, false]) {
    const bob = await stage.person()
    const mallory = thiefOf(bob)
    const carol = await stage.friend()
    const own = stage.privateChat(bob)
    await stage.show(own)
    const first = isThiefFirst ? mallory : bob
    expect((await stage.send(stage.group([first]), canary())).status).toBe(201)
    expect(await reaches(stage.group([mallory, bob, carol]), [bob, carol])).toBe(3)
    expect(await reaches(own, [bob])).toBe(2)
    expect(await says(own, bob, `words ${isThiefFirst}`)).toMatchObject({
      text: `words ${isThiefFirst}`,
      postern: { verdict: 'verified', reason: 'shared-certificate', signer: bob.phone.fingerprint },
    })
  }
})

test('a dispute is written down once and named in the list, and ends when the thief lists another key', async () => {
  const bob = await stage.person()
  const mallory = thiefOf(bob)
  const group = stage.group([bob, mallory])
  await reaches(group, [bob])
  await reaches(group, [bob])
  const of = (one: Json) => one.detail.fingerprint === bob.phone.fingerprint
  const [entry, ...more] = (await journal('certificate-shared')).filter(of)
  expect(more).toEqual([])
  expect(entry.detail).toEqual({
    fingerprint: bob.phone.fingerprint,
    people: [bob.id, mallory.id].sort((a, b) => a - b),
    owner: null,
  })
  const rows = JSON.parse(await postern('trust', 'list', '--json')).people as Json[]
  expect(rows.find(({ userId }) => userId === bob.id).sharedWith).toEqual([mallory.id])

  await stage.restart()
  await stage.sidecar.whenReady()
  expect((await says(group, bob, 'still disputed')).postern.reason).toBe('shared-certificate')
  const other = await stage.person()
  mallory.key = other.key
  await reaches(group, [bob, other])
  const free = await says(group, bob, 'mine again')
  expect(free.postern.verdict).toBe('verified')
  expect(free.postern).not.toHaveProperty('reason')
})

test('a dispute ends when the thief’s own record says that she has no key any more', async () => {
  const bob = await stage.person()
  const mallory = thiefOf(bob)
  const group = stage.group([bob, mallory])
  await reaches(group, [bob])
  mallory.key = null
  await reaches(group, [bob])
  const armored = await bob.phone.seal('as mallory', [stage.botCertificate])
  await stage.deliver([stage.double.world.message(group, mallory, { armored })])
  expect((await says(group, bob, 'mine alone')).postern).not.toHaveProperty('reason')
})

test('whom the operator names owns it: the others are left out, named, and verify nothing with it', async () => {
  const bob = await stage.person()
  const thief = thiefOf(bob)
  const mallory: Person = Object.assign(thief, { phone: bob.phone })
  const group = stage.group([mallory, bob])
  await reaches(group, [bob])
  await postern('trust', 'accept', String(bob.id))
  const skipped = [{ userId: mallory.id, reason: 'other-person' }]
  await reaches(group, [bob], skipped)
  const own = await says(group, bob, 'the owner')
  expect(own.postern.verdict).toBe('verified')
  expect(own.postern).not.toHaveProperty('reason')
  const claimed = await says(group, mallory, 'the thief')
  expect(claimed).not.toHaveProperty('text')
  expect(claimed.postern).toMatchObject({ verdict: 'unknown-signer', reason: 'other-person' })
  // and it stays so, also when the owner is blocked, and after a restart
  await postern('trust', 'block', String(bob.id))
  await stage.restart()
  await stage.sidecar.whenReady()
  expect((await says(group, mallory, 'the thief again')).postern.reason).toBe('other-person')
})

test('words that Bob signed elsewhere, sealed anew by a thief of his certificate, are never words of both', async () => {
  const bob = await stage.person()
  const mallory = thiefOf(bob)
  const [own, theirs] = [stage.privateChat(bob), stage.privateChat(mallory)]
  const signed = await bob.phone.sign('pay 10')
  const seal = () => bob.phone.sealPackets(signed, [stage.botCertificate])
  const of = async (chat: DoubleChat, from: ListedPerson) =>
    (await stage.deliver([stage.double.world.message(chat, from, { armored: await seal() })]))[0]
  expect((await of(own, bob)).postern.verdict).toBe('verified')
  expect((await of(theirs, mallory)).postern.verdict).toBe('replayed')
})

test('who lists the bot’s certificate, or its subkey under her own key, is left out and silences nobody', async () => {
  const friend = await stage.friend()
  const { publicKey = '', fingerprint = '' } = stage.double.world.published ?? {}
  const copy = lists(publicKey, fingerprint)
  const primary = ed25519('grafts the bot', MADE_MS)
  const grafted = lists(graft(primary, ...subkeysOf(publicKey)), primary.fingerprint)
  const group = stage.group([copy, friend, grafted])
  const skipped = [copy, grafted].map(({ id: userId }) => ({ userId, reason: 'own-key' }))
  expect(await reaches(group, [friend], skipped)).toBe(2)

  const alone = stage.privateChat(copy)
  await stage.show(alone)
  const sent = await stage.send(alone, canary())
  expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_recipient_unusable'])
  expect(sent.json.error.message).toContain(`${copy.id} (own-key)`)
})

test('the bot’s own words are not verified for somebody who lists a copy of its certificate', async () => {
  const { publicKey = '', fingerprint = '' } = stage.double.world.published ?? {}
  const mallory = lists(publicKey, fingerprint)
  const group = stage.group([mallory, await stage.friend()])
  const since = stage.double.mark()
  expect((await stage.send(group, canary())).status).toBe(201)
  const [{ armored }] = stage.bodies(since)
  const elsewhere = stage.privateChat(mallory)
  for (const chat of [group, elsewhere]) {
    const [one] = await stage.deliver([stage.double.world.message(chat, mallory, { armored })])
    expect(one).not.toHaveProperty('text')
    expect(one.postern.verdict).not.toBe('verified')
  }
})

test('a subkey that stands under several primary keys gets one packet, and its own holder can read', async () => {
  const bob = await stage.person()
  const [subkey] = subkeysOf(bob.phone.certificate)
  if (subkey === undefined) throw new Error('no subkey')
  const primary = ed25519('grafts bob', MADE_MS)
  const grafted = lists(graft(primary, subkey), primary.fingerprint)
  expect(await reaches(stage.group([grafted, bob]), [bob])).toBe(2)
  expect(await reaches(stage.group([bob, grafted]), [bob])).toBe(2)
})

test('a graft that seals to a key of its own later takes nothing from the one whose subkey it is', async () => {
  const bob = await stage.person()
  const [subkey] = subkeysOf(bob.phone.certificate)
  if (subkey === undefined) throw new Error('no subkey')
  const primary = ed25519('grafts and waits', MADE_MS)
  const soon = curve25519('begins soon', Date.now() + 2000)
  const grafted = lists(graft(primary, subkey, soon), primary.fingerprint)
  const group = stage.group([grafted, bob])
  await reaches(group, [bob])
  await new Promise((resolve) => setTimeout(resolve, 3000))
  await reaches(group, [bob])
})

test('under the setting that refuses, a squatter is named and the others are served', async () => {
  await stage.restart({
    POSTERN_CACHE_KEY_LIST_SECONDS: '0',
    POSTERN_SEAL_UNUSABLE_RECIPIENT: 'refuse',
  })
  await stage.sidecar.whenReady()
  const bob = await stage.person()
  const { publicKey = '', fingerprint = '' } = stage.double.world.published ?? {}
  const copy = lists(publicKey, fingerprint)
  await reaches(stage.group([copy, bob]), [bob], [{ userId: copy.id, reason: 'own-key' }])
  const mallory = thiefOf(bob)
  await postern('trust', 'accept', String(bob.id))
  const group = stage.group([mallory, bob])
  await reaches(group, [bob], [{ userId: mallory.id, reason: 'other-person' }])
  // somebody whose own certificate cannot be used still stops it, as the operator wished
  const gone = await stage.person()
  await gone.phone.revoke()
  group.people = [bob, { id: gone.id, key: keyOf(gone.phone) }]
  expect((await stage.send(group, canary())).json.error.code).toBe('postern_recipient_unusable')
})
