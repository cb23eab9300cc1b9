/** Operations on the rotation of the bot's key. */
import { z } from 'zod'
import { refusedError } from '../errors.ts'
import type { Publication } from '../keys/publication.ts'
import type { Rotation } from '../keys/rotation.ts'
import { iso, nothing, operation } from './operation.ts'
import type { RotationReport } from './reports.ts'

export const ROTATION = {
  /** Begins a rotation, or joins the one under way; `keyRotation` reports its progress. */
  keyRotate: operation(
    z.strictObject({ algorithm: z.enum(['classic', 'pqc']).optional() }),
    async ({ publication }, { algorithm }) => report(await managed(publication).rotate(algorithm)),
  ),
  /** The rotation under way, or the last one since the start. */
  keyRotation: operation(nothing, ({ publication }) => rotationReport(publication)),
  /** Abandons a rotation whose new key has not been sent to the service. */
  keyAbandon: operation(nothing, async ({ publication }) =>
    report(await managed(publication).abandon()),
  ),
}

/** The rotation under way, or the last one since the start. */
export const rotationReport = (publication: Publication | null): RotationReport | null =>
  publication?.rotation ? report(publication.rotation) : null

/** @throws OperatorError `refused` when the sidecar manages no key */
export function managed(publication: Publication | null): Publication {
  if (publication !== null) return publication
  throw refusedError('key.publish is off', 'set key.publish to true and start the sidecar again')
}

const report = ({ startedAtMs, endedAtMs, nextAttemptAtMs, ...rotation }: Rotation) => ({
  ...rotation,
  startedAt: iso(startedAtMs),
  endedAt: iso(endedAtMs),
  nextAttemptAt: iso(nextAttemptAtMs),
})
