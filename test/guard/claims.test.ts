import { readMessage } from 'openpgp'
import { expect, test } from 'vitest'
import {
  arrives,
  expectRefused,
  expectSealed,
  postern,
  shownChat,
} from '../support/double-sends.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat, ListedPerson } from '../support/double-world.ts'
import { graft, subkeysOf } from '../support/double-graft.ts'
import { ed25519 } from '../support/openpgp-key.ts'
import { MADE_MS } from '../support/openpgp-people.ts'

/** No member can silence another, whatever she publishes at an honest service. */
const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

/** A send that these people can read. @returns how many recipient packets it has */
async function packetsTo(chat: DoubleChat, people: Person[], skipped: unknown[] = []) {
  const armored = await expectSealed(stage, chat, people, skipped)
  const message = await readMessage({ armoredMessage: armored })
  return message.getEncryptionKeyIDs().length
}

async function says(chat: DoubleChat, from: Person, words: string): Promise<Json> {
  const listed = chat.people.flatMap(({ key }) => (key === null ? [] : [key.certificate]))
  const armored = await from.phone.seal(words, [...new Set([stage.botCertificate, ...listed])])
  return await arrives(stage, chat, from, armored)
}

/** Somebody who publishes this certificate as hers. */
const thiefOf = ({ key }: { key: ListedPerson['key'] }): ListedPerson =>
  stage.double.world.addUser(key)
const lists = (certificate: string, fingerprint: string): ListedPerson =>
  stage.double.world.addUser({ certificate, fingerprint })

test('a copy of a person’s certificate costs that person no message, in either order of listing', async () => {
  for (const isThiefFirst of [true, false]) {
    const bob = await stage.person()
    const mallory = thiefOf(bob)
    const carol = await stage.friend()
    const own = await shownChat(stage, bob)
    const first = isThiefFirst ? mallory : bob
    expect((await stage.send(stage.group([first]), canary())).status).toBe(201)
    expect(await packetsTo(stage.group([mallory, bob, carol]), [bob, carol])).toBe(3)
    expect(await packetsTo(own, [bob])).toBe(2)
    expect(await says(own, bob, `words ${isThiefFirst}`)).toMatchObject({
      text: `words ${isThiefFirst}`,
      postern: { verdict: 'verified', reason: 'shared-certificate', signer: bob.phone.fingerprint },
    })
  }
})

test('the owner whom the operator names keeps the certificate, and other claimants are skipped', async () => {
  const bob = await stage.person()
  const thief = thiefOf(bob)
  const mallory: Person = Object.assign(thief, { phone: bob.phone })
  const group = stage.group([mallory, bob])
  await packetsTo(group, [bob])
  await postern(stage, 'trust', 'accept', String(bob.id))
  const skipped = [{ userId: mallory.id, reason: 'other-person' }]
  await packetsTo(group, [bob], skipped)
  const own = await says(group, bob, 'the owner')
  expect(own.postern.verdict).toBe('verified')
  expect(own.postern).not.toHaveProperty('reason')
  const claimed = await says(group, mallory, 'the thief')
  expect(claimed).not.toHaveProperty('text')
  expect(claimed.postern).toMatchObject({ verdict: 'unknown-signer', reason: 'other-person' })
  // and it stays so, also when the owner is blocked, and after a restart
  await postern(stage, 'trust', 'block', String(bob.id))
  await stage.restart()
  await stage.sidecar.whenReady()
  expect((await says(group, mallory, 'the thief again')).postern.reason).toBe('other-person')
})

test('a person who lists the bot’s certificate or subkey is skipped as `own-key`, and silences nobody', async () => {
  const friend = await stage.friend()
  const { publicKey = '', fingerprint = '' } = stage.double.world.published ?? {}
  const copy = lists(publicKey, fingerprint)
  const primary = ed25519('grafts the bot', MADE_MS)
  const grafted = lists(graft(primary, ...subkeysOf(publicKey)), primary.fingerprint)
  const group = stage.group([copy, friend, grafted])
  const skipped = [copy, grafted].map(({ id: userId }) => ({ userId, reason: 'own-key' }))
  expect(await packetsTo(group, [friend], skipped)).toBe(2)

  const alone = await shownChat(stage, copy)
  const message = await expectRefused(stage, alone, 'postern_recipient_unusable')
  expect(message).toContain(`${copy.id} (own-key)`)
})

test('a subkey under several primary keys receives one packet, and its holder can decrypt', async () => {
  const bob = await stage.person()
  const [subkey] = subkeysOf(bob.phone.certificate)
  if (subkey === undefined) throw new Error('no subkey')
  const primary = ed25519('grafts bob', MADE_MS)
  const grafted = lists(graft(primary, subkey), primary.fingerprint)
  expect(await packetsTo(stage.group([grafted, bob]), [bob])).toBe(2)
  expect(await packetsTo(stage.group([bob, grafted]), [bob])).toBe(2)
})
