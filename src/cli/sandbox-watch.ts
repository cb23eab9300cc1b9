/** `postern sandbox watch`: follows what phones show. */
import type { Command } from 'commander'
import { PosternError } from '../errors.ts'
import type { Control } from '../sandbox/control/table.ts'
import type { SeenEvent } from '../sandbox/phone/seen.ts'
import { countedCache } from '../util/caches.ts'
import type { PosternCommand } from './help.ts'
import { print, printJsonLine, printNotice } from './terminal.ts'
import { controlCommand, withSandbox, type ControlFlags } from './sandbox-client.ts'
import { readNames, type SandboxNames } from './sandbox-names.ts'
import { formatSeen, NEWEST } from './activity.ts'
import { shutdownRequested } from './signals.ts'

/** How long one question to the sandbox waits for something new. */
const WAIT_MS = 30_000
/** How many shown messages are remembered, so that each is printed once. */
const REMEMBERED = 1000

type WatchFlags = ControlFlags & { all?: boolean; json?: boolean }

export const sandboxWatchCommand = (): PosternCommand =>
  controlCommand('watch')
    .description('print what the phones of a running sandbox show, as it comes')
    .argument('[person]', 'whose phone: a handle, or an id; else everybody’s, each message once')
    .option('--all', 'begin with all that was shown before')
    .option('--json', 'print a line of JSON for each')
    .example('postern sandbox watch alice')
    .action(watch)

async function watch(person: string | undefined, _flags: WatchFlags, command: Command) {
  // Includes `--json`, which the parser assigns to `postern sandbox`.
  const flags: WatchFlags = command.optsWithGlobals()
  const stop = shutdownRequested()
  await withSandbox(flags, async (control) => {
    const names = await readNames(control)
    const watched =
      person === undefined
        ? names.people.filter(({ hasPhone, gone }) => hasPhone && !gone)
        : [names.person(person)]
    const isNew = rememberShown()
    const show = async (userId: number, username: string, after: number): Promise<void> => {
      for await (const seen of followPhone(control, userId, after)) {
        if (seen === null) printNotice(`the world was put back; still watching ${username}`)
        else if (person === undefined && !isNew(seen)) continue
        else if (flags.json === true) printJsonLine({ person: username, ...seen })
        else print(formatSeen(seen, await namesFor(control, names, seen)))
      }
    }
    const starts = await Promise.all(
      watched.map(async ({ id }) => (flags.all === true ? 0 : await newestOf(control, id))),
    )
    printNotice(`watching ${watched.map(({ username }) => username).join(', ')}; Ctrl-C ends it`)
    const shows = watched.map(({ id, username }, index) => show(id, username, starts[index] ?? 0))
    await Promise.race([stop, Promise.all(shows)])
  })
}

/**
 * The events of a phone after a number, as they arrive; null where the world was put back and the
 * numbers begin anew.
 * @throws ControlError when the person is gone; what `fetch` throws when the sandbox is
 */
async function* followPhone(control: Control, userId: number, start: number) {
  let after = start
  for (;;) {
    const { seen, last } = await nextSeen(control, userId, after)
    yield* seen
    if (last < after) yield null
    after = last
  }
}

/** The number of what the phone showed last. */
const newestOf = async (control: Control, userId: number): Promise<number> =>
  (await control.inbox({ userId, after: NEWEST })).last

async function nextSeen(control: Control, userId: number, after: number) {
  try {
    return await control.inbox({ userId, after, wait: WAIT_MS })
  } catch (error) {
    if (!(error instanceof PosternError)) throw error
    // The world was put back while it was asked.
    return { seen: [], last: await newestOf(control, userId) }
  }
}

/** Reads the names again for an event of a chat or person added later. */
async function namesFor(control: Control, names: SandboxNames, seen: SeenEvent) {
  const ids = Object.entries(seen).filter(([name]) => ['chatId', 'fromId', 'userId'].includes(name))
  const isKnown = ids.every(([, id]) => names.has(id as number))
  return isKnown ? names : await readNames(control)
}

/** Whether something is shown for the first time by any phone. */
function rememberShown(): (seen: SeenEvent) => boolean {
  const shown = countedCache<string, true>(REMEMBERED)
  return (seen) => {
    const { n: _n, at: _at, ...what } = seen
    const key = JSON.stringify(what)
    const isNew = shown.get(key) === undefined
    shown.set(key, true)
    return isNew
  }
}
