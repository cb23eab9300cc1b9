/** What an operator can ask about the rotation of the bot's key. */
import type { Publication } from '../keys/publication.ts'
import type { Rotation } from '../keys/rotation.ts'
import type { Operations, RotationReport } from './operations.ts'
import { iso, managed } from './perform-keys.ts'

type RotationOperations = Pick<Operations, 'keyRotate' | 'keyRotation' | 'keyAbandon'>

export function rotationOperations({
  publication,
}: {
  publication: Publication | null
}): RotationOperations {
  return {
    keyRotate: async () => reportOf(await managed(publication).rotate()),
    keyRotation: () => Promise.resolve(rotationReport(publication)),
    keyAbandon: async () => reportOf(await managed(publication).abandon()),
  }
}

/** The rotation under way, or the last one since the start. */
export function rotationReport(publication: Publication | null): RotationReport | null {
  const rotation = publication?.rotation ?? null
  return rotation === null ? null : reportOf(rotation)
}

function reportOf(rotation: Rotation): RotationReport {
  const { from, to, phase, attempts, detail, startedAtMs, endedAtMs, nextAttemptAtMs } = rotation
  return {
    from,
    to,
    phase,
    startedAt: iso(startedAtMs) ?? '',
    endedAt: iso(endedAtMs),
    attempts,
    detail,
    nextAttemptAt: iso(nextAttemptAtMs),
  }
}
