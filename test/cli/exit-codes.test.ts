/** Exit codes that say whether another attempt may help; `scripts/exit-*.txt` has each of them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'

test.each(['store-unwritable', 'store-read-only', 'listen'] as const)(
  'after %s another attempt may help',
  (code) => {
    expect(OPERATOR_REFUSALS[code].exitCode).toBe(1)
  },
)

test('the unit of systemd stays down after every other code', () => {
  const unit = readFileSync('config/examples/postern.service', 'utf8')
  const codes = Object.values(OPERATOR_REFUSALS).map(({ exitCode }) => exitCode)
  const hopeless = [...new Set(codes)].filter((code) => code !== 1).toSorted()
  expect(/^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]).toBe(hopeless.join(' '))
  for (const code of ['store-corrupt', 'store-newer', 'store-other-bot'] as const) {
    expect(hopeless).toContain(OPERATOR_REFUSALS[code].exitCode)
  }
})
