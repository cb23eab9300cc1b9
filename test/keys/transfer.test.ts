import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { createTransfer, type TransferParts } from '../../src/keys/transfer.ts'
import type { Adopted, Engine } from '../../src/openpgp/engine.ts'
import { open, temporary } from '../store/support.ts'
import { certificateOf, engineDouble, lockedUnder, unlockedOf } from './engine-double.ts'
import { printOf } from '../kernel/people/people-scene.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { refused } from '../support/refused.ts'
import { loadKeyring } from './support.ts'

const [FIRST, THEIRS] = [printOf('key1'), printOf('theirs')]

const GIVEN = { file: Uint8Array.of(5), passphrase: null }

/** A store with one active key, and what takes keys out of it and in. */
async function scene(over: Partial<Engine> = {}, ownerOf: TransferParts['ownerOf'] = () => null) {
  const store = await open(temporary(), { protection: 'none' })
  const engine = engineDouble(over)
  const keyring = await loadKeyring(store, engine)
  await keyring.promote((await keyring.makePending('mybot')).fingerprint)
  return {
    store,
    engine,
    keyring,
    transfer: createTransfer({ memory: memoryOf(store), engine, keyring, ownerOf }),
  }
}

const adopted =
  (print: string, expiresMs = Infinity): Engine['adopt'] =>
  async (_file, { to }) => ({
    outcome: 'adopted',
    expiresMs,
    key: { fingerprint: print, certificate: certificateOf(print), locked: lockedUnder(print, to) },
  })

describe('an exported key', () => {
  test('an exported key is locked under the given passphrase with a slow hash', async () => {
    const { transfer } = await scene()
    expect(await transfer.give(FIRST, 'words')).toBe(`${lockedUnder(FIRST, 'words')}, slowly`)
  })

  test('the export of a key is refused once its secret is destroyed', async () => {
    const { transfer, keyring } = await scene()
    await keyring.promote((await keyring.makePending('mybot')).fingerprint)
    await keyring.destroy(FIRST)
    await expect(transfer.give(FIRST, 'words')).rejects.toMatchObject({
      code: 'refused',
      message: 'the secret of this key is destroyed',
      hint: expect.stringContaining('postern key list'),
    })
  })

  test('the export of an unknown fingerprint is refused', async () => {
    const { transfer } = await scene()
    await expect(transfer.give(THEIRS, 'words')).rejects.toThrow('no such key')
  })
})

describe('an imported key', () => {
  test('an imported key is pending, certified by the active one, and locked under the master secret', async () => {
    const adopt = vi.fn(adopted(THEIRS, 77))
    const { transfer, keyring, store, engine } = await scene({ adopt })
    const file = Uint8Array.of(5)
    const { key, expiresMs } = await transfer.take(
      { file, passphrase: 'words' },
      { mayEndSoon: true },
    )
    expect([key.fingerprint, expiresMs]).toEqual([THEIRS, 77])
    expect(keyring.pending).toEqual(key)
    expect((await loadKeyring(store, engine)).pending).toEqual(key)
    const to = store.masterSecret
    expect(adopt.mock.calls).toEqual([
      [file, { from: 'words', to, isRandom: true, certifiedBy: unlockedOf(FIRST) }],
    ])
  })

  test('an unfit key is refused with the reason, and not stored', async () => {
    for (const [reason, code] of [
      ['stub', 'refused'],
      ['passphrase-wrong', 'passphrase'],
      ['passphrase-missing', 'passphrase'],
    ] as const) {
      const unfit: Adopted = { outcome: 'unfit', reason }
      const { transfer, keyring } = await scene({ adopt: async () => unfit })
      await expect(transfer.take(GIVEN, { mayEndSoon: false })).rejects.toThrow(
        refused(code, new RegExp(`^the key cannot be the bot’s: .* \\(${reason}\\)$`)),
      )
      expect(keyring.all).toHaveLength(1)
    }
  })

  test('the import of a key that the bot has already is refused', async () => {
    const { transfer, keyring } = await scene({ adopt: adopted(FIRST) })
    await expect(transfer.take(GIVEN, { mayEndSoon: false })).rejects.toMatchObject({
      code: 'refused',
      message: `${FIRST} is ours already, and active`,
      hint: expect.stringContaining('postern key list'),
    })
    expect(keyring.all).toHaveLength(1)
  })

  test('the import of another bot’s key is refused, also with `--retired`', async () => {
    const ownerOf = (print: string): string | null => (print === THEIRS ? 'news' : null)
    const { transfer, keyring } = await scene({ adopt: adopted(THEIRS) }, ownerOf)
    const refusal = {
      code: 'refused',
      message: `${THEIRS} is the key of the bot news: each bot has keys of its own`,
      hint: expect.stringContaining('postern run'),
    }
    await expect(transfer.take(GIVEN, { mayEndSoon: false })).rejects.toMatchObject(refusal)
    await expect(transfer.takeRetired(GIVEN, null)).rejects.toMatchObject(refusal)
    expect(keyring.all).toHaveLength(1)
  })
})

describe('a key that ends within a day', () => {
  const NOW_MS = Date.UTC(2026, 0, 1)
  const DAY_MS = 86_400_000
  useFakeTime({ toFake: ['Date'], now: NOW_MS })

  test('the import of a key that ends within a day is refused with its end and a hint', async () => {
    const { transfer, keyring } = await scene({ adopt: adopted(THEIRS, NOW_MS + DAY_MS - 1) })
    await expect(transfer.take(GIVEN, { mayEndSoon: false })).rejects.toThrow(
      refused('refused', 'ends at 2026-01-01T23:59:59.999Z', {
        hint: /--quick-set-expire.*--retired.*--force/,
      }),
    )
    expect(keyring.all).toHaveLength(1)
  })

  test('a key that ends within a day is imported with `mayEndSoon`, and a later end needs no option', async () => {
    const soon = await scene({ adopt: adopted(THEIRS, NOW_MS + 1) })
    const { expiresMs } = await soon.transfer.take(GIVEN, { mayEndSoon: true })
    expect(expiresMs).toBe(NOW_MS + 1)
    const later = await scene({ adopt: adopted(THEIRS, NOW_MS + DAY_MS) })
    await later.transfer.take(GIVEN, { mayEndSoon: false })
    expect(later.keyring.pending?.fingerprint).toBe(THEIRS)
  })
})

describe('a key that is imported for opening alone', () => {
  test('a key imported as retired opens, is not certified, and leaves the active one', async () => {
    const adopt = vi.fn(adopted(THEIRS, Date.now() + 1))
    const { transfer, keyring, store, engine } = await scene({ adopt })
    const before = Date.now()
    const key = await transfer.takeRetired(GIVEN, FIRST)
    expect(key).toMatchObject({ state: 'retired', publishedAtMs: null, offeredAtMs: null })
    expect(key.retiredAtMs).toBeGreaterThanOrEqual(before)
    expect(adopt.mock.calls[0]?.[1].certifiedBy).toBeUndefined()
    expect([keyring.pending, keyring.active?.fingerprint]).toEqual([undefined, FIRST])
    const again = await loadKeyring(store, engine)
    expect(again.find(THEIRS)).toMatchObject({ state: 'retired', retiredAtMs: key.retiredAtMs })
    expect(again.unlocked).toContainEqual(unlockedOf(THEIRS))
  })

  test('a key imported as retired leaves the pending one', async () => {
    const { transfer, keyring } = await scene({ adopt: adopted(THEIRS) })
    const pending = await keyring.makePending('mybot')
    await transfer.takeRetired(GIVEN, null)
    expect(keyring.pending).toEqual(pending)
  })

  test('a `--retired` import is refused while `/me` shows the key, or the bot has it already', async () => {
    const { transfer, keyring } = await scene({ adopt: adopted(THEIRS) })
    await expect(transfer.takeRetired(GIVEN, THEIRS)).rejects.toMatchObject({
      code: 'refused',
      message: `${THEIRS} is the key that the service shows for this bot: it is not retired`,
      hint: expect.stringContaining('without `--retired`'),
    })
    expect(keyring.all).toHaveLength(1)
    await transfer.takeRetired(GIVEN, null)
    await expect(transfer.takeRetired(GIVEN, null)).rejects.toThrow('is ours already, and retired')
  })
})
