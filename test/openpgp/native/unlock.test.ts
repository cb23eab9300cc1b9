import { readPrivateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { unlockNatively, unlockQuickly } from '../../../src/openpgp/native/unlock.ts'
import { generate, unlock } from '../../../src/openpgp/library/secret-key.ts'
import { bot } from '../../support/openpgp-people.ts'
import '../../support/openpgp-engine.ts'

const options = { userId: 'bot', createdMs: Date.UTC(2026, 0, 1) }

/** The key as openpgp.js unlocks it, with a Buffer for its bytes. */
async function byLibrary(locked: string, passphrase: string) {
  const key = await unlock(locked, passphrase)
  return { ...key, bytes: Buffer.from(key.bytes) }
}

test.each([
  ['a short passphrase', 'x', {}],
  ['a passphrase in Cyrillic with an emoji', 'пароль 🔑 ключ', {}],
  ['a passphrase of 300 characters', 'long '.repeat(60), {}],
  ['a certification by another key', 'x', { certifiedBy: bot.unlocked }],
])('a generated key with %s unlocks natively as by openpgp.js', async (_, passphrase, more) => {
  const { locked } = await generate({ ...options, passphrase, isRandom: true, ...more })
  const expected = await byLibrary(locked, passphrase)
  expect(unlockNatively(locked, passphrase)).toEqual(expected)
  expect(unlockQuickly(locked, passphrase)).toEqual(expected)
  expect(() => unlockQuickly(locked, `${passphrase} `)).toThrow('wrong-passphrase')
})

test('a locked key of openpgp.js with a changed secret does not unlock', async () => {
  const { locked } = await generate({ ...options, passphrase: 'x', isRandom: true })
  const key = await readPrivateKey({ armoredKey: locked })
  const sealed = (key.keyPacket as unknown as { keyMaterial: Uint8Array }).keyMaterial
  sealed[3] = (sealed[3] ?? 0) ^ 1
  expect(() => unlockNatively(key.armor(), 'x')).toThrow('wrong-passphrase')
})
