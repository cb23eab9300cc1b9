import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FROM_OUTSIDE, nearestTests } from './support/near.ts'

test('nearest to a file are its folder’s tests, those that import it, and some from outside', () => {
  const tests = nearestTests(['src/store/protection.ts'])
  expect(tests).toContain('test/store/protection.test.ts')
  expect(tests).toContain('test/store/first-store.test.ts')
  expect(tests).toContain('test/cli/scripts.test.ts')
  expect(tests).not.toContain('test/translate/replays.test.ts')
})

test('nearest to a file deep in a folder are the tests of that deepest folder', () => {
  const tests = nearestTests(['src/openpgp/stream/raw-file.ts'])
  expect(tests).toContain('test/openpgp/stream/open-file.test.ts')
  expect(tests).not.toContain('test/openpgp/native/unlock.test.ts')
})

test('nearest to what tests share are the tests that import it, through others, too', () => {
  const tests = nearestTests(['test/support/secret-service.ts'])
  expect(tests).toContain('test/store/keychain.test.ts')
  expect(nearestTests(['test/support/postern-process.ts'])).toContain('test/rotation/lost.test.ts')
})

test('each folder of src has tests that reach it from outside, and they are there', () => {
  const folders = readdirSync('src', { withFileTypes: true }).filter((one) => one.isDirectory())
  const named = Object.keys(FROM_OUTSIDE)
  expect(named.toSorted()).toEqual(folders.map(({ name }) => name).toSorted())
  const missing = Object.values(FROM_OUTSIDE)
    .flat()
    .filter((name) => !existsSync(`test/${name}.test.ts`))
  expect(missing).toEqual([])
})
