import { afterEach, expect, test, vi } from 'vitest'
import { readEntry, removeEntry, tryKeychain } from '../../src/store/keychain.ts'
import { keychainRefusal } from '../../src/store/keychain-refusals.ts'

afterEach(() => vi.doUnmock('keytar'))

/** What `import('keytar')` gives in this test. */
function keytarIs(module: object): void {
  vi.doMock('keytar', () => module)
}

test.each([
  ['ERR_MODULE_NOT_FOUND', 'not-installed'],
  ['MODULE_NOT_FOUND', 'not-installed'],
  ['ERR_DLOPEN_FAILED', 'no-library'],
  [undefined, 'no-library'],
] as const)(
  'a keytar package that fails to load with %s is refused as %s',
  async (code, trouble) => {
    const cause = Object.assign(new Error('words'), { code })
    keytarIs({
      get default() {
        throw cause
      },
    })
    const { message, hint } = keychainRefusal(trouble)
    const refusal = { code: 'keychain', message, hint, cause }
    await expect(readEntry('store-1')).rejects.toMatchObject(refusal)
  },
)

test('a keychain error without a message is refused with its cause', async () => {
  const getPassword = () => Promise.reject('locked')
  keytarIs({ default: { getPassword } })
  const { message } = keychainRefusal('other')
  await expect(readEntry('store-1')).rejects.toMatchObject({ message, cause: 'locked' })
})

test('a trial of the keychain writes a new entry each time and removes it', async () => {
  const entries = new Map<string, string>()
  const setPassword = vi.fn(async (_: string, account: string, secret: string) => {
    entries.set(account, secret)
  })
  const getPassword = async (_: string, account: string) => entries.get(account) ?? null
  const deletePassword = async (_: string, account: string) => entries.delete(account)
  keytarIs({ default: { setPassword, getPassword, deletePassword } })
  await tryKeychain()
  await tryKeychain()
  const [first, second] = setPassword.mock.calls.map(([, account]) => account)
  expect(first).toMatch(/^trial-[\da-f-]{36}$/)
  expect(second).not.toBe(first)
  await removeEntry('store-1')
  expect(entries.size).toBe(0)
})
