import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claim, readOwner, release } from '../../src/store/owner.ts'
import { fileCalls } from '../support/file-calls.ts'
import { temporary } from './support.ts'

const OWNER = { pid: 7, host: 'a-host.example', startedAt: '2026-01-01T00:00:00.000Z' }

test('who claims a store is read as its owner, until they release it', () => {
  const dataDir = temporary()
  expect(readOwner(dataDir)).toBeNull()
  const before = new Date().toISOString()
  claim(dataDir)
  const owner = readOwner(dataDir)
  expect(owner).toMatchObject({ pid: process.pid, host: hostname() })
  expect([before, owner?.startedAt ?? '', new Date().toISOString()].toSorted()[1]).toBe(
    owner?.startedAt,
  )
  expect(readFileSync(join(dataDir, 'owner.json'), 'utf8')).toMatch(/\}\n$/)
  release(dataDir)
  release(dataDir)
  expect(readdirSync(dataDir)).toEqual([])
})

test('where the name cannot be written, no false one is left', () => {
  const dataDir = temporary()
  writeFileSync(join(dataDir, 'owner.json'), JSON.stringify(OWNER))
  fileCalls(() => claim(dataDir), 'fsyncSync')
  expect(readOwner(dataDir)).toBeNull()
  expect(readdirSync(dataDir)).toEqual([])
  // nor is it an error where there is none
  fileCalls(() => claim(dataDir), 'fsyncSync')
})

test.each<[string, unknown, boolean]>([
  ['an owner', OWNER, true],
  ['an owner, and more', { ...OWNER, more: 1 }, true],
  ['a host of an address', { ...OWNER, host: '::1' }, true],
  ['a time to the second', { ...OWNER, startedAt: '2026-01-01T00:00:00Z' }, true],
  ['the longest host', { ...OWNER, host: 'h'.repeat(255) }, true],
  ['no process', { ...OWNER, pid: undefined }, false],
  ['a process by name', { ...OWNER, pid: '7' }, false],
  ['half a process', { ...OWNER, pid: 1.5 }, false],
  ['no host', { ...OWNER, host: '' }, false],
  ['a host by number', { ...OWNER, host: 7 }, false],
  ['a host in a list', { ...OWNER, host: [OWNER.host] }, false],
  ['a time in a list', { ...OWNER, startedAt: [OWNER.startedAt] }, false],
  ['a host with more lines', { ...OWNER, host: 'host\nhost' }, false],
  ['a host with something before it', { ...OWNER, host: ' host' }, false],
  ['a host that is too long', { ...OWNER, host: 'h'.repeat(256) }, false],
  ['a time by number', { ...OWNER, startedAt: 1_767_225_600_000 }, false],
  ['a time with words before it', { ...OWNER, startedAt: 'at 2026-01-01T00:00:00Z' }, false],
  ['a time with words after it', { ...OWNER, startedAt: '2026-01-01T00:00:00Z ago' }, false],
  ['a time that is cut short', { ...OWNER, startedAt: '2026-01-01T00:00:0' }, false],
  ['nothing', null, false],
])('of what stands in the file, %s counts or does not', (_, content, counts) => {
  const dataDir = temporary()
  writeFileSync(join(dataDir, 'owner.json'), JSON.stringify(content))
  const owner = readOwner(dataDir)
  expect(owner !== null).toBe(counts)
  if (owner !== null) expect(Object.keys(owner)).toEqual(['pid', 'host', 'startedAt'])
})

test('neither a file that is no JSON, nor one that is too long, nor a folder is an owner', () => {
  for (const content of ['{', `{"more":"${'x'.repeat(4096)}",${JSON.stringify(OWNER).slice(1)}`]) {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'owner.json'), content)
    expect(readOwner(dataDir)).toBeNull()
  }
  const dataDir = temporary()
  mkdirSync(join(dataDir, 'owner.json'))
  expect(readOwner(dataDir)).toBeNull()
})
