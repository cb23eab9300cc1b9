import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claim, readOwner, release } from '../../src/store/owner.ts'
import { fileCalls } from '../support/file-calls.ts'
import { temporary } from './support.ts'

const OWNER = { pid: 7, host: 'a-host.example', startedAt: '2026-01-01T00:00:00.000Z' }

test('the owner of a store is written by `claim` and removed by `release`', () => {
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

test('an owner file that cannot be written is removed', () => {
  const dataDir = temporary()
  writeFileSync(join(dataDir, 'owner.json'), JSON.stringify(OWNER))
  fileCalls(() => claim(dataDir), 'fsyncSync')
  expect(readOwner(dataDir)).toBeNull()
  expect(readdirSync(dataDir)).toEqual([])
  // nor is it an error where there is none
  fileCalls(() => claim(dataDir), 'fsyncSync')
})

test.each<[string, boolean, unknown]>([
  ['an owner', true, OWNER],
  ['an owner, and more', true, { ...OWNER, more: 1 }],
  ['a host of an address', true, { ...OWNER, host: '::1' }],
  ['a time to the second', true, { ...OWNER, startedAt: '2026-01-01T00:00:00Z' }],
  ['the longest host', true, { ...OWNER, host: 'h'.repeat(255) }],
  ['no process', false, { ...OWNER, pid: undefined }],
  ['a process by name', false, { ...OWNER, pid: '7' }],
  ['half a process', false, { ...OWNER, pid: 1.5 }],
  ['no host', false, { ...OWNER, host: '' }],
  ['a host by number', false, { ...OWNER, host: 7 }],
  ['a host in a list', false, { ...OWNER, host: [OWNER.host] }],
  ['a time in a list', false, { ...OWNER, startedAt: [OWNER.startedAt] }],
  ['a host with more lines', false, { ...OWNER, host: 'host\nhost' }],
  ['a host with something before it', false, { ...OWNER, host: ' host' }],
  ['a host that is too long', false, { ...OWNER, host: 'h'.repeat(256) }],
  ['a time by number', false, { ...OWNER, startedAt: 1_767_225_600_000 }],
  ['a time with words before it', false, { ...OWNER, startedAt: 'at 2026-01-01T00:00:00Z' }],
  ['a time with words after it', false, { ...OWNER, startedAt: '2026-01-01T00:00:00Z ago' }],
  ['a time that is cut short', false, { ...OWNER, startedAt: '2026-01-01T00:00:0' }],
  ['nothing', false, null],
])('an owner file with %s is valid: %s', (_, counts, content) => {
  const dataDir = temporary()
  writeFileSync(join(dataDir, 'owner.json'), JSON.stringify(content))
  const owner = readOwner(dataDir)
  expect(owner !== null).toBe(counts)
  if (owner !== null) expect(Object.keys(owner)).toEqual(['pid', 'host', 'startedAt'])
})

test('an owner file that is no JSON, too long or a folder names no owner', () => {
  for (const content of ['{', `{"more":"${'x'.repeat(4096)}",${JSON.stringify(OWNER).slice(1)}`]) {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'owner.json'), content)
    expect(readOwner(dataDir)).toBeNull()
  }
  const dataDir = temporary()
  mkdirSync(join(dataDir, 'owner.json'))
  expect(readOwner(dataDir)).toBeNull()
})
