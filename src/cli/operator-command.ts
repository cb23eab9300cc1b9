/** Commands with every setting as a flag; most call one operation and print its result. */
import type { OptionValues } from 'commander'
import { userRuntimeFolders, type Sources } from '../config/sources.ts'
import type { Operations } from '../operators/operations.ts'
import { load } from '../config/load.ts'
import { isNothingSet, loadDataDir } from '../config/store-access.ts'
import { connectControl, type RunningSidecar } from '../operators/client.ts'
import { addSettingFlags, sourcesOf, type Switches } from './flags.ts'
import { PosternCommand } from './help.ts'
import { findSandboxes, sidecarFolder } from '../operators/running-sandboxes.ts'
import { print, printJson, printNotice } from './terminal.ts'

/** A command with every setting as a flag that its help does not list. */
export class OperatorCommand extends PosternCommand {
  constructor(name: string) {
    super(name)
    addSettingFlags(this, { isListed: false })
    this.notes('It takes --config, --bot and every setting of `postern config list` too.')
  }

  /** @param run gets the sources of the settings, each argument, and the options */
  runs(run: (sources: Sources, ...given: never[]) => void | Promise<void>): this {
    return this.action(async (...given: unknown[]) => {
      // The last is the command itself.
      await run(sourcesOf(this), ...(given.slice(0, -1) as never[]))
    })
  }

  /**
   * Asks the sidecar, and prints its answer: with `--json`, which it adds, as JSON, else by `show`.
   * @param ask gets the operations, each argument, and the options
   * @param show prints the answer for a person; gets the options too
   */
  asks<Answer>(
    ask: (sidecar: Operations, ...given: never[]) => Promise<Answer>,
    show: (answer: Answer, options: OptionValues) => void,
    o?: OfflineOptions,
  ): this {
    return this.option('--json', 'print it as JSON').runs(async (sources, ...given) => {
      const answer = await withSidecar(sources, (sidecar) => ask(sidecar, ...given), o)
      const options = this.opts()
      printAnswer(answer, options, (shown) => show(shown, options))
    })
  }

  /** Asks the sidecar to do something, and prints its message, and the fingerprint of its key. */
  does(ask: (sidecar: Operations, ...given: never[]) => Promise<DoneAnswer>, o?: OfflineOptions) {
    return this.asks(ask, printDone, o)
  }
}

/** The answer of an operation that did something. */
interface DoneAnswer {
  message: string
  fingerprint?: string
}

/** The flag of commands that print JSON too. */
export type JsonFlag = Switches<'json'>

/** Prints an answer: with `--json` as JSON, else by `show`. */
export function printAnswer<T>(answer: T, { json }: JsonFlag, show: (answer: T) => void): void {
  if (json === true) printJson(answer)
  else show(answer)
}

/** Prints the message of an answer, and the fingerprint of its key. */
export function printDone({ message, fingerprint }: DoneAnswer): void {
  printNotice(message)
  if (fingerprint !== undefined) print(fingerprint)
}

/** How a command opens the data directory when no sidecar runs. */
export interface OfflineOptions {
  /** When none runs and there is no store, one is made. */
  mayCreateStore?: boolean
}

/**
 * Does something with the sidecar of the settings' `dataDir`, whether it runs or not.
 * @param use gets its operations, and the sources by which it was found
 * @throws what `use` throws; OperatorError when the settings or the data directory refuse
 */
export async function withSidecar<T>(
  given: Sources,
  use: (sidecar: Operations, sources: Sources) => Promise<T>,
  { mayCreateStore = false }: OfflineOptions = {},
): Promise<T> {
  const sources = findSidecar(given)
  await using running = await connectServing(sources)
  if (running !== null) return await use(running, sources)
  const loaded = load(sources)
  const { createLog } = await import('../config/log.ts')
  const { createOffline } = await import('../context.ts')
  const log = createLog(loaded, 'warn')
  const purpose = mayCreateStore ? 'begin' : 'look'
  await using offline = await createOffline({ ...loaded, log }, purpose)
  return await use(offline.operations, sources)
}

/**
 * The sources for the sidecar that a command is about: as given, or, where nothing is set, with the
 * data directory of the user's newest `postern dev`, which a notice names.
 * @throws OperatorError as `loadDataDir` and `findSandboxes` do
 */
export function findSidecar(sources: Sources): Sources {
  if (!isNothingSet(sources)) return sources
  const folder = findSandboxes(userRuntimeFolders()).find((one) => one.dataDir !== null)?.dataDir
  if (folder === undefined || folder === null) return sources
  printNotice(`this is the sidecar of \`postern dev\` in ${folder}`)
  return { ...sources, flags: { ...sources.flags, 'data-dir': sidecarFolder(folder) } }
}

/**
 * Connects to the sidecar that runs with the store open.
 * @returns null when none runs, or where that could not start the bot that is named: its store is
 *   closed then, and what keeps it closed may be what the command is to end
 * @throws OperatorError as `connectControl` does
 */
export async function connectServing(sources: Sources): Promise<RunningSidecar | null> {
  const { bot } = sources
  await using stack = new AsyncDisposableStack()
  const running = stack.use(await connectControl(loadDataDir(sources), undefined, bot))
  if (running !== null && bot !== null && (await isDown(running, bot))) return null
  stack.move()
  return running
}

async function isDown(running: RunningSidecar, name: string): Promise<boolean> {
  const { bots } = await running.botList()
  const found = bots.find((one) => one.name === name)
  return found?.served === false && found.reasons.every(({ code }) => code !== 'starting')
}
