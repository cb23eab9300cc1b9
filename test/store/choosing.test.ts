import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { open, temporary, madeFolder } from './support.ts'

/** These tests run where no session D-Bus is; `keychain.test.ts` has one. */
delete process.env['DBUS_SESSION_BUS_ADDRESS']
delete process.env['XDG_RUNTIME_DIR']
delete process.env['DISPLAY']

const COMMANDS = 'make a passphrase: …'
const asked = { mode: 'create', isRequired: true, howToMakePassphrase: COMMANDS } as const

describe('what a new store rests under', () => {
  test('auto takes a passphrase where there is one', async () => {
    const store = await open(temporary(), { ...asked, passphrase: 'a passphrase' })
    expect(store.method).toBe('passphrase')
  })

  test('auto never falls to none: it refuses, says how to make a passphrase, and makes nothing', async () => {
    const dataDir = join(temporary(), 'data')
    const opening = openStore({ dataDir, passphrase: null, ...asked })
    await expect(opening).rejects.toMatchObject({ code: 'settings', exitCode: 2, hint: COMMANDS })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('none is taken when it is asked for, and keeps secrets', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { ...asked, protection: 'none' })
    const secret = await store.secret('replay')
    await store[Symbol.asyncDispose]()
    const again = await open(dataDir, { ...asked, protection: 'none', isBinding: true })
    expect(await again.secret('replay')).toEqual(secret)
  })

  test('a keychain that cannot be used is refused, with no fall to a passphrase or to none', async () => {
    const dataDir = join(temporary(), 'data')
    const request = { ...asked, protection: 'keychain', passphrase: 'a passphrase' } as const
    await expect(openStore({ dataDir, ...request })).rejects.toMatchObject({ code: 'keychain' })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('where nothing is required and nothing given, there is no protection and no secret', async () => {
    const store = await open(temporary())
    expect([store.method, store.masterSecret]).toEqual([null, null])
  })

  test('a store without protection takes the one that is asked for', async () => {
    const dataDir = await madeFolder()
    expect((await open(dataDir, { ...asked, protection: 'none' })).method).toBe('none')
  })
})

describe('what an existing store rests under is not changed by a setting', () => {
  test.each([
    ['none', 'passphrase'],
    ['none', 'keychain'],
    ['none', 'auto'],
    ['passphrase', 'none'],
    ['passphrase', 'keychain'],
  ] as const)('a store under %s does not run when the setting says %s', async (is, setting) => {
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
  })

  test('auto is content with a passphrase that was chosen before', async () => {
    const dataDir = await madeFolder('a passphrase')
    const request = { ...asked, passphrase: 'a passphrase', isBinding: true }
    expect((await open(dataDir, request)).method).toBe('passphrase')
  })
})
