import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { locateCopy } from '../../src/control/backup-copy.ts'
import { dataFolder } from './support.ts'

const NAME = 'postern.backup-0a1b'

describe('the copy that a sidecar hands over', () => {
  test('is taken from the data directory as this command sees it', () => {
    const dataDir = dataFolder()
    writeFileSync(join(dataDir, NAME), 'a copy', { mode: 0o600 })
    expect(locateCopy(dataDir, `/as/the/sidecar/sees/it/${NAME}`)).toBe(join(dataDir, NAME))
  })

  test.each(['/etc/passwd', 'postern.db', `../${NAME}`, '..', '', NAME])(
    'is not %j, which is no copy in there',
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

  test('is no link to something else', () => {
    const dataDir = dataFolder()
    symlinkSync('/etc/passwd', join(dataDir, NAME))
    expect(() => locateCopy(dataDir, join(dataDir, NAME))).toThrow('there is none of that name')
  })
})
