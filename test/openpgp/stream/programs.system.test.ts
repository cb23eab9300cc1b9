import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FORM_BYTES, sealedForm } from '../../../src/openpgp/format/encrypted-message.ts'
import type { NotOpened, OpenedFile } from '../../../src/openpgp/engine.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openFile } from '../../support/bulk.ts'
import { contentOf } from '../../support/memory-room.ts'
import { Sealers } from '../../support/bulk-programs.ts'

let sealers: Sealers
beforeAll(async () => {
  sealers = await Sealers.open()
})
afterAll(() => sealers[Symbol.asyncDispose]())

/** Seals content in one way and opens what came out. */
async function through(name: string, content: Buffer): Promise<OpenedFile | NotOpened> {
  const [from, to] = [sealers.path('content'), sealers.path('sealed')]
  await writeFile(from, content)
  const [way] = sealers.of(name)
  await way?.seal(from, to)
  const sealed = await readFile(to)
  await rm(to)
  const form = sealedForm(sealed.subarray(0, FORM_BYTES))
  if (form === null) throw new Error('not sealed')
  return await openFile(sealed, { form, pieces: 10_000 })
}

/** Signers by program, valid or not; empty when nobody signed. */
async function judged(name: string, opened: OpenedFile): Promise<string[]> {
  const certificate = sealers.certificateOf(name.split(':')[0] ?? '')
  return await verify(opened.signed, certificate, Date.now())
}

/** Ciphers outside the profile. */
const REFUSED = ['gpg: BLOWFISH', 'gpg: TWOFISH', 'gpg: CAMELLIA128']
/** Hashes outside the profile. */
const WEAK = ['gpg: SHA1']
const UNSIGNED = [
  'gpg: as it comes',
  'gpg: not compressed',
  'gpg: with a name',
  'sq: as it comes',
  'rnp: as it comes',
]
const SIGNED = [
  'gpg: signed',
  'gpg: signed, not compressed',
  'gpg: zip',
  'gpg: zlib',
  'gpg: bzip2',
  'gpg: AES',
  'gpg: AES192',
  'gpg: 3DES',
  'gpg: CAST5',
  'gpg: SHA384',
  'gpg: SHA512',
  'gpg: anonymous',
  'gpg: armored',
  'gpg: by pipe',
  'sq: none',
  'sq: pad',
  'sq: zip',
  'sq: zlib',
  'sq: bzip2',
  'rnp: not compressed',
  'rnp: zip',
  'rnp: zlib',
  'rnp: bzip',
  'rnp: AES128',
  'rnp: AES192',
  'rnp: TRIPLEDES',
  'rnp: CAST5',
]

test('the tables of this file name every sealing command of gpg, sq and rnp', () => {
  const tried = ['gpg: as text', ...REFUSED, ...WEAK, ...UNSIGNED, ...SIGNED]
  expect(sealers.all.map(({ name }) => name).sort()).toEqual(tried.sort())
})

test.each([
  ...UNSIGNED.map((name) => [name, []] as const),
  ...SIGNED.map((name) => [name, ['valid']] as const),
  ...WEAK.map((name) => [name, ['bad']] as const),
])('a file sealed by %s opens unchanged with the signatures %j', async (name, results) => {
  // Half of it is noise, which does not compress.
  const content = Buffer.alloc(200_000, 'x')
  randomBytes(100_000).copy(content)
  const opened = await through(name, content)
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened))
  expect((await contentOf(opened.file)).equals(content)).toBe(true)
  expect(await judged(name, opened)).toEqual(results)
})

test.each(REFUSED)(
  'a file sealed by %s, a cipher outside the profile, is damaged',
  async (name) => {
    expect(await through(name, Buffer.from('x'))).toEqual({
      outcome: 'damaged',
      reason: 'decryption',
    })
  },
)

test.each(['gpg: signed, not compressed', 'sq: pad', 'rnp: not compressed'])(
  'files sealed by %s with lengths at the edges of framing and blocks open unchanged',
  async (name) => {
    for (const length of [0, 1, 16, 191, 192, 8383, 8384, 65_536]) {
      const content = randomBytes(length)
      const opened = await through(name, content)
      if (opened.outcome !== 'opened') throw new Error(`${length}: ${JSON.stringify(opened)}`)
      expect((await contentOf(opened.file)).equals(content), `${length} bytes`).toBe(true)
    }
  },
)

test('a text signature of gpg verifies over all kinds of line ends at the edges of pieces', async () => {
  const lines = ['one', 'two\r', 'three\r\r', '', '\r', 'x'.repeat(19_000), 'last'].join('\n')
  const content = Buffer.from(`${lines}\r\n`.repeat(30))
  const opened = await through('gpg: as text', content)
  if (opened.outcome !== 'opened') throw new Error('not opened')
  expect(await judged('gpg: as text', opened)).toEqual(['valid'])
})
