import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { locateCopy } from '../../src/operators/backup-copy.ts'
import { dataFolder } from './support.ts'

const NAME = 'postern.backup-0a1b'

test('a copy named by the sidecar is located in the data directory of the command', () => {
  const dataDir = dataFolder()
  writeFileSync(join(dataDir, NAME), 'a copy', { mode: 0o600 })
  expect(locateCopy(dataDir, `/as/the/sidecar/sees/it/${NAME}`)).toBe(join(dataDir, NAME))
})

test.each(['/etc/passwd', 'postern.db', `../${NAME}`, '..', '', NAME])(
  'the name %j is refused as a copy outside the data directory',
  (named) => {
    const dataDir = dataFolder()
    writeFileSync(join(dataDir, 'postern.db'), 'the store', { mode: 0o600 })
    expect(() => locateCopy(dataDir, named)).toThrow(
      expect.objectContaining({
        code: 'failed',
        hint: expect.stringContaining('with its dataDir'),
      }),
    )
  },
)

test('a symbolic link in place of the copy is refused', () => {
  const dataDir = dataFolder()
  symlinkSync('/etc/passwd', join(dataDir, NAME))
  expect(() => locateCopy(dataDir, join(dataDir, NAME))).toThrow('there is none of that name')
})
