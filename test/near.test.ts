import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { costOf } from './support/costs.ts'
import { BUDGET, FROM_OUTSIDE, nearestTests, rankedTests } from './support/near.ts'

test('nearest to a file are its folder’s tests, those that import it, and some from outside', () => {
  const tests = rankedTests('src/store/protection.ts')
  expect(tests).toContain('test/store/protection.test.ts')
  expect(tests).toContain('test/store/first-store.test.ts')
  expect(tests).toContain('test/cli/scripts-control.test.ts')
  expect(tests).not.toContain('test/translate/replays.test.ts')
})

test('nearest to a file deep in a folder are the tests of that deepest folder', () => {
  const tests = rankedTests('src/openpgp/stream/raw-file.ts')
  expect(tests).toContain('test/openpgp/stream/open-file.test.ts')
  expect(tests).not.toContain('test/openpgp/native/unlock.test.ts')
})

test('nearest to what tests share are the tests that import it, through others, too', () => {
  const tests = rankedTests('test/support/secret-service.ts')
  expect(tests).toContain('test/store/keychain.system.test.ts')
  expect(rankedTests('test/support/postern-process.ts')).toContain('test/rotation/lost.test.ts')
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

test('nearest to a file of the page are the tests of the page', () => {
  const tests = rankedTests('src/sandbox/page/browser/composer.css')
  expect(tests).toContain('test/sandbox/page/chat.system.test.ts')
})

test('a change in one file starts no more tests than fit into the budget', () => {
  const always = nearestTests([])
  const sum = (tenths: number[]) => Math.round(tenths.reduce((all, one) => all + one, 0) * 10) / 10
  const costly = globSync('src/**/*.{ts,js,css,html,svg}').flatMap((file) => {
    const costs = nearestTests([file])
      .filter((one) => !always.includes(one))
      .map(costOf)
    const isWithin =
      costs.length === 1 ||
      (sum(costs.map(({ cpu }) => cpu)) <= BUDGET.cpu &&
        costs.every(({ clock }) => clock <= BUDGET.clock))
    return isWithin ? [] : [file]
  })
  expect(costly).toEqual([])
})

test('every test file that has a measured cost is there', () => {
  const measured = JSON.parse(readFileSync('test/seconds.json', 'utf8')) as object
  expect(Object.keys(measured).filter((file) => !existsSync(file))).toEqual([])
})
