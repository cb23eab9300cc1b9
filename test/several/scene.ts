/** Several sidecars of one bot in this process, on one schema of the shared cluster, before a sandbox. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { freshSchema, sharedCluster } from '../support/postgres.ts'
import { startSidecarInside } from '../support/sidecar-inside.ts'
import { untilReady, type RunningSidecar } from '../support/sidecar-process.ts'

/** One of the sidecars, as its bot sees it. */
export interface Replica extends RunningSidecar {
  readonly dataDir: string
  call(method: string, path: string, body?: unknown): Promise<{ status: number; json: Answer }>
}

export interface Answer {
  ok: boolean
  result: unknown
  error?: { code: string }
}

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
  const start = () => startReplica(sandbox, { url, schema })
  const replicas = await Promise.all(Array.from({ length: count }, start))
  return { sandbox, replicas, schema, start }
}

async function startReplica(
  sandbox: Sandbox,
  store: { url: string; schema: string },
): Promise<Replica> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sc-'))
  const sidecar = await startSidecarInside({
    POSTERN_UPSTREAM_URL: sandbox.url,
    POSTERN_BOT_TOKEN: sandbox.token,
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_LISTEN_PORT: '0',
    POSTERN_ADMIN_PORT: '0',
    POSTERN_DATA_DIR: dataDir,
    POSTERN_STORE_URL: store.url,
    POSTERN_STORE_SCHEMA: store.schema,
  })
  onTestFinished(async () => {
    await sidecar.stop('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  })
  await untilReady(sidecar.admin)
  const call: Replica['call'] = async (method, path, body) => {
    const answer = await fetch(`${sidecar.bot}/bot/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${sandbox.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Answer }
  }
  return { ...sidecar, dataDir, call }
}
