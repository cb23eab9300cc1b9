import { spawnSync } from '../support/programs.ts'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { announceSandbox, findSandboxes } from '../../src/operators/running-sandboxes.ts'
import type { AnnouncedSandbox } from '../../src/operators/running-sandboxes.ts'

const AT = 'http://127.0.0.1:8801'

/** A folder of this user, and where the files are in it. */
function runtime(): { folder: string; files: string } {
  const folder = mkdtempSync(join(tmpdir(), 'postern-runtime-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, files: join(folder, 'postern', 'sandboxes') }
}

function announce(folders: string[], controlUrl = AT): AnnouncedSandbox {
  return announceSandbox(folders, { command: 'dev', controlUrl, dataDir: '/bots/one' })
}

/** Leaves a file as another process would. */
function leave(files: string, record: object, name: string): string {
  const file = join(files, name)
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 })
  return file
}

const ofAnother = (pid: number) => ({
  command: 'sandbox',
  controlUrl: 'http://127.0.0.1:9001',
  dataDir: null,
  pid,
  startedAt: '2001-01-01T00:00:00.000Z',
  host: hostname(),
})

test('a sandbox is found until it ends, by a file that only its owner can read', () => {
  const { folder, files } = runtime()
  const announced = announce([folder])
  expect(findSandboxes([folder])).toMatchObject([
    {
      command: 'dev',
      pid: process.pid,
      startedAt: expect.any(String),
      controlUrl: AT,
      dataDir: '/bots/one',
      trouble: null,
    },
  ])
  expect(statSync(files).mode & 0o777).toBe(0o700)
  const [name = ''] = readdirSync(files)
  expect(statSync(join(files, name)).mode & 0o777).toBe(0o600)
  announced[Symbol.dispose]()
  expect(findSandboxes([folder])).toEqual([])
  expect(readdirSync(files)).toEqual([])
})

test('a sandbox is found with the latest reason why its bot cannot answer', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { folder, files } = runtime()
  const announced = announce([folder])
  for (const text of ['first', 'last']) announced.tell({ atMs: 7, text })
  expect(findSandboxes([folder])).toMatchObject([{ trouble: null }])
  vi.runAllTimers()
  expect(findSandboxes([folder])).toMatchObject([{ trouble: { atMs: 7, text: 'last' } }])
  announced.tell(null)
  vi.runAllTimers()
  expect(findSandboxes([folder])).toMatchObject([{ trouble: null }])
  announced.tell({ atMs: null, text: 'late' })
  announced[Symbol.dispose]()
  vi.runAllTimers()
  expect(readdirSync(files)).toEqual([])
})

test('a sandbox announced in two folders is found once', () => {
  const [first, second] = [runtime().folder, runtime().folder]
  using _ = announce([first, second])
  expect(findSandboxes([second, first])).toHaveLength(1)
  expect(findSandboxes([second])).toHaveLength(1)
  expect(findSandboxes([join(first, 'not-there')])).toEqual([])
})

test('the file of a process that ended is removed', () => {
  const { folder, files } = runtime()
  using _ = announce([folder])
  const { pid } = spawnSync(process.execPath, ['--version'])
  const file = leave(files, ofAnother(pid), `${pid}.json`)
  expect(findSandboxes([folder]).map((one) => one.pid)).toEqual([process.pid])
  expect(existsSync(file)).toBe(false)
})

test.each([
  ['of another machine', { host: 'elsewhere' }],
  ['of another process than its name', { pid: 1 }],
  ['without an address', { controlUrl: 'nonsense' }],
  ['of an unknown command', { command: 'rm' }],
])('a file %s is ignored and kept', (_what, change) => {
  const { folder, files } = runtime()
  using _ = announce([folder])
  const { ppid } = process
  const file = leave(files, { ...ofAnother(ppid), ...change }, `${ppid}.json`)
  expect(findSandboxes([folder])).toHaveLength(1)
  expect(existsSync(file)).toBe(true)
})

test('a folder that other users can open is neither read nor written', () => {
  const { folder, files } = runtime()
  mkdirSync(files, { recursive: true })
  chmodSync(files, 0o755)
  using _ = announce([folder])
  expect(readdirSync(files)).toEqual([])
  expect(() => findSandboxes([folder])).toThrow(/is open to others \(mode 755\)/)
})

test('a symbolic link to a folder or a file is not followed', () => {
  const { folder, files } = runtime()
  const target = mkdtempSync(join(tmpdir(), 'postern-target-'))
  onTestFinished(() => rmSync(target, { recursive: true, force: true }))
  mkdirSync(join(folder, 'postern'))
  symlinkSync(target, files)
  using _first = announce([folder])
  expect(readdirSync(target)).toEqual([])
  expect(() => findSandboxes([folder])).toThrow('is a symbolic link')
  rmSync(files)
  using _second = announce([folder])
  const outside = leave(target, ofAnother(process.ppid), 'x.json')
  symlinkSync(outside, join(files, `${process.ppid}.json`))
  expect(() => findSandboxes([folder])).toThrow('is a symbolic link')
})

test('a sandbox runs although its file cannot be written', () => {
  const { folder } = runtime()
  writeFileSync(join(folder, 'postern'), 'a file in the way')
  using _ = announce([folder])
  expect(readFileSync(join(folder, 'postern'), 'utf8')).toBe('a file in the way')
})
