import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SpoolDir } from '../../../src/media/spool-dir.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import { ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import type { NotOpened, OpenedFile } from '../../../src/openpgp/engine.ts'
import { Sealers } from '../../support/bulk-programs.ts'
import { bot } from '../../support/openpgp-people.ts'

const MIB = 2 ** 20
const engine = createEngine()
let sealers: Sealers
let spool: SpoolDir
let content: Buffer
beforeAll(async () => {
  sealers = await Sealers.open()
  spool = new SpoolDir(sealers.folder, 2 ** 30)
  content = randomBytes(64 * MIB)
})
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  await spool[Symbol.asyncDispose]()
  await sealers[Symbol.asyncDispose]()
})

/** Seals so much of the content, and opens it from the disk as it would arrive. */
async function through(name: string, bytes: number): Promise<OpenedFile | NotOpened> {
  const [from, to] = [sealers.path('content'), sealers.path('sealed')]
  await writeFile(from, content.subarray(0, bytes))
  await sealers.of(name)[0]?.seal(from, to)
  const reader = new ByteReader(createReadStream(to) as AsyncIterable<Buffer>)
  try {
    return await engine.openFile(reader, { form: 'binary', keys: [bot.unlocked], room: spool })
  } finally {
    await rm(to)
  }
}

const digestOf = (bytes: number): string =>
  createHash('sha256').update(content.subarray(0, bytes)).digest('hex')

test.each([
  ['gpg: signed, not compressed', 64],
  ['gpg: as it comes', 4],
  ['sq: pad', 4],
  ['rnp: not compressed', 4],
  ['gpg: by pipe', 4],
])('a file sealed by %s opens unchanged with %i MiB', { timeout: 240_000 }, async (name, mib) => {
  const opened = await through(name, mib * MIB)
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened))
  expect(opened.file.bytes).toBe(mib * MIB)
  const hash = createHash('sha256')
  for await (const piece of opened.file.read()) hash.update(piece)
  expect(hash.digest('hex')).toBe(digestOf(mib * MIB))
  if (opened.signatures.length > 0) {
    const certificate = sealers.certificateOf(name.split(':')[0] ?? '')
    expect(await engine.verify(opened.signed, certificate, Date.now())).toEqual(['valid'])
  }
  await opened.file.close()
  expect(spool.bytes).toBe(0)
})
