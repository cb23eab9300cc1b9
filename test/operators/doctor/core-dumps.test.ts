import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkCoreDumps } from '../../../src/operators/doctor/check-core-dumps.ts'
import { dataFolder } from '../support.ts'

/** A /proc with a limit, and with a pattern unless that cannot be read. */
function system(limit: string, pattern: string | null): string {
  const proc = dataFolder()
  for (const folder of ['self', 'sys/kernel']) mkdirSync(join(proc, folder), { recursive: true })
  const rows = ['Limit                     Soft Limit           Hard Limit           Units']
  rows.push('Max stack size            8388608              unlimited            bytes')
  rows.push(`Max core file size        ${limit.padEnd(20)} unlimited            bytes`)
  writeFileSync(join(proc, 'self/limits'), rows.join('\n'))
  if (pattern !== null) writeFileSync(join(proc, 'sys/kernel/core_pattern'), `${pattern}\n`)
  return proc
}

test.each([
  ['unlimited', 'core'],
  ['1024', 'core.%p'],
  ['unlimited', '|/usr/lib/systemd/systemd-coredump %P %u'],
  ['unlimited', null],
])(
  'core dumps with the limit %s and the pattern %j are a warning with places to switch them off',
  (limit, pattern) => {
    const [line, ...more] = checkCoreDumps(system(limit, pattern))
    expect(more).toEqual([])
    expect(line).toMatchObject({ name: 'core dumps', level: 'warn' })
    for (const place of ['LimitCORE=0', 'ulimit -c 0', '--ulimit core=0', 'ulimits: { core: 0 }']) {
      expect(line?.hint).toContain(place)
    }
  },
)

test.each([
  ['0', 'core'],
  ['0', '|/usr/lib/systemd/systemd-coredump %P %u'],
  ['0', null],
  ['unlimited', ''],
])('core dumps with the limit %s and the pattern %j are off', (limit, pattern) => {
  expect(checkCoreDumps(system(limit, pattern))).toMatchObject([{ level: 'pass' }])
})

test('core dumps are not reported where the system shows no limits', () => {
  expect(checkCoreDumps('/nowhere')).toEqual([])
})

test('core dumps are off in the examples for systemd and Compose', () => {
  const example = (name: string) => readFileSync(join('config/examples', name), 'utf8')
  expect(example('postern.service')).toMatch(/^LimitCORE=0$/m)
  expect(example('compose.yaml')).toMatch(/^ {4}ulimits: \{ core: 0 \}$/m)
})
