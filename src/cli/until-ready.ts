import { setTimeout as pause } from 'node:timers/promises'
import type { Operations } from '../control/operations.ts'
import { failedError } from '../errors.ts'

const READY_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 20

/**
 * Waits until a sidecar of this process is ready.
 * @throws OperatorError `failed`, with the reasons, when it is not within 20 s
 */
export async function untilReady({ status }: Pick<Operations, 'status'>): Promise<void> {
  const endMs = Date.now() + READY_WITHIN_MS
  for (;;) {
    const { ready, reasons } = await status()
    if (ready) return
    if (Date.now() > endMs) {
      const why = reasons.map(({ code, message }) => `${code} ${message}`.trim()).join('; ')
      throw failedError(
        `the sidecar did not get ready: ${why}`,
        'try again; on a slow machine the first start may take long',
      )
    }
    await pause(LOOK_EVERY_MS)
  }
}
