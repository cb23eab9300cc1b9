import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { SpoolDir } from '../../src/media/spool-dir.ts'
import { RestingWriter } from '../../src/openpgp/stream/resting.ts'
import { contentOf } from '../support/memory-room.ts'
import { modeOf, temporary } from '../store/support.ts'

function spoolIn(dataDir: string, maxBytes = 2 ** 20): SpoolDir {
  const spool = new SpoolDir(dataDir, maxBytes)
  onTestFinished(() => spool[Symbol.asyncDispose]())
  return spool
}

/** Open files of this process that are in a folder, whether or not they still have a name there. */
function openIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) ? [`/proc/self/fd/${fd}`] : []
    } catch {
      return []
    }
  })
}

test('bytes come back from any place, and the file has no name and is nobody else’s', async () => {
  const dataDir = temporary()
  const file = await spoolIn(dataDir).file()
  await Promise.all([file.append(Buffer.from('hello ')), file.append(Buffer.from('world'))])
  expect(file.bytes).toBe(11)
  expect((await file.read(3, 5)).toString()).toBe('lo wo')
  expect((await file.read(9, 50)).toString()).toBe('ld')
  expect((await file.read(50, 5)).toString()).toBe('')
  const folder = join(dataDir, 'spool')
  expect(readdirSync(folder)).toEqual([])
  expect(modeOf(folder)).toBe('700')
  const [fd = ''] = openIn(folder)
  expect((statSync(fd).mode & 0o777).toString(8)).toBe('600')
})

test('many at once are each given a file, also the first', async () => {
  const spool = spoolIn(temporary())
  const files = await Promise.all(Array.from({ length: 20 }, () => spool.file()))
  expect(new Set(files).size).toBe(20)
})

test('a data directory that was taken away is not made again', async () => {
  const dataDir = join(temporary(), 'gone')
  const refused = await spoolIn(dataDir)
    .file()
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'postern_store_unwritable' })
  expect(existsSync(dataDir)).toBe(false)
})

test('the room of a file is given back when it is closed, also twice', async () => {
  const dataDir = temporary()
  const spool = spoolIn(dataDir)
  const file = await spool.file()
  await file.append(Buffer.alloc(5000))
  expect(spool.bytes).toBe(5000)
  await file.close()
  await file.close()
  expect(spool.bytes).toBe(0)
  expect(openIn(join(dataDir, 'spool'))).toEqual([])
})

test('beyond its bound it is busy, and what is there stays', async () => {
  const spool = spoolIn(temporary(), 1000)
  const [one, other] = [await spool.file(), await spool.file()]
  await one.append(Buffer.alloc(600))
  const refused = await other.append(Buffer.alloc(401)).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ code: 'postern_busy', extra: { retryAfter: 5 } })
  await other.append(Buffer.alloc(400))
  expect(spool.bytes).toBe(1000)
})

test('what another process left is taken away at the start, and at the end', async () => {
  const dataDir = temporary()
  const folder = join(dataDir, 'spool')
  mkdirSync(folder)
  writeFileSync(join(folder, 'left-over'), 'x')
  const spool = new SpoolDir(dataDir, 1000)
  expect(readdirSync(folder)).toEqual([])
  await (await spool.file()).append(Buffer.alloc(10))
  await spool[Symbol.asyncDispose]()
  expect(openIn(folder)).toEqual([])
})

test('nothing is made before the first file', () => {
  const dataDir = temporary()
  spoolIn(dataDir)
  expect(readdirSync(dataDir)).toEqual([])
})

test('a folder that cannot be made is said in words of ours', async () => {
  const dataDir = temporary()
  writeFileSync(join(dataDir, 'spool'), 'a file in its place')
  const refused = await spoolIn(dataDir)
    .file()
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'postern_store_unwritable' })
})

test('what is put to rest is ciphertext, and comes back from any byte on', async () => {
  const dataDir = temporary()
  const content = Buffer.concat([Buffer.from('canary '.repeat(50)), randomBytes(300_000)])
  const raw = await spoolIn(dataDir).file()
  const writer = new RestingWriter(raw)
  for (let at = 0; at < content.length; at += 7777)
    await writer.write(content.subarray(at, at + 7777))
  const file = await writer.finish()
  const [fd = ''] = openIn(join(dataDir, 'spool'))
  const resting = readFileSync(fd)
  expect(resting).toHaveLength(content.length)
  expect(resting.includes('canary')).toBe(false)
  for (const [start, end] of [
    [0, content.length],
    [0, 1],
    [15, 17],
    [65_535, 65_537],
    [262_143, 262_145],
    [content.length - 1, content.length],
    [100, 100],
  ] as const) {
    expect((await contentOf(file, start, end)).equals(content.subarray(start, end))).toBe(true)
  }
})
