import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
import { startControl } from '../../src/control/server.ts'
import { watchedLog } from '../support/watched-log.ts'
import { isRoot, listener, NOBODY, point, socketFolder } from './socket-support.ts'
import { dataFolder, operations, STATUS } from './support.ts'

describe('a start', () => {
  const start = async (dataDir: string, runtimeDir: string | null): Promise<AsyncDisposable> => {
    const control = await startControl({
      dataDir,
      runtimeDir,
      operations: operations(),
      log: watchedLog(),
    })
    onTestFinished(() => control[Symbol.asyncDispose]())
    return control
  }
  const pointedBy = (dataDir: string): string =>
    readFileSync(join(dataDir, 'control.path'), 'utf8').trim()

  test.skipIf(!isRoot)(
    'neither asks nor removes what another user has made meanwhile',
    async () => {
      const dataDir = dataFolder(3)
      const folder = socketFolder()
      const path = join(folder, 'control.sock')
      const thief = await listener(path)
      for (const one of [folder, path]) chownSync(one, NOBODY, NOBODY)
      point(dataDir, path)
      await start(dataDir, null)
      expect(thief.heard()).toBe('')
      expect(existsSync(path)).toBe(true)
      expect(pointedBy(dataDir)).not.toBe(path)
    },
  )

  test('removes the socket of a dead process and nothing else from its folder', async () => {
    const dataDir = dataFolder(3)
    const folder = socketFolder()
    writeFileSync(join(folder, 'something'), 'of somebody’s')
    point(dataDir, join(folder, 'control.sock'))
    await start(dataDir, null)
    expect(existsSync(join(folder, 'something'))).toBe(true)
  })

  test('removes a link in the socket’s place and leaves what it leads to', async () => {
    const dataDir = dataFolder()
    const other = join(dataFolder(), 'file')
    writeFileSync(other, 'kept')
    symlinkSync(other, join(dataDir, 'control.sock'))
    await start(dataDir, null)
    expect(readFileSync(other, 'utf8')).toBe('kept')
    expect(lstatSync(join(dataDir, 'control.sock')).isSocket()).toBe(true)
  })

  test('writes no pointer through a link', async () => {
    const dataDir = dataFolder(3)
    const other = join(dataFolder(), 'file')
    writeFileSync(other, 'kept')
    for (const name of ['control.path', 'control.path.new', `control.path.${process.pid}.tmp`]) {
      symlinkSync(other, join(dataDir, name))
    }
    await start(dataDir, null)
    expect(readFileSync(other, 'utf8')).toBe('kept')
    expect(lstatSync(join(dataDir, 'control.path')).isFile()).toBe(true)
  })

  test('takes the user’s own runtime folder before a shared one', async () => {
    const dataDir = dataFolder(3)
    const runtimeDir = dataFolder()
    const control = await start(dataDir, runtimeDir)
    expect(dirname(dirname(pointedBy(dataDir)))).toBe(runtimeDir)
    expect(statSync(dirname(pointedBy(dataDir))).mode & 0o777).toBe(0o700)
    await control[Symbol.asyncDispose]()
    expect(existsSync(runtimeDir)).toBe(true)
  })

  test.each([
    ['is open to others', () => changed((path) => chmodSync(path, 0o755))],
    ['is a link', linked],
    ['is not there', () => '/nowhere/at/all'],
    ['is no absolute path', () => 'run'],
    ['is too long', () => dataFolder(3)],
  ])('takes the shared one when the runtime folder %s', async (_what, make) => {
    const dataDir = dataFolder(3)
    const runtimeDir = make()
    await start(dataDir, runtimeDir)
    expect(dirname(dirname(pointedBy(dataDir)))).not.toBe(runtimeDir)
    await using control = await connectControl(dataDir)
    expect(await control?.status()).toEqual(STATUS)
  })

  function changed(change: (path: string) => void): string {
    const path = dataFolder()
    change(path)
    return path
  }

  function linked(): string {
    const link = join(dataFolder(), 'link')
    const real = join(dirname(link), 'real')
    mkdirSync(real, { mode: 0o700 })
    symlinkSync(real, link)
    return link
  }
})
