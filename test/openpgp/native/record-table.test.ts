import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CertificateInfo } from '../../../src/openpgp/native/certificate-info.ts'
import { RecordTable } from '../../../src/openpgp/native/record-table.ts'
import { seeds } from '../../support/chance.ts'
import { randomFrom } from '../../support/openpgp-mutate.ts'
import { seeded } from '../../support/openpgp-bytes.ts'

const digest = (name: number): Buffer =>
  createHash('sha256').update(String(name)).digest().subarray(0, 20)

function info(name: number): CertificateInfo {
  const point = (what: string): Buffer => seeded(`${what} ${name}`, 32)
  return {
    fingerprint: seeded(`fingerprint ${name}`, 20),
    recipientKey: { algorithm: name % 2 ? 18 : 25, createdS: name, point: point('sealing') },
    signingKey:
      name % 5 === 0
        ? null
        : { algorithm: name % 3 ? 22 : 27, createdS: name + 1, point: point('signing') },
    primarySigns: name % 5 !== 0 && name % 7 !== 0,
    hasNoOtherKey: name % 4 === 0,
    readsAes256: name % 6 === 0,
    fromS: name,
    untilS: 0xffff_ffff - name,
  }
}

test('a returned record does not change when its slot is reused', () => {
  const table = new RecordTable(1)
  table.set(digest(1), info(1))
  const given = table.get(digest(1))
  table.set(digest(2), info(2))
  expect(given).toEqual(info(1))
})

test('a full `RecordTable` evicts records that were not requested', () => {
  const table = new RecordTable(50)
  for (let name = 0; name < 50; name++) table.set(digest(name), info(name))
  table.set(digest(50), info(50))
  for (let name = 1; name < 11; name++) table.get(digest(name))
  for (let name = 51; name < 80; name++) table.set(digest(name), info(name))
  for (let name = 1; name < 11; name++) expect(table.get(digest(name))).toEqual(info(name))
  expect(table.size).toBe(50)
})

test('a random sequence of operations on a `RecordTable` returns the values of a map, or nothing', () => {
  for (const seed of seeds(30)) {
    const random = randomFrom(seed)
    const table = new RecordTable(1 + random(40))
    const model = new Map<number, number>()
    for (let step = 0; step < 400; step++) {
      const name = random(60)
      if (random(3) === 0) {
        const value = random(1000)
        table.set(digest(name), info(value))
        model.set(name, value)
        expect(table.get(digest(name)), `FUZZ_SEED=${seed}`).toEqual(info(value))
      }
      const found = table.get(digest(name))
      const value = model.get(name)
      if (found !== null) expect(value, `FUZZ_SEED=${seed}`).toBeDefined()
      if (found !== null && value !== undefined) expect(found).toEqual(info(value))
      if (random(200) === 0) {
        table.clear()
        model.clear()
      }
    }
  }
})

test('a `RecordTable` allocates 1,024 records of 124 bytes at a time, and frees them on `clear`', () => {
  const table = new RecordTable(2000)
  const empty = 4 * 2501 + 2000
  expect(table.byteLength).toBe(empty)
  table.set(digest(1), info(1))
  expect(table.byteLength).toBe(empty + 1024 * 124)
  expect(new RecordTable(100_000).byteLength + 98 * 1024 * 124).toBeLessThan(13.2e6)
  table.clear()
  expect([table.byteLength, table.size]).toEqual([empty, 0])
})

/** A digest that begins to look for its record at a slot. */
const digestAt = (slot: number, name: number): Buffer => {
  const one = digest(name)
  one.writeUInt32BE(slot)
  return one
}

test.each([0, 3, 5])('a `RecordTable` finds all records with the same slot %i of six', (slot) => {
  const table = new RecordTable(4)
  const at = (name: number): Buffer => digestAt(slot, name)
  for (let name = 0; name < 4; name++) table.set(at(name), info(name))
  for (let name = 0; name < 4; name++) expect(table.get(at(name))).toEqual(info(name))
  expect(table.get(at(4))).toBeNull()
  for (let name = 4; name < 12; name++) {
    table.set(at(name), info(name))
    expect(table.get(at(name))).toEqual(info(name))
    const left = Array.from({ length: name + 1 }, (_, n) => n).filter((n) => table.get(at(n)))
    expect(left).toHaveLength(4)
    for (const one of left) expect(table.get(at(one))).toEqual(info(one))
  }
})
