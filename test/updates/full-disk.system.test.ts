/** A whole sidecar on a disk that fills up while sealed words wait: none are confirmed unread. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { canMount, fill, mounted } from '../store/support.ts'
import { startOnSandbox } from '../support/sidecar-on-sandbox.ts'
import { waitingWords, type Strike } from './failing-store.ts'

/** A sidecar whose data directory is on a disk of 4 MiB, and a person who writes to its bot. */
async function scene() {
  const sandbox = await createSandbox({ rates: 'off' })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const mount = mounted('4m')
  const sidecar = await startOnSandbox(sandbox, { POSTERN_DATA_DIR: join(mount, 'data') })
  const words = await waitingWords(sandbox, sidecar, (reasons) => reasons.join() === 'store')
  const full: Strike = () => {
    fill(mount)
    return { [Symbol.asyncDispose]: async () => rmSync(join(mount, 'filler')) }
  }
  return { ...words, full }
}

describe.skipIf(!canMount())(
  'a sidecar on a disk that fills up (skipped where none can be mounted)',
  () => {
    test('a poll on a full disk is refused, and its updates stay at the service', async () => {
      const { expectPollLeaves, full } = await scene()
      await expectPollLeaves(full)
    }, 120_000)

    test('a webhook on a full disk receives no update until there is room, and loses none', async () => {
      const { expectWebhookLeaves, full } = await scene()
      await expectWebhookLeaves(full)
    }, 120_000)
  },
)
