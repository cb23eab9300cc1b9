import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CertificateInfo } from '../../../src/openpgp/native/certificate-info.ts'
import { RecordTable, packRecord, unpackRecord } from '../../../src/openpgp/native/record-table.ts'
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

test('what is kept comes back as it was, whatever it says', () => {
  const table = new RecordTable(100)
  for (let name = 0; name < 100; name++) table.set(digest(name), info(name))
  for (let name = 0; name < 100; name++) expect(table.get(digest(name))).toEqual(info(name))
  expect(table.get(digest(100))).toBeNull()
})

test('info that are kept again take the place of the former', () => {
  const table = new RecordTable(4)
  table.set(digest(1), info(1))
  table.set(digest(1), info(2))
  expect(table.get(digest(1))).toEqual(info(2))
  expect(table.size).toBe(1)
})

test('what was given out does not change when its place is taken by another', () => {
  const table = new RecordTable(1)
  table.set(digest(1), info(1))
  const given = table.get(digest(1))
  table.set(digest(2), info(2))
  expect(given).toEqual(info(1))
})

test('a full table lets go of what was not asked for', () => {
  const table = new RecordTable(50)
  for (let name = 0; name < 50; name++) table.set(digest(name), info(name))
  table.set(digest(50), info(50))
  for (let name = 1; name < 11; name++) table.get(digest(name))
  for (let name = 51; name < 80; name++) table.set(digest(name), info(name))
  for (let name = 1; name < 11; name++) expect(table.get(digest(name))).toEqual(info(name))
  expect(table.size).toBe(50)
})

test('a hundred thousand certificates take some 13 MB', { timeout: 120_000 }, () => {
  const table = new RecordTable(100_000)
  const one = info(1)
  for (let name = 0; name < 100_000; name++) table.set(digest(name), one)
  expect(table.size).toBe(100_000)
  expect(table.byteLength).toBeLessThan(13.2e6)
})

test('an empty table takes little', () => {
  expect(new RecordTable(100_000).byteLength).toBeLessThan(0.7e6)
})

test('whatever is set, asked and dropped, a table says what a map would, or nothing', () => {
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

test('a record by itself says all of it', () => {
  for (const name of [1, 4, 5, 6, 7, 12, 420]) {
    expect(unpackRecord(Buffer.from(packRecord(info(name))), 0)).toEqual(info(name))
  }
})

test('a table takes memory for a thousand records at a time, and gives it back', () => {
  const table = new RecordTable(2000)
  const empty = 4 * 2501 + 2000
  expect(table.byteLength).toBe(empty)
  table.set(digest(1), info(1))
  expect(table.byteLength).toBe(empty + 1024 * 124)
  table.clear()
  expect([table.byteLength, table.size]).toEqual([empty, 0])
})

test('what is cleared is forgotten, and there is room for as much again', () => {
  const table = new RecordTable(3)
  for (const round of [1, 2]) {
    for (let name = 0; name < 5; name++) table.set(digest(name), info(name + round))
    expect(table.size).toBe(3)
    table.clear()
    for (let name = 0; name < 5; name++) expect(table.get(digest(name))).toBeNull()
  }
})

/** A digest that begins to look for its record at a slot. */
const digestAt = (slot: number, name: number): Buffer => {
  const one = digest(name)
  one.writeUInt32BE(slot)
  return one
}

test.each([0, 3, 5])('records that all want slot %i of six stand behind each other', (slot) => {
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

test('one that makes room takes none from its neighbours', () => {
  const table = new RecordTable(4)
  const wanted = [5, 5, 0, 0]
  for (const [name, slot] of wanted.entries()) table.set(digestAt(slot, name), info(name))
  table.set(digestAt(2, 9), info(9))
  const left = wanted.filter((slot, name) => table.get(digestAt(slot, name)) !== null)
  expect(left).toHaveLength(3)
  expect(table.get(digestAt(2, 9))).toEqual(info(9))
})
