import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refuseExisting, writeNewFile } from '../../src/cli/files.ts'
import { dataFolder } from '../operators/support.ts'
import { has } from '../support/lacks.ts'

test.each([false, true])(
  'a new file is not written through a symbolic link, with --force: %s',
  (force) => {
    const folder = dataFolder()
    const from = join(dataFolder(), 'copy')
    const other = join(dataFolder(), 'other')
    writeFileSync(from, 'the store')
    writeFileSync(other, 'kept', { mode: 0o640 })
    const file = join(folder, 'backup')
    symlinkSync(other, `${file}.${process.pid}.tmp`)
    if (force) symlinkSync(other, file)
    expect(writeNewFile(file, { from }, { force })).toBe(file)
    expect(readFileSync(other, 'utf8')).toBe('kept')
    expect(statSync(other).mode & 0o777).toBe(0o640)
    expect(lstatSync(file).isFile()).toBe(true)
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toBe('the store')
    expect(readdirSync(folder)).toHaveLength(2)
  },
)

const isRoot = has(process.getuid?.() === 0, 'these tests do not run as root')
const stateOf = (path: string) => {
  const { uid, gid, mode } = statSync(path)
  return [uid, gid, mode & 0o7777]
}

test('an existing file keeps its mode and owner, and so does its folder', () => {
  const folder = dataFolder()
  chmodSync(folder, 0o755)
  const file = join(folder, 'backup')
  writeFileSync(file, 'kept')
  chmodSync(file, 0o644)
  const before = [folder, file].map(stateOf)
  const refused = expect.objectContaining({ code: 'refused' })
  expect(() => writeNewFile(file, { text: 'new' }, {})).toThrow(refused)
  expect(() => refuseExisting(file, {})).toThrow(refused)
  expect(writeNewFile(join(folder, 'another'), { text: 'new' }, {})).toBe(join(folder, 'another'))
  expect([folder, file].map(stateOf)).toEqual(before)
  expect(readFileSync(file, 'utf8')).toBe('kept')
})

test.skipIf(!isRoot)('a file of another user is not replaced, even with --force', () => {
  const folder = dataFolder()
  const [file, link] = [join(folder, 'backup'), join(folder, 'link')]
  writeFileSync(file, 'kept')
  chownSync(file, 4321, 4321)
  chmodSync(file, 0o640)
  symlinkSync('nowhere', link)
  lchownSync(link, 4321, 4321)
  for (const path of [file, link]) {
    const refused = expect.objectContaining({
      code: 'refused',
      message: expect.stringContaining('4321'),
    })
    expect(() => refuseExisting(path, { force: true })).toThrow(refused)
    expect(() => writeNewFile(path, { text: 'new' }, { force: true })).toThrow(refused)
  }
  expect([...stateOf(file), readFileSync(file, 'utf8')]).toEqual([4321, 4321, 0o640, 'kept'])
  expect(lstatSync(link)).toMatchObject({ uid: 4321 })
  expect(readdirSync(folder)).toHaveLength(2)
})
