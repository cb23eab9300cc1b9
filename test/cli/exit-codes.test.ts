/** Exit codes after which a restart cannot help; `scripts/exit-*.txt` has each of them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'

test.each(['postern.service', 'key-agent/postern-agent.service'])(
  '%s does not restart after any exit code but 1',
  (file) => {
    const unit = readFileSync(`config/examples/${file}`, 'utf8')
    const codes = Object.values(OPERATOR_REFUSALS).map(({ exitCode }) => exitCode)
    const hopeless = [...new Set(codes)].filter((code) => code !== 1).toSorted()
    expect(/^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]).toBe(hopeless.join(' '))
    for (const code of ['store-corrupt', 'store-newer', 'store-other-bot'] as const) {
      expect(hopeless).toContain(OPERATOR_REFUSALS[code].exitCode)
    }
  },
)
