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
    expect(made).toHaveBeenLastCalledWith(dataDir, { mode: 0o700 })
    expect(changed).not.toHaveBeenCalled()
  })

  test.each([0o777, 0o1777, 0o701, 0o710, 0o755])(
    'that is open to others is refused, and stays as it is: mode %o',
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

  test('that a sidecar did not make is taken when it is empty, and no other', () => {
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

  test('that holds a store and nothing else is closed to others, where it can be', () => {
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

  test('that only its user may not write keeps its mode', () => {
    const dataDir = temporary()
    chmodSync(dataDir, 0o500)
    makeDataDir(dataDir)
    expect(modeOf(dataDir)).toBe('500')
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
  })

  test('that is there needs not be made, whatever mkdir answers', () => {
    fail('mkdirSync', 'EACCES')
    makeDataDir(temporary())
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

  test('that stays open to others is refused', () => {
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

  test('is neither a link nor a folder', () => {
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
})

describe.skipIf(process.getuid?.() !== 0)(
  'what belongs to another user (skipped for others than root)',
  () => {
    test('is refused, with what to do', () => {
      const [dataDir, path] = [temporary(), file()]
      chownSync(dataDir, 12345, 12345)
      chownSync(path, 12345, 12345)
      for (const [check, at, instead] of [
        [checkDataDir, dataDir, 'give it a `dataDir` of its own'],
        [checkFile, path, 'give the file back to the user who runs it'],
      ] as const) {
        const message = `${at} belongs to another user (uid 12345)`
        const hint = `run Postern as that user, or ${instead}`
        expect(() => check(at)).toThrow(refusal('data-dir', message, hint))
      }
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
