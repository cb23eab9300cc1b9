/** The safety number that a phone of the sandbox shows. */
import { expect, test } from 'vitest'
import { safetyNumber } from '../../src/operators/trust/number.ts'
import { usePhones } from './support.ts'

const { sandbox, alice, bob } = await usePhones({ clock: 'running' })
const { bot } = sandbox.home
const { control } = sandbox

/** Gives the bot the certificate of somebody's phone. */
async function giveBotKey(userId: number, fingerprint?: string) {
  const { publicKey, ...published } = (await control.certificate({ userId }))!
  await control.setBotKey({
    botId: bot.id,
    publicKey,
    fingerprint: fingerprint ?? published.fingerprint,
  })
}

const numberOf = (userId: number) => control.safetyNumber({ userId, botId: bot.id })

test('`safetyNumber` is null while the bot has no key, or a key that is no certificate', async () => {
  await control.removeKey({ botId: bot.id })
  expect(await numberOf(alice.userId)).toBe(null)
  await control.setBotKey({ botId: bot.id, publicKey: 'none', fingerprint: 'f'.repeat(40) })
  expect(await numberOf(alice.userId)).toBe(null)
})

test('`safetyNumber` is made of both certificates, not of the fingerprint that the service lists', async () => {
  const key = await control.addPerson({ username: 'keyholder' })
  const { fingerprint } = await sandbox.phone(key.id)
  await giveBotKey(key.id, 'e'.repeat(40))
  const sides = {
    bot: { userId: bot.id, fingerprint },
    person: { userId: alice.userId, fingerprint: alice.fingerprint },
  }
  expect(await numberOf(alice.userId)).toEqual(await safetyNumber(sides))
  expect(await alice.numberWith(bot.id)).toEqual(await safetyNumber(sides))
  expect(await numberOf(bob.userId)).not.toEqual(await numberOf(alice.userId))
})

test('`safetyNumber` is null for a key of version 6, and refused for unknown ids', async () => {
  await control.newKey({ userId: bob.userId, kind: 'v6' })
  expect(await numberOf(bob.userId)).toBe(null)
  await expect(numberOf(1)).rejects.toThrow('no person has the id 1')
  await expect(control.safetyNumber({ userId: alice.userId, botId: alice.userId })).rejects.toThrow(
    'no bot has the id',
  )
})
