import { existsSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolders } from '../../src/util/folders.ts'

const work = mkdtempSync(join(tmpdir(), 'postern-test-folders-'))
const mode = (path: string): number => statSync(path).mode & 0o777

test('`makeFolders` makes a folder with its parents once', () => {
  const folder = join(work, 'a', 'b', 'c')
  expect(makeFolders(folder, 0o700)).toBe(true)
  expect([folder, join(work, 'a')].map(mode)).toEqual([0o700, 0o700])
  expect(makeFolders(folder, 0o755)).toBe(false)
  expect(mode(folder)).toBe(0o700)
})

test('`makeFolders` throws where a file or a dangling link is in the way', () => {
  writeFileSync(join(work, 'file'), '')
  symlinkSync(join(work, 'nowhere'), join(work, 'link'))
  expect(() => makeFolders(join(work, 'file'), 0o700)).toThrow('EEXIST')
  expect(() => makeFolders(join(work, 'file', 'below'), 0o700)).toThrow('ENOTDIR')
  expect(() => makeFolders(join(work, 'link'), 0o700)).toThrow('EEXIST')
})

test.runIf(existsSync('/proc/self'))('`makeFolders` below /proc throws instead of looping', () => {
  expect(() => makeFolders('/proc/postern/store', 0o700)).toThrow('ENOENT')
})
