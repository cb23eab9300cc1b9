import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REASON_DESCRIPTIONS } from '../../src/translate/verdict-descriptions.ts'

const FOLDER = join(import.meta.dirname, '../../src/translate')
/** What the verdict itself says enough of. */
const PLAIN = new Set(['readable-chat', 'not-encrypted', 'failed', 'deadline'])

test('every reason that withholds a message is described, with a way out', () => {
  const code = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'))
  const reasons = code.flatMap((text) =>
    [
      ...text.matchAll(/reason: '([a-z-]+)'/g),
      ...text.matchAll(/failed\('[a-z-]+', '([a-z-]+)'\)/g),
      ...text.matchAll(/refusalOf\('[a-z-]+', '([a-z-]+)'\)/g),
    ].map(([, reason = '']) => reason),
  )
  const distrusts = ['blocked', 'key-changed', 'not-accepted']
  const unknown = [...new Set([...reasons, ...distrusts])].filter(
    (reason) => !(reason in REASON_DESCRIPTIONS) && !PLAIN.has(reason),
  )
  expect(reasons.length).toBeGreaterThan(10)
  expect(unknown).toEqual([])
})
