/** Connects a command to the sandbox that it speaks to: a named one, or the newest of this user. */
import type { Command } from 'commander'
import { sandboxControlUrl, userRuntimeFolders } from '../config/sources.ts'
import { failedError, OperatorError, refusedError, usageError } from '../errors.ts'
import type { Control } from '../sandbox/control/table.ts'
import { splitAddress } from '../sandbox/http/control-token.ts'
import { findSandboxes, type RunningSandbox } from './running-sandboxes.ts'
import { printNotice } from './terminal.ts'

/** Flags of every command that speaks to a running sandbox. */
export interface ControlFlags {
  control?: string
}

/** How long a sandbox that is found has to answer. */
const ANSWER_MS = 3000

const HOW_TO_NAME =
  'start one with `postern dev` or `postern sandbox`, or name one: give --control or ' +
  'POSTERN_SANDBOX_CONTROL the `controlUrl` that `postern sandbox --json` prints'

/** Adds `--control` to a command. */
export function addControlFlag(command: Command): Command {
  return command.option(
    '--control <url>',
    'address of the sandbox’s control, of any of its worlds; else $POSTERN_SANDBOX_CONTROL, ' +
      'else the newest that you run',
  )
}

/**
 * Does something with the running sandbox that the flags name, or the newest of this user.
 * @throws what `use` throws; OperatorError `usage` when none is named and none runs, `failed` when
 *   none answers, `refused` when it refuses
 */
export async function withSandbox<T>(
  { control: named }: ControlFlags,
  use: (control: Control, url: string) => Promise<T>,
): Promise<T> {
  const given = named ?? sandboxControlUrl()
  if (given !== undefined && !/^https?:$/.test(URL.parse(given)?.protocol ?? '')) {
    throw usageError('the address of the sandbox is no URL with http:// or https://', HOW_TO_NAME)
  }
  const url = (given ?? (await findNewest())).replace(/\/+$/, '')
  const [{ createControlClient }, { ControlError }] = await Promise.all([
    import('../sandbox/control/table.ts'),
    import('../sandbox/api-error.ts'),
  ])
  try {
    return await use(createControlClient(url), url)
  } catch (error) {
    if (error instanceof ControlError) {
      throw refusedError(error.message, 'the page of the sandbox shows what is there')
    }
    if (error instanceof OperatorError) throw error
    throw failedError(
      `no sandbox answers at ${new URL(url).origin}`,
      'start one with `postern sandbox`, or give --control its `controlUrl`',
      { cause: error },
    )
  }
}

/** The control address of the newest sandbox that answers; prints which, where several run. */
async function findNewest(): Promise<string> {
  const running = findSandboxes(userRuntimeFolders())
  for (const [at, one] of running.entries()) {
    if (!(await answers(one))) continue
    if (running.length > at + 1) {
      printNotice(`of ${running.length} sandboxes that run, this is the newest: ${describe(one)}`)
    }
    return one.controlUrl
  }
  throw usageError('no sandbox is named, and none of yours runs', HOW_TO_NAME)
}

async function answers({ controlUrl }: RunningSandbox): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const { ok } = await fetch(`${splitAddress(controlUrl).url}/healthz`, { signal })
    return ok
  } catch {
    return false
  }
}

function describe({ command, pid, controlUrl, dataDir }: RunningSandbox): string {
  const where = dataDir === null ? '' : ` on ${dataDir}`
  return `\`postern ${command}\`${where}, process ${pid}, control ${splitAddress(controlUrl).url}`
}
