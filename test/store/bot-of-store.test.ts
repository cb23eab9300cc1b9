/** A store is of one bot. */
import { expect, test } from 'vitest'
import { openStore, type StoreOpening } from '../../src/store/open-store.ts'
import { flags, put, temporary } from './support.ts'

const opening = (dataDir: string, more: Partial<StoreOpening> = {}) =>
  openStore({ dataDir, mode: 'create', passphrase: null, ...more })

test('a store of one bot is refused to another bot and stays unchanged', async () => {
  const dataDir = temporary()
  {
    await using store = await opening(dataDir, { botId: 7 })
    await put(store, 'kept', 'yes')
  }
  for (const mode of ['create', 'existing'] as const) {
    await expect(opening(dataDir, { mode, botId: 8 })).rejects.toMatchObject({
      code: 'store-other-bot',
      message: expect.stringMatching(/^the store in .* is of bot 7, and the token is of bot 8$/),
      hint: expect.stringContaining('of its own'),
    })
  }
  await using store = await opening(dataDir, { botId: 7 })
  expect(await flags(store)).toEqual({ kept: 'yes', bot_id: '7' })
})

test('a store of another bot is refused before its passphrase is checked', async () => {
  const dataDir = temporary()
  const protection = { protection: 'passphrase', isRequired: true } as const
  await (
    await opening(dataDir, { ...protection, passphrase: 'one', botId: 7 })
  )[Symbol.asyncDispose]()
  const other = opening(dataDir, { ...protection, passphrase: 'another', botId: 8 })
  await expect(other).rejects.toMatchObject({ code: 'store-other-bot' })
})

test('a store without a bot belongs to the first bot that opens it', async () => {
  const dataDir = temporary()
  await (await opening(dataDir))[Symbol.asyncDispose]()
  await (await opening(dataDir, { mode: 'existing', botId: 8 }))[Symbol.asyncDispose]()
  await (await opening(dataDir, { botId: null }))[Symbol.asyncDispose]()
  await (await opening(dataDir, { botId: 7 }))[Symbol.asyncDispose]()
  await expect(opening(dataDir, { botId: 8 })).rejects.toMatchObject({ code: 'store-other-bot' })
  await (await opening(dataDir))[Symbol.asyncDispose]()
})
