import { spawn } from 'node:child_process'
import { platform } from 'node:process'

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
