import { afterEach, expect, test, vi } from 'vitest'
import { readEntry, removeEntry, writeEntry } from '../../src/store/keychain.ts'
import { keychainRefusal, type KeychainTrouble } from '../../src/store/keychain-refusals.ts'
import { useKeychainDouble } from './keychain-double.ts'

const keychain = useKeychainDouble()
afterEach(() => void vi.useRealTimers())

test('a keychain entry is written under the service name `postern`, read and removed', async () => {
  await writeEntry('store-1', 'secret')
  expect([...keychain.entries]).toEqual([['postern store-1', 'secret']])
  expect(await readEntry('store-1')).toBe('secret')
  await removeEntry('store-1')
  expect(keychain.entries.size).toBe(0)
  expect(await readEntry('store-1')).toBeNull()
})

test('a keychain entry that was stored differently is refused', async () => {
  keychain.keeps = () => 'another'
  await expect(writeEntry('store-1', 'secret')).rejects.toMatchObject({
    code: 'keychain',
    message: expect.stringContaining('did not keep what was written'),
  })
})

test('a missing keychain entry is refused where the keychain fails a trial', async () => {
  keychain.keeps = () => 'another'
  await expect(readEntry('store-1')).rejects.toMatchObject({ code: 'keychain' })
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
])('a keychain error "%s" is reported as %s', async (words, trouble) => {
  keychain.fails = new Error(words)
  const { code, message } = keychainRefusal(trouble)
  await expect(readEntry('store-1')).rejects.toMatchObject({ code, message, cause: keychain.fails })
})

test('a keychain without a response is given up after a minute', async () => {
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

test('a keychain that responds leaves no timer behind', async () => {
  vi.useFakeTimers()
  await writeEntry('store-1', 'secret')
  expect(vi.getTimerCount()).toBe(0)
})
