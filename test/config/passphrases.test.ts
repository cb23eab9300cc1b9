import { chmodSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandSecret } from '../../src/config/passphrases.ts'
import { load } from '../../src/config/load.ts'
import { loadStoreAccess } from '../../src/config/store-access.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

const of = (env: Record<string, string>, cwd = '/nowhere') => commandSecret('export', { env, cwd })

describe('a passphrase of a command', () => {
  test('is what the variable holds, or the file that it names, less its line end', () => {
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
  ])('%j is refused, with the variable’s name', (env, words) => {
    const { message } = refusalOf(() => of(env))
    expect(message).toMatch(words)
    expect(message).toContain('POSTERN_EXPORT_PASSPHRASE')
    expect(message).not.toContain('spaces')
  })

  test('in a file that others can read is refused', () => {
    const cwd = folder()
    chmodSync(file(cwd, 'secret', 'words'), 0o644)
    const { message } = refusalOf(() => of({ POSTERN_EXPORT_PASSPHRASE_FILE: 'secret' }, cwd))
    expect(message).toContain('others can read it')
  })

  test('is no unknown setting', () => {
    const env = { ...ENOUGH, POSTERN_NEW_PASSPHRASE: 'a', POSTERN_EXPORT_PASSPHRASE_FILE: 'b' }
    expect(load(sources({ env })).settings.dataDir).toBe('/nowhere/.postern')
  })
})

describe('what a command needs that only opens a store or a backup', () => {
  test('is the data directory and what opens it; no service, no token', () => {
    const env = { POSTERN_KEY_PASSPHRASE: 'words', POSTERN_DATA_DIR: '/kept' }
    const access = loadStoreAccess(sources({ env }))
    expect(access).toMatchObject({
      dataDir: '/kept',
      key: { protection: 'auto', passphrase: 'words', wrapper: null },
    })
    expect(loadStoreAccess(sources({ env: {} })).key.passphrase).toBeNull()
  })

  test('refuses what is wrong in any source, all at once', () => {
    const env = { POSTERN_KEY_PROTECTION: 'magic', POSTERN_KEY_PASSPHRASE: '' }
    const { message } = refusalOf(() => loadStoreAccess(sources({ env })))
    expect(message).toContain('for 2 reasons')
  })
})
