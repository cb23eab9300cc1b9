import { expect, test } from 'vitest'
import { useKeychainDouble } from './keychain-double.ts'
import { open, temporary } from './support.ts'

const keychain = useKeychainDouble()
const relock = async (locked: string): Promise<string> => locked

test('a move that fails takes back what it has put into the keychain', async () => {
  const store = await open(temporary(), { protection: 'none' })
  await store.write((db) =>
    db
      .insertInto('own_keys')
      .values({ fingerprint: 'a', state: 'retired', created_at: 1, certificate: 'c', locked: 'l' })
      .execute(),
  )
  const mistake = new Error('a mistake')
  const kept: number[] = []
  const moving = store.move({ method: 'keychain' }, () => {
    kept.push(keychain.entries.size)
    return Promise.reject(mistake)
  })
  await expect(moving).rejects.toBe(mistake)
  expect([kept, keychain.entries.size, store.method]).toEqual([[1], 0, 'none'])
})

test('a move away from a keychain says which entry copies of the store still need', async () => {
  const store = await open(temporary(), { protection: 'none' })
  expect(await store.move({ method: 'keychain' }, relock)).toMatchObject({ oldEntry: null })
  const [entry = ''] = keychain.entries.keys()
  const { oldEntry } = await store.move({ method: 'passphrase', passphrase: 'words' }, relock)
  expect(`postern ${oldEntry}`).toBe(entry)
  expect([...keychain.entries.keys()]).toEqual([entry])
})
