import { describe, expect, test } from 'vitest'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import { generate, unlock } from '../../../src/openpgp/library/secret-key.ts'
import { describeCommonKey } from '../../../src/openpgp/native/own-secrets.ts'
import type { UnlockedKey } from '../../../src/openpgp/engine.ts'
import { MADE_MS, NOW_MS, bot, personOf } from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))

async function generated(certifiedBy?: UnlockedKey): Promise<UnlockedKey> {
  const request = { userId: 'bot', createdMs: MADE_MS, passphrase: 'x', isRandom: true }
  const { locked } = await generate({ ...request, ...(certifiedBy && { certifiedBy }) })
  return await unlock(locked, 'x')
}

/** The same value with plain arrays in place of views. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return [...(value as Uint8Array)]
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
}

describe('`describeCommonKey`', () => {
  test.each([
    ['as `generate` makes it', () => generated()],
    ['of Ed25519Legacy and Curve25519Legacy', () => Promise.resolve(bot.unlocked)],
    ['of Ed25519 and X25519', () => Promise.resolve(modern.unlocked)],
  ])('an own key %s is described natively as openpgp.js describes it', async (_name, keyOf) => {
    const key = await keyOf()
    const described = describeCommonKey(key, NOW_MS)
    expect(described).not.toBeNull()
    expect(plain(described)).toEqual(plain(await describeOwnKey(key, NOW_MS)))
  })

  test('the native description of an own key does not share memory with its secrets', async () => {
    const key = await generated()
    const { recipientKey, signingKey } = describeCommonKey(key, NOW_MS)?.info ?? {}
    for (const one of [recipientKey, signingKey]) {
      expect(one?.point.buffer).not.toBe(key.bytes.buffer)
      expect(one?.point.buffer.byteLength).toBeLessThan(100)
    }
  })

  test('an own key is left to openpgp.js before its creation time', async () => {
    expect(describeCommonKey(await generated(), MADE_MS - 1000)).toBeNull()
  })

  test('an own key with a certification by another key is left to openpgp.js', async () => {
    expect(describeCommonKey(await generated(bot.unlocked), NOW_MS)).toBeNull()
  })

  test('an own key with a changed signature is left to openpgp.js', async () => {
    const key = await generated()
    const bytes = flipByte(key.bytes, -1)
    expect(describeCommonKey({ ...key, bytes }, NOW_MS)).toBeNull()
  })
})
