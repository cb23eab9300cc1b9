/**
 * Connects a command to the sandbox that it speaks to, a named one or the newest of this user; and
 * the commands that put its world back.
 */
import { sandboxControlUrl, userRuntimeFolders } from '../config/sources.ts'
import { failedError, OperatorError, refusedError, usageError } from '../errors.ts'
import type { Control } from '../sandbox/control/table.ts'
import { splitAddress } from '../sandbox/http/control-token.ts'
import type { Texts } from './flags.ts'
import { PosternCommand } from './help.ts'
import { findSandboxes, type RunningSandbox } from '../operators/running-sandboxes.ts'
import { print, printNotice } from './terminal.ts'

/** Flags of every command that speaks to a running sandbox. */
export type ControlFlags = Texts<'control'>

/** How long a sandbox that is found has to answer. */
const ANSWER_MS = 3000

const HOW_TO_NAME =
  'start one with `postern dev` or `postern sandbox`, or name one: give --control or ' +
  'POSTERN_SANDBOX_CONTROL the `controlUrl` that `postern sandbox --json` prints'

/** A command that speaks to a running sandbox. */
export const controlCommand = (name: string): PosternCommand =>
  new PosternCommand(name).option(
    '--control <url>',
    'address of the sandbox’s control, of any of its worlds; else $POSTERN_SANDBOX_CONTROL, ' +
      'else the newest that you run',
  )

/** `postern sandbox reset`, `snapshot` and `restore`: the world of a running sandbox as it was. */
export const worldCommands = (): PosternCommand[] => [
  controlCommand('reset')
    .description('put the world of a running sandbox back as it was at its start')
    .example('postern sandbox reset --control http://127.0.0.1:8801')
    .action(async (flags: ControlFlags) => {
      await withSandbox(flags, (control) => control.reset())
      printNotice('the world is as it was at the start')
    }),
  controlCommand('snapshot')
    .description('keep the world of a running sandbox as it is now, and print the snapshot’s name')
    .argument('[name]', 'of the snapshot; one of the same name is replaced')
    .example('postern sandbox snapshot before --control http://127.0.0.1:8801')
    .action(async (name: string | undefined, flags: ControlFlags) => {
      print((await withSandbox(flags, (control) => control.snapshot({ name }))).name)
    }),
  controlCommand('restore')
    .description('put the world of a running sandbox back as it was at a snapshot')
    .argument('<name>', 'of the snapshot')
    .example('postern sandbox restore before --control http://127.0.0.1:8801')
    .action(async (name: string, flags: ControlFlags) => {
      await withSandbox(flags, (control) => control.restore({ name }))
      printNotice(`the world is as it was at ${name}`)
    }),
]

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
    const hint = 'start one with `postern sandbox`, or give --control its `controlUrl`'
    throw failedError(`no sandbox answers at ${new URL(url).origin}`, hint, { cause: error })
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
  const signal = AbortSignal.timeout(ANSWER_MS)
  const health = fetch(`${splitAddress(controlUrl).url}/healthz`, { signal })
  return await health.then(({ ok }) => ok).catch(() => false)
}

function describe({ command, pid, controlUrl, dataDir }: RunningSandbox): string {
  const where = dataDir === null ? '' : ` on ${dataDir}`
  return `\`postern ${command}\`${where}, process ${pid}, control ${splitAddress(controlUrl).url}`
}
