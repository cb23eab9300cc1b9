import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProtection, openProtection } from '../../src/store/protection.ts'
import { sharedStretcher, STRETCHER } from '../../src/store/stretcher.ts'
import { temporary } from './support.ts'

const COST = { derivation: 'scrypt', n: 2, r: 8, p: 1 } as const

test('`sharedStretcher` derives one passphrase with one salt once', async () => {
  const shared = sharedStretcher(temporary())
  const salt = shared.salt()
  const [one, other] = await Promise.all([
    shared.stretch('words', { ...COST, salt }),
    shared.stretch('words', { ...COST, salt: Buffer.from(salt) }),
  ])
  expect(one).toBe(other)
  expect(one).toEqual(await STRETCHER.stretch('words', { ...COST, salt }))
})

test('`sharedStretcher` derives another passphrase, salt, cost or derivation separately', async () => {
  const shared = sharedStretcher(temporary())
  const salt = shared.salt()
  const all = await Promise.all([
    shared.stretch('words', { ...COST, salt }),
    shared.stretch('other words', { ...COST, salt }),
    shared.stretch('words', { ...COST, salt: STRETCHER.salt() }),
    shared.stretch('words', { ...COST, n: 4, salt }),
    shared.stretch('words', { ...COST, n: 8, salt }),
    shared.stretch('words', { ...COST, derivation: 'argon2id', n: 8, salt }),
  ])
  expect(new Set(all.map((key) => key.toString('hex'))).size).toBe(6)
})

test('`sharedStretcher` repeats a failed derivation', async () => {
  const shared = sharedStretcher(temporary())
  const wrong = { ...COST, n: 3, salt: shared.salt() }
  await expect(shared.stretch('words', wrong)).rejects.toThrow()
  await expect(shared.stretch('words', wrong)).rejects.toThrow()
})

test('`sharedStretcher` keeps its salt in a file and replaces an invalid one', () => {
  const dataDir = temporary()
  const salt = sharedStretcher(dataDir).salt()
  expect(sharedStretcher(dataDir).salt()).toEqual(salt)
  writeFileSync(join(dataDir, 'passphrase-salt'), 'none\n')
  const other = sharedStretcher(dataDir).salt()
  expect(other).toHaveLength(32)
  expect(other).not.toEqual(salt)
})

test('two stores with a shared salt have different master secrets and open without `sharedStretcher`', async () => {
  const stretcher = sharedStretcher(temporary())
  const wanted = { method: 'passphrase', passphrase: 'words', stretcher } as const
  const one = await createProtection(wanted)
  const other = await createProtection(wanted)
  expect(one.row.salt).toEqual(other.row.salt)
  expect(one.held.masterSecret).not.toBe(other.held.masterSecret)
  for (const { row, held } of [one, other]) {
    expect((await openProtection('words', row)).masterSecret).toBe(held.masterSecret)
    expect((await openProtection('words', row, stretcher)).masterSecret).toBe(held.masterSecret)
    await expect(openProtection('wrong', row, stretcher)).rejects.toMatchObject({
      code: 'store-passphrase',
    })
  }
})
