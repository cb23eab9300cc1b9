import { expect, test } from 'vitest'
import { armor, container, keyIdsOf, packet, recipients, TAG } from '../support/faults-packets.ts'
import { dearmored } from '../support/openpgp-framing.ts'
import { useScene } from './scene.ts'

const STRANGER = '00112233aabbccdd'
/** As many Curve25519 recipients as fit. */
const MANY = 950

/** The active one, and five that are retained. */
const KEYS = 6
const scene = useScene({ keys: KEYS })

/** Recipient packets before a message that alice's phone sealed to the bot. */
async function before(flood: Buffer, text: string): Promise<string> {
  const alice = await scene.sandbox.phone(scene.sandbox.home.alice.id)
  const sealed = await alice.seal(text, scene.certificates.slice(0, 1))
  return armor(Buffer.concat([flood, dearmored(sealed)]))
}

test('a message with 950 other recipients beside the bot opens', async () => {
  const message = await before(recipients(MANY, STRANGER), 'in a crowd')
  expect(await scene.fatesOf([message])).toEqual(['verified, delivered'])
})

test('ten messages with 950 other recipients alone are `not-recipient`, and delay no other message', async () => {
  const flood = armor(Buffer.concat([recipients(MANY, STRANGER), container(256)]))
  const floods = Array.from({ length: 10 }, () => flood)
  const fates = await scene.fatesOf([...floods, await before(Buffer.alloc(0), 'behind them')])
  expect(fates).toEqual([...floods.map(() => 'not-recipient'), 'verified, delivered'])
})

test('ten messages with 950 packets for the bot’s keys are damaged, and delay no other message', async () => {
  const names = await Promise.all(scene.certificates.map(keyIdsOf))
  const floods = names.flat().map((keyId) => {
    return armor(Buffer.concat([recipients(MANY, keyId), container(256)]))
  })
  const many = Array.from({ length: 10 }, (_, n) => floods[n % floods.length] ?? '')
  const fates = await scene.fatesOf([...many, await before(Buffer.alloc(0), 'behind them too')])
  expect(fates).toEqual([...many.map(() => 'damaged: decryption'), 'verified, delivered'])
})

test('a message with 7000 recipient packets, or with armor over its limit, is `too-large`', async () => {
  const tiny = packet(TAG.pkesk, Buffer.concat([Buffer.from([3]), Buffer.alloc(9, 7)]))
  const flood = Buffer.concat(Array.from({ length: 7000 }, () => tiny))
  const fates = await scene.fatesOf([
    armor(Buffer.concat([flood, container(256)])),
    await before(recipients(MANY * 2, STRANGER), 'too long'),
    await before(Buffer.alloc(0), 'and on'),
  ])
  expect(fates).toEqual(['too-large: recipients', 'too-large: armor', 'verified, delivered'])
})
