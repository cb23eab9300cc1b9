import { encryptKey, enums, generateKey, readKey, readPrivateKey, type PrivateKey } from 'openpgp'
import { describe, expect, test } from 'vitest'
import { unlockNatively, unlockQuickly } from '../../../src/openpgp/native/unlock.ts'
import { generate, unlock } from '../../../src/openpgp/library/secret-key.ts'
import '../../support/openpgp-engine.ts'

const keys = new Map<string, ReturnType<typeof generate>>()

/** A key under a passphrase: to lock one takes as long as to unlock it, so each is made once. */
function made(passphrase: string): ReturnType<typeof generate> {
  const key =
    keys.get(passphrase) ?? generate({ userId: 'bot', createdMs: Date.UTC(2026, 0, 1), passphrase })
  keys.set(passphrase, key)
  return key
}

describe('a key of ours', () => {
  test.each([
    ['a short passphrase', 'x'],
    ['an ordinary one', 'correct horse battery staple'],
    ['one that is no ASCII', 'пароль 🔑 ключ'],
    ['one of 300 characters', 'long '.repeat(60)],
  ])('unlocks as openpgp.js unlocks it: %s', async (_name, passphrase) => {
    const { locked } = await made(passphrase)
    expect(unlockNatively(locked, passphrase)).toEqual(await natural(unlock(locked, passphrase)))
  })

  test('unlocks with what another key certified on it', async () => {
    const certifiedBy = await unlock((await made('old')).locked, 'old')
    const { locked } = await generate({
      userId: 'bot',
      createdMs: Date.UTC(2026, 0, 2),
      passphrase: 'new',
      certifiedBy,
    })
    expect(unlockNatively(locked, 'new')).toEqual(await natural(unlock(locked, 'new')))
  })

  test.each(['wrong', '', 'correct horse battery staple '])(
    'does not unlock under another passphrase: "%s"',
    async (passphrase) => {
      const { locked } = await made('correct horse battery staple')
      expect(() => unlockNatively(locked, passphrase)).toThrow('wrong-passphrase')
    },
  )

  test('does not unlock when a bit of its secret was changed', async () => {
    const key = await readPrivateKey({ armoredKey: (await made('x')).locked })
    const sealed = (key.keyPacket as unknown as { keyMaterial: Uint8Array }).keyMaterial
    sealed[3] = (sealed[3] ?? 0) ^ 1
    expect(() => unlockNatively(key.armor(), 'x')).toThrow('wrong-passphrase')
  })
})

describe('what is left to the library', () => {
  const under = (config: object, key: PrivateKey) =>
    encryptKey({ privateKey: key, passphrase: 'x', config })
  const fresh = async (): Promise<PrivateKey> => {
    const { privateKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: 'bot' }],
      format: 'object',
    })
    return privateKey
  }

  test('a key that is not locked', async () => {
    expect(unlockNatively((await fresh()).armor(), 'x')).toBeNull()
  })

  test('a lock with Argon2, and one with AEAD', async () => {
    const key = await fresh()
    const argon = await under({ s2kType: enums.s2k.argon2, aeadProtect: true }, key)
    expect(unlockNatively(argon.armor(), 'x')).toBeNull()
    const aead = await under({ aeadProtect: true }, key)
    expect(unlockNatively(aead.armor(), 'x')).toBeNull()
  })

  test('a key of RSA', async () => {
    const { privateKey } = await generateKey({
      type: 'rsa',
      rsaBits: 2048,
      userIDs: [{ name: 'bot' }],
      passphrase: 'x',
    })
    expect(unlockNatively(privateKey, 'x')).toBeNull()
  })

  test('a certificate, two blocks, a cut block, no block at all', async () => {
    const { locked, certificate } = await made('x')
    expect(unlockNatively((await readKey({ armoredKey: certificate })).armor(), 'x')).toBeNull()
    expect(unlockNatively(`${locked}\n${locked}`, 'x')).toBeNull()
    expect(unlockNatively(locked.slice(0, -60), 'x')).toBeNull()
    expect(unlockNatively('', 'x')).toBeNull()
  })
})

/** Bytes as bytes, whichever class holds them. */
async function natural(unlocked: ReturnType<typeof unlock>) {
  const key = await unlocked
  return { ...key, bytes: Buffer.from(key.bytes) }
}

describe('unlocking where the key is used', () => {
  const locking = { userId: 'bot', createdMs: Date.UTC(2026, 0, 1), passphrase: 'x' }

  test('takes what is locked under a random secret', async () => {
    const { locked } = await generate({ ...locking, isRandom: true })
    expect(unlockQuickly(locked, 'x')).toEqual(await natural(unlock(locked, 'x')))
  })

  test('leaves to a thread what takes long', async () => {
    expect(unlockQuickly((await made('x')).locked, 'x')).toBeNull()
  })

  test('does not unlock under another secret', async () => {
    const { locked } = await generate({ ...locking, isRandom: true })
    expect(() => unlockQuickly(locked, 'y')).toThrow('wrong-passphrase')
  })
})
