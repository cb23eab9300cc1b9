import { chmodSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandSecret } from '../../src/config/passphrases.ts'
import { load } from '../../src/config/load.ts'
import { loadStoreAccess } from '../../src/config/store-access.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

const of = (env: Record<string, string>, cwd = '/nowhere') => commandSecret('export', { env, cwd })

describe('`commandSecret`', () => {
  test('the export passphrase is read from its variable or its file', () => {
    expect(of({ POSTERN_EXPORT_PASSPHRASE: 'some words' })?.reveal()).toBe('some words')
    const cwd = folder()
    file(cwd, 'secret', 'other words\n')
    expect(of({ POSTERN_EXPORT_PASSPHRASE_FILE: 'secret' }, cwd)?.reveal()).toBe('other words')
    expect(of({})).toBeNull()
    expect(String(of({ POSTERN_EXPORT_PASSPHRASE: 'some words' }))).toBe('[secret]')
  })

  test.each([
    [{ POSTERN_EXPORT_PASSPHRASE: 'a', POSTERN_EXPORT_PASSPHRASE_FILE: 'b' }, /not both/],
    [{ POSTERN_EXPORT_PASSPHRASE: ' ' }, /is empty/],
    [{ POSTERN_EXPORT_PASSPHRASE: ' spaces ' }, /a space at an end/],
    [{ POSTERN_EXPORT_PASSPHRASE: 'two\nlines' }, /a line break/],
    [{ POSTERN_EXPORT_PASSPHRASE_FILE: 'nowhere' }, /there is no such file/],
  ])('the export passphrase %j is refused with the name of the variable', (env, words) => {
    const { message } = refusalOf(() => of(env))
    expect(message).toMatch(words)
    expect(message).toContain('POSTERN_EXPORT_PASSPHRASE')
    expect(message).not.toContain('spaces')
  })

  test('a passphrase file that others can read is refused', () => {
    const cwd = folder()
    chmodSync(file(cwd, 'secret', 'words'), 0o644)
    const { message } = refusalOf(() => of({ POSTERN_EXPORT_PASSPHRASE_FILE: 'secret' }, cwd))
    expect(message).toContain('others can read it')
  })

  test('the passphrases of commands are accepted beside the settings', () => {
    const env = { ...ENOUGH, POSTERN_NEW_PASSPHRASE: 'a', POSTERN_EXPORT_PASSPHRASE_FILE: 'b' }
    expect(load(sources({ env })).settings.dataDir).toBe('/nowhere/.postern')
  })
})

describe('`loadStoreAccess`', () => {
  test('access to the store requires the data directory and its passphrase, and no service and token', () => {
    const env = { POSTERN_KEY_PASSPHRASE: 'words', POSTERN_DATA_DIR: '/kept' }
    const access = loadStoreAccess(sources({ env }))
    expect(access).toMatchObject({
      dataDir: '/kept',
      key: { protection: 'auto', passphrase: 'words', wrapper: null },
    })
    expect(loadStoreAccess(sources({ env: {} })).key.passphrase).toBeNull()
  })
})
