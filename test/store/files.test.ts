import {
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { expect, test } from 'vitest'
import {
  createEmpty,
  errnoOf,
  syncDirectory,
  syncFile,
  writeDurably,
} from '../../src/store/files.ts'
import { fileCalls } from '../support/file-calls.ts'
import { modeOf, temporary } from './support.ts'

const left = (file: string): string => `${file}.${process.pid}.tmp`

test('a file is on disk under another name before it takes its own, and its name is on disk then', () => {
  const dataDir = temporary()
  const file = join(dataDir, 'owner.json')
  const calls = fileCalls(() => writeDurably(file, 'words'))
  const other = basename(left(file))
  expect(calls.map(({ name, file: on }) => `${name} ${on}`)).toEqual([
    `writeFileSync ${other}`,
    `openSync ${other}`,
    `closeSync ${other}`,
    `writeFileSync ${other}`,
    `openSync ${other}`,
    `writeSync ${other}`,
    `fsyncSync ${other}`,
    `closeSync ${other}`,
    `renameSync ${other} to owner.json`,
    `openSync ${basename(dataDir)}`,
    `fsyncSync ${basename(dataDir)}`,
    `closeSync ${basename(dataDir)}`,
  ])
  expect(readFileSync(file, 'utf8')).toBe('words')
  expect(readdirSync(dataDir)).toEqual(['owner.json'])
})

/** Makes files under another umask; a thread has none of its own, and keeps that of its process. */
function underUmask(mask: number, make: () => void): void {
  const before = isMainThread ? process.umask(mask) : null
  make()
  if (before !== null) process.umask(before)
}

test.each([0, 0o777])('a file is for its owner alone, whatever the umask: %o', (mask) => {
  const dataDir = temporary()
  const [written, empty] = [join(dataDir, 'written'), join(dataDir, 'empty')]
  underUmask(mask, () => {
    writeDurably(written, 'words')
    createEmpty(empty)
  })
  expect([modeOf(written), modeOf(empty)]).toEqual(['600', '600'])
})

test('what a dead process left is not written into, nor what a link there leads to', () => {
  const dataDir = temporary()
  const [file, another] = [join(dataDir, 'file'), join(dataDir, 'another')]
  writeFileSync(another, 'somebody’s')
  symlinkSync(another, left(file))
  writeDurably(file, 'words')
  expect(readFileSync(another, 'utf8')).toBe('somebody’s')
  expect(readFileSync(file, 'utf8')).toBe('words')
  expect(() => readlinkSync(file)).toThrow()
})

test.each(['openSync', 'writeFileSync', 'fsyncSync', 'renameSync'])(
  'where %s fails, the old file is as it was, and nothing lies beside it',
  (failing) => {
    const dataDir = temporary()
    const file = join(dataDir, 'file')
    writeFileSync(file, 'old')
    expect(() => fileCalls(() => writeDurably(file, 'new'), failing)).toThrow('EIO')
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(dataDir)).toEqual(['file'])
  },
)

test('a file that is there is not made again', () => {
  const file = join(temporary(), 'file')
  writeFileSync(file, 'old')
  expect(() => createEmpty(file)).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(readFileSync(file, 'utf8')).toBe('old')
})

test('directory and file are flushed as what they are', () => {
  const dataDir = temporary()
  const file = join(dataDir, 'file')
  writeFileSync(file, 'words')
  mkdirSync(join(dataDir, 'folder'))
  const flushed = (work: () => void): string[] =>
    fileCalls(work).flatMap((call) => (call.name === 'fsyncSync' ? [call.file] : []))
  expect(flushed(() => syncFile(file))).toEqual(['file'])
  expect(flushed(() => syncDirectory(join(dataDir, 'folder')))).toEqual(['folder'])
  // a directory cannot be opened for writing
  expect(() => syncFile(dataDir)).toThrow('EISDIR')
})

test('only errors of the file system have a code of it', () => {
  const full = Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })
  expect(errnoOf(full)).toBe('ENOSPC')
  for (const other of [
    { code: 'ENOSPC' },
    { code: 28, syscall: 'write' },
    new Error('another'),
    null,
    undefined,
    'ENOSPC',
  ]) {
    expect(errnoOf(other)).toBeNull()
  }
})
