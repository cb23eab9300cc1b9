import { OperatorError } from '../errors.ts'
import type { Page, PageOptions, Sandbox } from '../sandbox/create.ts'
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
    throw listenRefusal(error, '--page-port') ?? error
  }
}

/**
 * Why a listener of the sandbox does not listen; null for any other error.
 * @param flags that choose another port, as a hint names them
 */
export function listenRefusal(error: unknown, flags: string): OperatorError | null {
  const { code, port, address } = error as { code?: string; port?: number; address?: string }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new OperatorError(
      'listen',
      `${address ?? 'this host'} is no address of this machine`,
      'choose another with --host; 0.0.0.0 takes every one',
      { cause: error },
    )
  }
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return null
  const why = code === 'EACCES' ? 'may not be used by you' : 'is in use'
  return new OperatorError(
    'listen',
    `port ${port} ${why}`,
    `choose another with ${flags}; 0 takes any free one`,
    { cause: error },
  )
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
}
const USUAL = ['xdg-open'] as const

/** Opens an address in the person's browser, without waiting for it; nothing where there is none. */
export function openInBrowser(url: string): void {
  const [command, ...args] = OPENERS[platform] ?? USUAL
  const opener = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => undefined)
  opener.unref()
}
