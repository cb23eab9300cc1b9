/** Several sidecars of one bot in this process, on one schema of the shared cluster, before a sandbox. */
import { onTestFinished } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { freshSchema, sharedCluster } from '../support/postgres.ts'
import { startOnSandbox, type SidecarOnSandbox } from '../support/sidecar-on-sandbox.ts'

/** One of the sidecars, as its bot sees it. */
export type Replica = SidecarOnSandbox

/**
 * Starts so many, all at once on an empty database, and waits until all are ready.
 * @param way the url of what leads to the shared cluster; its own when not given
 */
export async function several(
  count: number,
  way?: string,
): Promise<{
  sandbox: Sandbox
  replicas: Replica[]
  schema: string
  start: () => Promise<Replica>
}> {
  const sandbox = await createSandbox({ rates: 'off' })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const url = way ?? (await sharedCluster()).url
  const schema = freshSchema()
  const env = { POSTERN_STORE_URL: url, POSTERN_STORE_SCHEMA: schema }
  const start = () => startOnSandbox(sandbox, env)
  const replicas = await Promise.all(Array.from({ length: count }, start))
  return { sandbox, replicas, schema, start }
}
