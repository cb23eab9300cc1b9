import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modeOf, open, put, temporary } from './support.ts'

/** Runs with a umask that would leave everything open to everybody. */
async function withUmask<T>(umask: number, run: () => Promise<T>): Promise<T> {
  const before = process.umask(umask)
  try {
    return await run()
  } finally {
    process.umask(before)
  }
}

test('a new store has directory mode 0700 and file mode 0600 under any umask', async () => {
  for (const umask of [0o000, 0o777]) {
    const dataDir = join(temporary(), 'data')
    await withUmask(umask, async () => {
      const store = await open(dataDir)
      await put(store, 'a', 'b')
    })
    expect(modeOf(dataDir)).toBe('700')
    const names = readdirSync(dataDir)
    expect(names).toEqual(
      expect.arrayContaining(['postern.db', 'postern.db-wal', 'store.json', 'owner.json']),
    )
    for (const name of names) expect([name, modeOf(join(dataDir, name))]).toEqual([name, '600'])
  }
})

test('two concurrent creations make one store, and the later one is refused as `store-in-use`', async () => {
  const dataDir = temporary()
  const results = await Promise.allSettled([open(dataDir), open(dataDir)])
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const lost = results.find(({ status }) => status === 'rejected')
  expect(lost).toMatchObject({ reason: { code: 'store-in-use' } })
})
