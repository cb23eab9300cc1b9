import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
import { dataFolder, serve, STATUS } from './support.ts'

/** A process that listened there and was killed. */
function leaveDeadSocket(path: string): void {
  const script = `
    process.umask(0o177)
    require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`
  spawnSync(process.execPath, ['-e', script])
  expect(statSync(path).isSocket()).toBe(true)
}

async function statusOf(dataDir: string) {
  await using control = await connectControl(dataDir)
  return await control?.status()
}

describe('the control socket', () => {
  test('is in dataDir, only for its owner, and gone afterwards', async () => {
    const dataDir = dataFolder()
    const control = await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await statusOf(dataDir)).toEqual(STATUS)
    await control[Symbol.asyncDispose]()
    expect(existsSync(path)).toBe(false)
    expect(await connectControl(dataDir)).toBeNull()
  })

  test('leaves the mask for new files as it was', async () => {
    const before = process.umask()
    await serve(dataFolder())
    expect(process.umask()).toBe(before)
  })

  test('that a killed process left is replaced', async () => {
    const dataDir = dataFolder()
    leaveDeadSocket(join(dataDir, 'control.sock'))
    expect(await connectControl(dataDir)).toBeNull()
    await serve(dataDir)
    expect(await statusOf(dataDir)).toEqual(STATUS)
  })

  test('that another sidecar answers at is an error, and the first goes on', async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    await expect(serve(dataDir)).rejects.toMatchObject({
      code: 'store-in-use',
      message: `a sidecar already runs on ${dataDir}`,
      hint: expect.stringContaining('postern status'),
    })
    expect(await statusOf(dataDir)).toEqual(STATUS)
  })

  test('in a folder that is not there is an error', async () => {
    await expect(serve('/nowhere/at/all')).rejects.toMatchObject({ code: 'listen', exitCode: 1 })
  })
})

describe('a data directory with a long path', () => {
  test('has its socket elsewhere, in a folder only for its owner, and a pointer to it', async () => {
    const dataDir = dataFolder(3)
    const control = await serve(dataDir)
    const pointer = join(dataDir, 'control.path')
    const path = readFileSync(pointer, 'utf8').trim()
    expect(existsSync(join(dataDir, 'control.sock'))).toBe(false)
    expect(statSync(pointer).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await statusOf(dataDir)).toEqual(STATUS)
    await expect(serve(dataDir)).rejects.toMatchObject({ code: 'store-in-use' })
    await control[Symbol.asyncDispose]()
    expect([pointer, path, dirname(path)].filter(existsSync)).toEqual([])
  })

  test('is cleared of what a killed process left there', async () => {
    const dataDir = dataFolder(3)
    const stale = mkdtempSync(join(tmpdir(), 'postern-control-'))
    const dead = join(stale, 'control.sock')
    leaveDeadSocket(dead)
    writeFileSync(join(dataDir, 'control.path'), `${dead}\n`)
    expect(await connectControl(dataDir)).toBeNull()
    await serve(dataDir)
    expect(existsSync(stale)).toBe(false)
    expect(await statusOf(dataDir)).toEqual(STATUS)
  })

  test.each([
    '/etc',
    '/etc/passwd',
    'relative',
    '',
    '\0',
    '/tmp/postern-control-x/../../etc/passwd',
  ])('is not led astray by a pointer to %j', async (target) => {
    const dataDir = dataFolder(3)
    writeFileSync(join(dataDir, 'control.path'), target)
    expect(await connectControl(dataDir)).toBeNull()
    await serve(dataDir)
    expect(existsSync('/etc/passwd')).toBe(true)
    expect(await statusOf(dataDir)).toEqual(STATUS)
  })

  test('does not remove what a pointer names and no sidecar made', async () => {
    const dataDir = dataFolder(3)
    const other = join(dataFolder(), 'control.sock')
    leaveDeadSocket(other)
    writeFileSync(join(dataDir, 'control.path'), other)
    await serve(dataDir)
    expect(existsSync(other)).toBe(true)
    expect(await statusOf(dataDir)).toEqual(STATUS)
  })
})
