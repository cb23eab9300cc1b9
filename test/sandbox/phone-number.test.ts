/** The safety number that a phone of the sandbox shows. */
import { expect, test } from 'vitest'
import { safetyNumber } from '../../src/trust/number.ts'
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

test('there is none while the bot has no key, and none with a key that is no certificate', async () => {
  await control.removeKey({ botId: bot.id })
  expect(await numberOf(alice.userId)).toBe(null)
  await control.setBotKey({ botId: bot.id, publicKey: 'none', fingerprint: 'f'.repeat(40) })
  expect(await numberOf(alice.userId)).toBe(null)
})

test('it is of both certificates, whatever fingerprint the service names beside them', async () => {
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

test('it is another one after either has another key', async () => {
  await giveBotKey(bob.userId)
  const before = await numberOf(alice.userId)
  await control.newKey({ userId: alice.userId })
  const after = await numberOf(alice.userId)
  expect(after).not.toEqual(before)
  const { id } = await control.addPerson({ username: 'another' })
  await control.givePhone({ userId: id })
  await giveBotKey(id)
  expect(await numberOf(alice.userId)).not.toEqual(after)
})

test('it is null for a key of version 6, and refused for who is not there', async () => {
  await control.newKey({ userId: bob.userId, kind: 'v6' })
  expect(await numberOf(bob.userId)).toBe(null)
  await expect(numberOf(1)).rejects.toThrow('no person has the id 1')
  await expect(control.safetyNumber({ userId: alice.userId, botId: alice.userId })).rejects.toThrow(
    'no bot has the id',
  )
})
