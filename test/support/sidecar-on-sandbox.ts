/** A sidecar in this process before a sandbox, as its bot sees it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { callAt, type Called } from './bot-call.ts'
import { startSidecarInside } from './sidecar-inside.ts'
import { untilReady, type RunningSidecar } from './sidecar-process.ts'

export interface SidecarOnSandbox extends RunningSidecar {
  readonly dataDir: string
  call: (method: string, path: string, body?: unknown) => Promise<Called>
  /** `/readyz`: its status, and the codes of its reasons. */
  readiness: () => Promise<{ status: number; reasons: string[] }>
}

/** Starts one, and waits until it is ready; it ends with the test. */
export async function startOnSandbox(
  sandbox: Sandbox,
  env: Record<string, string> = {},
): Promise<SidecarOnSandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'sc-'))
  const { POSTERN_DATA_DIR: dataDir = folder } = env
  const sidecar = await startSidecarInside({
    POSTERN_UPSTREAM_URL: sandbox.url,
    POSTERN_BOT_TOKEN: sandbox.token,
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_LISTEN_PORT: '0',
    POSTERN_ADMIN_PORT: '0',
    ...env,
    POSTERN_DATA_DIR: dataDir,
  })
  onTestFinished(async () => {
    await sidecar.stop('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  await untilReady(sidecar.admin)
  return {
    ...sidecar,
    dataDir,
    call: (method, path, body) => callAt(sidecar.bot, sandbox.token, { method, path, body }),
    readiness: async () => {
      const response = await fetch(`${sidecar.admin}/readyz`)
      const { reasons } = (await response.json()) as { reasons: { code: string }[] }
      return { status: response.status, reasons: reasons.map(({ code }) => code) }
    },
  }
}
