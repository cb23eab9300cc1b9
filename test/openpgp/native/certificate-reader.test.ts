/** Certificates that are read in place, and those that threads read in pieces. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CertificateReader, type Threads } from '../../../src/openpgp/native/threads.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { packRecord } from '../../../src/openpgp/native/certificate-record.ts'
import { NOW_MS, alice } from '../../support/openpgp-people.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

const info = readCommonCertificate(alice.certificate, NOW_MS)
if (info === null) throw new Error('not common')
const known: CertificateInfo = info

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }))
afterEach(() => vi.useRealTimers())

type Read = (certificates: string[], atMs: number) => Promise<(CertificateInfo | null)[]>

/** A reader, with the certificates that its threads received. */
function readerOver(read?: Read) {
  const given: string[][] = []
  const threads = {
    run: async (job: string, [certificates, atMs]: [string[], number]) => {
      expect(job).toBe('read')
      given.push(certificates)
      expect(atMs).toBe(NOW_MS)
      const each = certificates.map((one, n) => (one === 'none' ? null : { ...known, fromS: n }))
      const found = await (read?.(certificates, atMs) ?? Promise.resolve(each))
      return found.map((one) => one && packRecord(one))
    },
  }
  return { reader: new CertificateReader(threads as unknown as Threads), given }
}
const named = (count: number): string[] => Array.from({ length: count }, (_, n) => `c${n}`)
const readAll = (reader: CertificateReader, all: string[]): Promise<(CertificateInfo | null)[]> =>
  Promise.all(all.map((one) => reader.read(one)))

test('`CertificateReader` reads up to three certificates of one turn in place', async () => {
  const { reader, given } = readerOver()
  const all = [alice.certificate, 'hello', alice.certificate]
  const read = await readAll(reader, all)
  expect(read.map((one) => one?.fingerprint)).toEqual([
    known.fingerprint,
    undefined,
    known.fingerprint,
  ])
  expect(read[1]).toBeNull()
  expect(await readAll(reader, [alice.certificate])).toHaveLength(1)
  expect(given).toEqual([])
})

test('`CertificateReader` reads four certificates of one turn in a thread, each with its own result', async () => {
  const { reader, given } = readerOver()
  const read = await readAll(reader, ['a', 'none', 'c', 'd'])
  expect(given).toEqual([['a', 'none', 'c', 'd']])
  expect(read.map((one) => one?.fromS ?? null)).toEqual([0, null, 2, 3])
})

test('`CertificateReader` sends certificates to threads sixteen at a time, without delay', async () => {
  const { reader, given } = readerOver()
  const first = readAll(reader, named(16))
  expect(given.map(({ length }) => length)).toEqual([16])
  const more = readAll(reader, named(20))
  expect(given.map(({ length }) => length)).toEqual([16, 16])
  expect((await Promise.all([first, more])).flat()).not.toContain(null)
  expect(given.map(({ length }) => length)).toEqual([16, 16, 4])
  expect(given.flat()).toEqual([...named(16), ...named(20)])
})

test('`CertificateReader` returns null for certificates that its threads fail to read', async () => {
  const gone = readerOver(() => Promise.reject(new Error('gone')))
  expect(await readAll(gone.reader, named(4))).toEqual([null, null, null, null])
  const silent = readerOver(() => Promise.resolve([known]))
  expect(await readAll(silent.reader, named(4))).toMatchObject([
    { fromS: known.fromS, untilS: known.untilS },
    null,
    null,
    null,
  ])
})
