import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeNewFile } from '../../src/cli/write-file.ts'
import { dataFolder } from '../control/support.ts'

describe('a file that a command makes in a folder that others write to', () => {
  test.each([false, true])('goes through no link that waits there (--force: %s)', (force) => {
    const folder = dataFolder()
    const from = join(dataFolder(), 'copy')
    const other = join(dataFolder(), 'other')
    writeFileSync(from, 'the store')
    writeFileSync(other, 'kept', { mode: 0o640 })
    const file = join(folder, 'backup')
    symlinkSync(other, `${file}.${process.pid}.tmp`)
    if (force) symlinkSync(other, file)
    expect(writeNewFile(file, { from }, { force })).toBe(file)
    expect(readFileSync(other, 'utf8')).toBe('kept')
    expect(statSync(other).mode & 0o777).toBe(0o640)
    expect(lstatSync(file).isFile()).toBe(true)
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toBe('the store')
    expect(readdirSync(folder)).toHaveLength(2)
  })
})
