import fs, {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { checkDataDir, checkFile, makeDataDir } from '../../src/store/data-dir.ts'
import { modeOf, restoreMocks, temporary } from './support.ts'

restoreMocks()

/** Lets a call of `node:fs` fail, and gives its error. */
function fail(name: 'mkdirSync' | 'chmodSync', code?: string): Error {
  const error = Object.assign(new Error('words'), code !== undefined && { code, syscall: 'x' })
  vi.spyOn(fs, name).mockImplementation(() => {
    throw error
  })
  syncBuiltinESMExports()
  return error
}

const refusal = (code: string, message: string, hint: string) =>
  expect.objectContaining({ code, message, hint })

const notADirectory = (dataDir: string) =>
  refusal('data-dir', `${dataDir} is not a directory`, 'name a directory as `dataDir`')

function file(): string {
  const path = join(temporary(), 'file')
  writeFileSync(path, 'x', { mode: 0o600 })
  return path
}

test('a new data directory and its parents have mode 0700, and a second creation is harmless', () => {
  const dataDir = join(temporary(), 'a', 'b')
  expect(checkDataDir(dataDir)).toBe(false)
  expect(existsSync(dataDir)).toBe(false)
  makeDataDir(dataDir)
  makeDataDir(dataDir)
  expect([modeOf(dataDir), checkDataDir(dataDir)]).toEqual(['700', true])
})

test('a new data directory has mode 0700 from the start', () => {
  const made = vi.spyOn(fs, 'mkdirSync')
  const changed = vi.spyOn(fs, 'chmodSync')
  syncBuiltinESMExports()
  const dataDir = join(temporary(), 'a')
  makeDataDir(dataDir)
  expect(made).toHaveBeenLastCalledWith(dataDir, { mode: 0o700 })
  expect(changed).not.toHaveBeenCalled()
})

test.each([0o777, 0o1777, 0o701, 0o710, 0o755])(
  'a data directory of mode %o, empty or with other files, is refused unchanged',
  (mode) => {
    const dataDir = temporary()
    chmodSync(dataDir, mode)
    const open = {
      code: 'data-dir',
      exitCode: 2,
      message: `${dataDir} is open to other users (mode ${(mode & 0o777).toString(8)})`,
      hint: expect.stringContaining(`chmod 700 ${dataDir}`) as unknown,
    }
    expect(() => makeDataDir(dataDir)).toThrow(expect.objectContaining(open))
    expect(statSync(dataDir).mode & 0o7777).toBe(mode)
    expect(readdirSync(dataDir)).toEqual([])
    writeFileSync(join(dataDir, 'postern.db'), '')
    writeFileSync(join(dataDir, 'letters.txt'), '')
    expect(() => checkDataDir(dataDir)).toThrow(
      expect.objectContaining({ ...open, exitCode: 3 }) as Error,
    )
  },
)

test('a data directory with other files and no store is refused, and an empty one is accepted', () => {
  const dataDir = temporary()
  mkdirSync(join(dataDir, 'lost+found'))
  makeDataDir(dataDir)
  writeFileSync(join(dataDir, 'letters.txt'), 'x')
  for (const mode of [0o700, 0o755]) {
    chmodSync(dataDir, mode)
    expect(() => makeDataDir(dataDir)).toThrow(
      expect.objectContaining({
        code: 'data-dir',
        exitCode: 2,
        message: `${dataDir} holds other files, and no store`,
        hint: expect.stringContaining(`mkdir -m 700 ${dataDir}/postern`) as unknown,
      }) as Error,
    )
    expect(modeOf(dataDir)).toBe(mode.toString(8))
  }
  chmodSync(dataDir, 0o700)
  for (const name of ['postern.db', 'store.json', 'database.json', 'sidecar.lock', 'bots']) {
    const used = temporary()
    for (const one of [name, 'letters.txt']) writeFileSync(join(used, one), 'x')
    makeDataDir(used)
  }
})

test('a data directory with only a store is closed to others, or refused where that fails', () => {
  const dataDir = temporary()
  for (const name of ['postern.db', 'postern.db-wal', 'store.json', 'owner.json']) {
    writeFileSync(join(dataDir, name), '')
  }
  chmodSync(dataDir, 0o755)
  fail('chmodSync', 'EPERM')
  expect(() => checkDataDir(dataDir)).toThrow('(mode 755) and that cannot be mended')
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  expect(checkDataDir(dataDir)).toBe(true)
  expect(modeOf(dataDir)).toBe('700')
})

test('a data directory of mode 0500 keeps its mode', () => {
  const dataDir = temporary()
  chmodSync(dataDir, 0o500)
  makeDataDir(dataDir)
  expect(modeOf(dataDir)).toBe('500')
})

test('a link to a data directory is accepted', () => {
  const dataDir = join(temporary(), 'link')
  symlinkSync(temporary(), dataDir)
  expect(checkDataDir(dataDir)).toBe(true)
})

test('a file, or a path below a file, is refused as data directory', () => {
  const path = file()
  expect(() => makeDataDir(path)).toThrow(notADirectory(path))
  expect(() => checkDataDir(path)).toThrow(notADirectory(path))
  const below = join(path, 'below')
  expect(() => makeDataDir(below)).toThrow(notADirectory(below))
})

test('a data directory that cannot be created is refused with the reason', () => {
  const dataDir = join(temporary(), 'a')
  for (const [code, reason] of [
    ['EACCES', 'EACCES'],
    ['ENOSPC', 'ENOSPC'],
    [undefined, 'unknown'],
  ] as const) {
    const cause = fail('mkdirSync', code)
    expect(() => makeDataDir(dataDir)).toThrow(
      expect.objectContaining({
        code: 'store-unwritable',
        message: `${dataDir} cannot be written: ${reason}`,
        cause,
      }),
    )
  }
  for (const code of ['ENOTDIR', 'EEXIST']) {
    fail('mkdirSync', code)
    expect(() => makeDataDir(dataDir)).toThrow(notADirectory(dataDir))
  }
  fail('mkdirSync', 'EACCES')
  const path = file()
  expect(() => makeDataDir(path)).toThrow(notADirectory(path))
})

test('an existing data directory is accepted although `mkdir` fails', () => {
  fail('mkdirSync', 'EACCES')
  makeDataDir(temporary())
})

test('a file of the store is closed to other users', () => {
  const path = file()
  const changed = vi.spyOn(fs, 'chmodSync')
  syncBuiltinESMExports()
  checkFile(path)
  expect(changed).not.toHaveBeenCalled()
  fs.chmodSync(path, 0o644)
  checkFile(path)
  expect(modeOf(path)).toBe('600')
})

test('a file of the store that stays open to other users is refused', () => {
  const path = file()
  chmodSync(path, 0o644)
  fail('chmodSync', 'EPERM')
  expect(() => checkFile(path)).toThrow(
    refusal(
      'data-dir',
      `${path} is open to other users (mode 644) and that cannot be mended`,
      'put `dataDir` on a file system that keeps permissions, with mode 0700',
    ),
  )
})

test('a link or a folder in place of a file of the store is refused', () => {
  const path = file()
  const link = join(temporary(), 'link')
  symlinkSync(path, link)
  const folder = join(temporary(), 'folder')
  mkdirSync(folder)
  for (const other of [link, folder]) {
    const hint = 'put the store’s own file back in its place'
    expect(() => checkFile(other)).toThrow(
      refusal('data-dir', `${other} is not a plain file`, hint),
    )
  }
})

describe.skipIf(process.getuid?.() !== 0)(
  'a file of another user (skipped for others than root)',
  () => {
    test('a data directory or a file of another user is refused with a hint', () => {
      const [dataDir, path] = [temporary(), file()]
      chownSync(dataDir, 12345, 12345)
      chownSync(path, 12345, 12345)
      for (const [check, at] of [
        [checkDataDir, dataDir],
        [checkFile, path],
      ] as const) {
        const message = `${at} belongs to user 12345, and Postern runs as user 0`
        const hint = `run Postern as user 12345, or as root: \`chown -R 0 ${at}\`, if all in it is Postern’s`
        expect(() => check(at)).toThrow(refusal('data-dir', message, hint))
      }
    })
  },
)
