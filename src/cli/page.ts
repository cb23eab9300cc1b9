import { OperatorError } from '../errors.ts'
import type { Page, PageOptions, Sandbox } from '../sandbox/create.ts'
import { SeedError } from '../sandbox/seed/problem.ts'
import type { SeedFile } from './seed-file.ts'
import { spawn } from 'node:child_process'
import { platform } from 'node:process'

/**
 * Serves the page of a sandbox, and with `open` shows it in the person's browser.
 * @throws OperatorError `listen` when its port or address cannot be had
 */
export async function servePage(
  sandbox: Sandbox,
  { open = false, ...options }: PageOptions & { open?: boolean | undefined },
): Promise<Page> {
  try {
    const page = await sandbox.startPage(options)
    if (open) openInBrowser(page.url)
    return page
  } catch (error) {
    return refuseStart(error, null, '--page-port')
  }
}

/**
 * Refuses what kept a sandbox from starting.
 * @param flags that choose another port, as a hint names them
 * @throws OperatorError `settings` for its seed, `listen` for a listener; any other error as it is
 */
export function refuseStart(error: unknown, seed: SeedFile | null, flags: string): never {
  if (seed !== null && error instanceof SeedError) throw seed.refusal(error)
  const { code, port, address } = error as { code?: string; port?: number; address?: string }
  const refusal = (message: string, hint: string): OperatorError =>
    new OperatorError('listen', message, hint, { cause: error })
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const problem = `${address ?? 'this host'} is no address of this machine`
    throw refusal(problem, 'choose another with --host; 0.0.0.0 takes every one')
  }
  if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
  const why = code === 'EACCES' ? 'may not be used by you' : 'is in use'
  throw refusal(`port ${port} ${why}`, `choose another with ${flags}; 0 takes any free one`)
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** Opens an address in the person's browser, without waiting for it; nothing where there is none. */
export function openInBrowser(url: string): void {
  const opener = spawn(OPENERS[platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true })
  opener.on('error', () => undefined)
  opener.unref()
}
