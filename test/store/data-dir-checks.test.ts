import fs, {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { checkDataDir, checkFile, makeDataDir } from '../../src/store/data-dir.ts'
import { modeOf, temporary } from './support.ts'

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

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

describe('a data directory', () => {
  test('is made for us alone, its parents too, and again without harm', () => {
    const dataDir = join(temporary(), 'a', 'b')
    expect(checkDataDir(dataDir)).toBe(false)
    expect(existsSync(dataDir)).toBe(false)
    makeDataDir(dataDir)
    makeDataDir(dataDir)
    expect([modeOf(dataDir), checkDataDir(dataDir)]).toEqual(['700', true])
  })

  test('is made for us alone at once, not open for a moment', () => {
    const made = vi.spyOn(fs, 'mkdirSync')
    const changed = vi.spyOn(fs, 'chmodSync')
    syncBuiltinESMExports()
    const dataDir = join(temporary(), 'a')
    makeDataDir(dataDir)
    expect(made).toHaveBeenLastCalledWith(dataDir, { recursive: true, mode: 0o700 })
    expect(changed).not.toHaveBeenCalled()
  })

  test.each([0o777, 0o701, 0o710, 0o500])('is closed to others: mode %o', (mode) => {
    const dataDir = temporary()
    chmodSync(dataDir, mode)
    makeDataDir(dataDir)
    expect(modeOf(dataDir)).toBe('700')
  })

  test('may be a link to one', () => {
    const dataDir = join(temporary(), 'link')
    symlinkSync(temporary(), dataDir)
    expect(checkDataDir(dataDir)).toBe(true)
  })

  test('is not a file, nor below one', () => {
    const path = file()
    expect(() => makeDataDir(path)).toThrow(notADirectory(path))
    expect(() => checkDataDir(path)).toThrow(notADirectory(path))
    const below = join(path, 'below')
    expect(() => makeDataDir(below)).toThrow(notADirectory(below))
  })

  test('that cannot be made is refused with the reason', () => {
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
    const there = temporary()
    expect(() => makeDataDir(there)).toThrow('EACCES')
  })

  test('that stays open to others is refused, and one that stays closed is not', () => {
    const dataDir = temporary()
    chmodSync(dataDir, 0o755)
    fail('chmodSync', 'EPERM')
    const open = refusal(
      'data-dir',
      `${dataDir} is open to other users (mode 755) and that cannot be mended`,
      'put `dataDir` on a file system that keeps permissions, with mode 0700',
    )
    expect(() => checkDataDir(dataDir)).toThrow(open)
    vi.restoreAllMocks()
    syncBuiltinESMExports()
    chmodSync(dataDir, 0o500)
    fail('chmodSync', 'EPERM')
    expect(checkDataDir(dataDir)).toBe(true)
  })
})

describe('a file of the store', () => {
  test('is ours alone', () => {
    const path = file()
    const changed = vi.spyOn(fs, 'chmodSync')
    syncBuiltinESMExports()
    checkFile(path)
    expect(changed).not.toHaveBeenCalled()
    fs.chmodSync(path, 0o644)
    checkFile(path)
    expect(modeOf(path)).toBe('600')
  })

  test('is neither a link nor a folder', () => {
    const path = file()
    const link = join(temporary(), 'link')
    symlinkSync(path, link)
    const folder = join(temporary(), 'folder')
    mkdirSync(folder)
    for (const other of [link, folder]) {
      expect(() => checkFile(other)).toThrow(
        refusal(
          'data-dir',
          `${other} is not a plain file`,
          'put the store’s own file back in its place',
        ),
      )
    }
  })
})

describe.skipIf(process.getuid?.() !== 0)(
  'what belongs to another user (skipped for others than root)',
  () => {
    test('is refused, with what to do', () => {
      const [dataDir, path] = [temporary(), file()]
      chownSync(dataDir, 12345, 12345)
      chownSync(path, 12345, 12345)
      expect(() => checkDataDir(dataDir)).toThrow(
        refusal(
          'data-dir',
          `${dataDir} belongs to another user (uid 12345)`,
          'run Postern as that user, or give it a `dataDir` of its own',
        ),
      )
      expect(() => checkFile(path)).toThrow(
        refusal(
          'data-dir',
          `${path} belongs to another user (uid 12345)`,
          'run Postern as that user, or give the file back to the user who runs it',
        ),
      )
    })

    test('is no matter where there are no users', () => {
      const dataDir = temporary()
      chownSync(dataDir, 12345, 12345)
      const { getuid } = process
      try {
        Object.assign(process, { getuid: undefined })
        expect(checkDataDir(dataDir)).toBe(true)
      } finally {
        Object.assign(process, { getuid })
      }
    })
  },
)
