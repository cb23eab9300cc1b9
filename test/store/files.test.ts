import {
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import {
  createEmpty,
  errnoOf,
  syncDirectory,
  syncFile,
  writeDurably,
} from '../../src/store/files.ts'
import { fileCalls } from '../support/file-calls.ts'
import { temporary } from './support.ts'

const left = (file: string): string => `${file}.${process.pid}.tmp`

test('`writeDurably` syncs a temporary file, renames it and syncs the directory', () => {
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

test('`writeDurably` does not write into a leftover temporary file or through a link', () => {
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
  '`writeDurably` with a failing %s leaves the old file and no temporary file',
  (failing) => {
    const dataDir = temporary()
    const file = join(dataDir, 'file')
    writeFileSync(file, 'old')
    expect(() => fileCalls(() => writeDurably(file, 'new'), failing)).toThrow('EIO')
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(dataDir)).toEqual(['file'])
  },
)

test('`createEmpty` refuses an existing file', () => {
  const file = join(temporary(), 'file')
  writeFileSync(file, 'old')
  expect(() => createEmpty(file)).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(readFileSync(file, 'utf8')).toBe('old')
})

test('`syncFile` and `syncDirectory` sync their path', () => {
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

test('`errnoOf` returns a code for file system errors only', () => {
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
