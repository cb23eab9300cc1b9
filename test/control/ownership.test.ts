import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
import { isRoot, listener, NOBODY, point, socketFolder } from './socket-support.ts'
import { dataFolder, serve, STATUS } from './support.ts'

const SOURCES = join(import.meta.dirname, '../../src')

/** Runs a module's text as another user. */
const asNobody = (script: string) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    env: {},
    encoding: 'utf8',
  })
const canBeNobody =
  isRoot &&
  asNobody(
    `await import(${JSON.stringify(pathToFileURL(join(SOURCES, 'control/client.ts')).href)})`,
  ).status === 0

/** What an operator does who changes the passphrase. */
async function protect(dataDir: string): Promise<unknown> {
  await using control = await connectControl(dataDir)
  return await control?.keyProtect({ protection: 'passphrase', passphrase: 'the new words' })
}

const refused = (reason: string | RegExp) => ({
  code: 'data-dir',
  exitCode: 3,
  message: expect.stringMatching(reason),
  hint: expect.stringMatching(/nothing was sent|run this command as the user/),
})

describe('a socket that is not its owner’s alone is not connected to', () => {
  test.skipIf(!isRoot)(
    'the folder that a pointer names was taken over by another user after a crash',
    async () => {
      const dataDir = dataFolder(3)
      const folder = socketFolder()
      const path = join(folder, 'control.sock')
      const thief = await listener(path)
      for (const one of [folder, path]) chownSync(one, NOBODY, NOBODY)
      point(dataDir, path)
      await expect(protect(dataDir)).rejects.toMatchObject(refused('belongs to user 65534'))
      expect(thief.heard()).toBe('')
    },
  )

  test.skipIf(!isRoot)('the folder is ours and the socket in it is another user’s', async () => {
    const dataDir = dataFolder(3)
    const path = join(socketFolder(), 'control.sock')
    const thief = await listener(path)
    chownSync(path, NOBODY, NOBODY)
    point(dataDir, path)
    await expect(protect(dataDir)).rejects.toMatchObject(refused('belongs to user 65534'))
    expect(thief.heard()).toBe('')
  })

  test('the folder is open to others', async () => {
    const dataDir = dataFolder(3)
    const folder = socketFolder()
    const path = join(folder, 'control.sock')
    const thief = await listener(path)
    chmodSync(folder, 0o755)
    point(dataDir, path)
    await expect(protect(dataDir)).rejects.toMatchObject(refused('mode 755'))
    expect(thief.heard()).toBe('')
  })

  test('the folder lies where others can put another in its place', async () => {
    const dataDir = dataFolder(3)
    const open = dataFolder()
    const folder = mkdtempSync(join(open, 'postern-control-'))
    const path = join(folder, 'control.sock')
    const thief = await listener(path)
    chmodSync(open, 0o777)
    point(dataDir, path)
    await expect(protect(dataDir)).rejects.toMatchObject(refused('others can replace it'))
    expect(thief.heard()).toBe('')
  })

  test.each(['666', '660', '640', '620', '610', '606', '604', '602', '601'])(
    'the socket is open to others (mode %s)',
    async (mode) => {
      const dataDir = dataFolder()
      const thief = await listener(join(dataDir, 'control.sock'), Number.parseInt(mode, 8))
      await expect(protect(dataDir)).rejects.toMatchObject(refused(`mode ${mode}`))
      expect(thief.heard()).toBe('')
    },
  )

  test('the socket in dataDir is a link', async () => {
    const dataDir = dataFolder()
    const elsewhere = join(dataFolder(), 'control.sock')
    const thief = await listener(elsewhere)
    symlinkSync(elsewhere, join(dataDir, 'control.sock'))
    await expect(protect(dataDir)).rejects.toMatchObject(refused('symbolic link'))
    expect(thief.heard()).toBe('')
  })

  test('the folder, or the socket, that a pointer names is a link', async () => {
    const dataDir = dataFolder(3)
    const real = socketFolder()
    const thief = await listener(join(real, 'control.sock'))
    const linked = `${real}-link`
    symlinkSync(real, linked)
    onTestFinished(() => rmSync(linked, { force: true }))
    point(dataDir, join(linked, 'control.sock'))
    await expect(protect(dataDir)).rejects.toMatchObject(refused('symbolic link'))
    const other = socketFolder()
    symlinkSync(join(real, 'control.sock'), join(other, 'control.sock'))
    point(dataDir, join(other, 'control.sock'))
    await expect(protect(dataDir)).rejects.toMatchObject(refused('symbolic link'))
    expect(thief.heard()).toBe('')
  })

  test('the pointer is a link', async () => {
    const dataDir = dataFolder(3)
    const path = join(socketFolder(), 'control.sock')
    const thief = await listener(path)
    const elsewhere = join(dataFolder(), 'pointer')
    writeFileSync(elsewhere, `${path}\n`)
    symlinkSync(elsewhere, join(dataDir, 'control.path'))
    await expect(protect(dataDir)).rejects.toMatchObject(refused('symbolic link'))
    expect(thief.heard()).toBe('')
  })

  test('dataDir is open to others', async () => {
    const dataDir = dataFolder()
    const thief = await listener(join(dataDir, 'control.sock'))
    chmodSync(dataDir, 0o770)
    await expect(protect(dataDir)).rejects.toMatchObject(refused('mode 770'))
    expect(thief.heard()).toBe('')
  })

  test.skipIf(!canBeNobody)('dataDir is another user’s', async () => {
    const dataDir = dataFolder(1)
    const thief = await listener(join(dataDir, 'control.sock'), 0o777)
    chmodSync(dataDir, 0o755)
    chmodSync(dirname(dataDir), 0o755)
    const { stdout } = asNobody(`
      const { connectControl } = await import(${JSON.stringify(pathToFileURL(join(SOURCES, 'control/client.ts')).href)})
      await connectControl(${JSON.stringify(dataDir)}).then(
        async (control) => console.log(await control.keyProtect({ protection: 'passphrase', passphrase: 'words' })),
        (error) => console.log(error.code, error.message, error.hint),
      )
      process.exit()`)
    expect(stdout).toMatch(/^data-dir .*belongs to user 0, not 65534 run this command as the user/)
    expect(thief.heard()).toBe('')
  })
})

describe('root', () => {
  test.skipIf(!isRoot)('reaches the sidecar of the user whom dataDir belongs to', async () => {
    const dataDir = dataFolder()
    const control = await serve(dataDir)
    for (const one of [dataDir, join(dataDir, 'control.sock')]) chownSync(one, NOBODY, NOBODY)
    await using client = await connectControl(dataDir)
    expect(await client?.status()).toEqual(STATUS)
    await control[Symbol.asyncDispose]()
  })

  test.skipIf(!isRoot)(
    'is not led by that user to anybody else’s socket, its own neither',
    async () => {
      const dataDir = dataFolder(3)
      const path = join(socketFolder(), 'control.sock')
      const own = await listener(path)
      point(dataDir, path)
      for (const one of [dataDir, join(dataDir, 'control.path')]) chownSync(one, NOBODY, NOBODY)
      await expect(protect(dataDir)).rejects.toMatchObject(refused('belongs to user 0, not 65534'))
      expect(own.heard()).toBe('')
    },
  )

  test.skipIf(!isRoot)('makes no socket in another user’s folder', async () => {
    const dataDir = dataFolder()
    chownSync(dataDir, NOBODY, NOBODY)
    await expect(serve(dataDir)).rejects.toMatchObject({
      code: 'listen',
      message: expect.stringContaining('belongs to user 65534'),
    })
  })
})

describe('a link to dataDir', () => {
  test('is followed: it is the operator’s', async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const link = join(dataFolder(), 'link')
    symlinkSync(dataDir, link)
    await using control = await connectControl(link)
    expect(await control?.status()).toEqual(STATUS)
  })
})
