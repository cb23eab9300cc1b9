import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { madeFolder, newStore, open, temporary } from './support.ts'

/** These tests run where no session D-Bus is; `keychain.system.test.ts` has one. */
delete process.env['DBUS_SESSION_BUS_ADDRESS']
delete process.env['XDG_RUNTIME_DIR']
delete process.env['DISPLAY']

const COMMANDS = 'make a passphrase: …'
const asked = { mode: 'create', isRequired: true, howToMakePassphrase: COMMANDS } as const

describe('the protection of a new store without a keychain', () => {
  test('`auto` without a passphrase or a keychain refuses a new store with a hint and makes no file', async () => {
    const dataDir = join(temporary(), 'data')
    const opening = openStore({ dataDir, passphrase: null, ...asked })
    await expect(opening).rejects.toMatchObject({ code: 'settings', exitCode: 2, hint: COMMANDS })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('a new store with the protection `none` keeps its secrets', async () => {
    const { dataDir, store } = await newStore({ ...asked, protection: 'none' })
    const secret = await store.secret('replay')
    await store[Symbol.asyncDispose]()
    const again = await open(dataDir, { ...asked, protection: 'none', isBinding: true })
    expect(await again.secret('replay')).toEqual(secret)
  })

  test('`keychain` without a usable keychain refuses a new store and makes no file', async () => {
    const dataDir = join(temporary(), 'data')
    const request = { ...asked, protection: 'keychain', passphrase: 'a passphrase' } as const
    await expect(openStore({ dataDir, ...request })).rejects.toMatchObject({ code: 'keychain' })
    expect(existsSync(dataDir)).toBe(false)
  })
})

describe('the protection of an existing store', () => {
  test.each([
    ['none', 'passphrase'],
    ['none', 'keychain'],
    ['none', 'auto'],
    ['passphrase', 'none'],
    ['passphrase', 'keychain'],
  ] as const)(
    'a store under %s does not run with the setting %s, and commands still open it',
    async (is, setting) => {
      const dataDir = temporary()
      const passphrase = 'a passphrase'
      await (await open(dataDir, { ...asked, protection: is, passphrase }))[Symbol.asyncDispose]()
      const before = readdirSync(dataDir)
      const request = { ...asked, protection: setting, passphrase, isBinding: true }
      const error = await openStore({ dataDir, ...request }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'protection' })
      expect(String((error as { hint: unknown }).hint)).toContain('postern key protect')
      expect(readdirSync(dataDir)).toEqual(before)
      // A command that only looks takes what is there.
      expect((await open(dataDir, { protection: setting, passphrase })).method).toBe(is)
    },
  )

  test('a store under a passphrase runs with the setting `auto`', async () => {
    const dataDir = await madeFolder('a passphrase')
    const request = { ...asked, passphrase: 'a passphrase', isBinding: true }
    expect((await open(dataDir, request)).method).toBe('passphrase')
  })
})
