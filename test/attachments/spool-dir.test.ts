import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { SpoolDir } from '../../src/attachments/spool-dir.ts'
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

test('a spool file is readable from any offset, has no name and the mode 600', async () => {
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

test('a `SpoolDir` gives concurrent callers a file each, also at the first use', async () => {
  const spool = spoolIn(temporary())
  const files = await Promise.all(Array.from({ length: 20 }, () => spool.file()))
  expect(new Set(files).size).toBe(20)
})

test('a `SpoolDir` does not create a missing data directory', async () => {
  const dataDir = join(temporary(), 'gone')
  const refused = await spoolIn(dataDir)
    .file()
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'postern_store_unwritable' })
  expect(existsSync(dataDir)).toBe(false)
})

test('a spool file releases its bytes when it is closed, also twice', async () => {
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

test('a full `SpoolDir` refuses further bytes with `postern_busy` and keeps its files', async () => {
  const spool = spoolIn(temporary(), 1000)
  const [one, other] = [await spool.file(), await spool.file()]
  await one.append(Buffer.alloc(600))
  const refused = await other.append(Buffer.alloc(401)).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ code: 'postern_busy', extra: { retryAfter: 5 } })
  await other.append(Buffer.alloc(400))
  expect(spool.bytes).toBe(1000)
})

test('a `SpoolDir` removes files of another process at its start, and its own at its end', async () => {
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

test('a `SpoolDir` that cannot create its folder fails with `postern_store_unwritable`', async () => {
  const dataDir = temporary()
  writeFileSync(join(dataDir, 'spool'), 'a file in its place')
  const refused = await spoolIn(dataDir)
    .file()
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'postern_store_unwritable' })
})
