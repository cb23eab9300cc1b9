import { beforeAll } from 'vitest'
import { useStage, type Stage } from '../support/double-stage.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

/**
 * Two sidecars of one bot on PostgreSQL, ready before the tests: that of the stage, and another one.
 * Without PostgreSQL there are none, and the tests are left out.
 */
export async function usePair(
  more: Record<string, string> = {},
): Promise<{ stage: Stage; other: () => Sidecar }> {
  let other: Sidecar
  if (!hasPostgres()) return { stage: null as never, other: () => other }
  const env = {
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_STORE_SCHEMA: freshSchema(),
    POSTERN_STORE_URL: (await sharedCluster()).url,
    ...more,
  }
  const stage = useStage({ env })
  beforeAll(async () => {
    other = stage.use(await startSidecar({ upstream: stage.double.url, env }))
    await other.whenReady()
  })
  return { stage, other: () => other }
}
