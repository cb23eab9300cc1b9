import { afterEach, describe, expect, test, vi } from 'vitest'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'
import { readEntry, removeEntry, tryKeychain, writeEntry } from '../../src/store/keychain.ts'
import {
  keychainRefusal,
  noEntry,
  type KeychainTrouble,
} from '../../src/store/keychain-refusals.ts'
import { useKeychainDouble } from './keychain-double.ts'

const keychain = useKeychainDouble()
afterEach(() => void vi.useRealTimers())

describe('an entry of the keychain', () => {
  test('is written under our name, read, and removed', async () => {
    await writeEntry('store-1', 'secret')
    expect([...keychain.entries]).toEqual([['postern store-1', 'secret']])
    expect(await readEntry('store-1')).toBe('secret')
    await removeEntry('store-1')
    expect(keychain.entries.size).toBe(0)
    expect(await readEntry('store-1')).toBeNull()
  })

  test('that was not kept as it was written is refused', async () => {
    keychain.keeps = () => 'another'
    await expect(writeEntry('store-1', 'secret')).rejects.toMatchObject({
      code: 'keychain',
      message: expect.stringContaining('did not keep what was written'),
    })
  })

  test('that is missing is one only where the keychain keeps others', async () => {
    keychain.keeps = () => 'another'
    await expect(readEntry('store-1')).rejects.toMatchObject({ code: 'keychain' })
  })

  test('of a trial is gone afterwards', async () => {
    const kept: string[] = []
    keychain.keeps = (secret) => {
      kept.push(secret)
      return secret
    }
    await tryKeychain()
    expect([kept, keychain.entries.size]).toEqual([['trial'], 0])
  })
})

test.each<[string, KeychainTrouble]>([
  ['Cannot get secret of a locked object', 'locked'],
  ['Timeout was reached', 'silent'],
  ['The call timed out', 'silent'],
  ['Object does not exist at path “/org/freedesktop/secrets/collection/login”', 'no-collection'],
  ['No such collection', 'no-collection'],
  ['no such object path', 'no-collection'],
  ['GDBus.Error:org.freedesktop.DBus.Error.ServiceUnknown', 'no-service'],
  ['The name was not provided by any .service files', 'no-service'],
  ['Cannot autolaunch D-Bus without X11 $DISPLAY', 'no-bus'],
  ['no DBus here', 'no-bus'],
  ['Could not connect: no such file', 'no-bus'],
  ['connection refused', 'no-bus'],
  ['The connection is closed', 'no-bus'],
  ['something new', 'other'],
])('a keychain that says “%s” is %s', async (words, trouble) => {
  keychain.fails = new Error(words)
  const { code, message } = keychainRefusal(trouble)
  await expect(readEntry('store-1')).rejects.toMatchObject({ code, message, cause: keychain.fails })
})

test('a keychain that does not answer is given up after a minute', async () => {
  vi.useFakeTimers()
  keychain.answers = false
  const reading = readEntry('store-1')
  let isSettled = false
  reading.catch(() => (isSettled = true))
  await vi.advanceTimersByTimeAsync(59_999)
  expect(isSettled).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(isSettled).toBe(true)
  await expect(reading).rejects.toMatchObject({
    code: 'keychain',
    message: expect.stringContaining('did not answer in time'),
  })
})

test('a keychain that answers leaves no timer behind', async () => {
  vi.useFakeTimers()
  await writeEntry('store-1', 'secret')
  expect(vi.getTimerCount()).toBe(0)
})

test.each<[KeychainTrouble, RegExp]>([
  ['not-installed', /keytar is not installed/],
  ['no-library', /library does not load/],
  ['no-bus', /no session D-Bus/],
  ['no-service', /nobody keeps secrets/],
  ['locked', /is locked/],
  ['no-collection', /no collection/],
  ['forgetful', /did not keep/],
  ['silent', /did not answer/],
  ['other', /it refused/],
])('what is wrong is said, with what to do and what to do instead: %s', (trouble, words) => {
  const { code, message, hint, cause } = keychainRefusal(trouble)
  expect(code).toBe(trouble === 'locked' ? 'store-locked' : 'keychain')
  expect(message).toMatch(/^the OS keychain /)
  expect(message).toMatch(words)
  const [first, instead] = hint.split('\n')
  expect(first).not.toBe('')
  expect(instead).toContain('POSTERN_KEY_PASSPHRASE_FILE')
  expect(hint).not.toBe(OPERATOR_REFUSALS[code].hint)
  expect(cause).toBeUndefined()
})

test('a missing entry is named, with whose keychain may have it', () => {
  expect(noEntry('store-1')).toMatchObject({
    code: 'store-locked',
    message: expect.stringContaining('no entry store-1'),
    hint: expect.stringMatching(/whose keychain has it; .*restore a backup.* under a passphrase$/),
  })
})
