/**
 * The sandboxes of this user that run, so that commands find one by themselves. Each has a small
 * file in a folder of the user's own, which nobody else can write to.
 */
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { readBounded } from '../config/files.ts'
import { isPrivate, NotPrivateError } from './socket/ownership.ts'
import { isHeldFast } from '../util/file-owners.ts'
import { makeFolders } from '../util/folders.ts'
import { OperatorError, resultOr } from '../errors.ts'
import { errnoOf, writeWhole } from '../store/files.ts'

const Trouble = z.object({
  /** ms since 1970, by this machine's clock; null while it lasts. */
  atMs: z.number().nullable(),
  /** One clause, such as `the bot ended with code 1`. */
  text: z.string(),
})

/** The file of a sandbox that runs. */
const Running = z.object({
  /** The command that runs it. */
  command: z.enum(['sandbox', 'dev']),
  pid: z.number(),
  /** ISO 8601, UTC. */
  startedAt: z.string(),
  controlUrl: z.string().refine((url) => URL.canParse(url)),
  /** The folder of `postern dev`; null of `postern sandbox`. */
  dataDir: z.string().nullable().default(null),
  /** Why the bot cannot answer, as `postern dev` knows it; null when it can. */
  trouble: Trouble.nullable().default(null),
  host: z.literal(hostname()),
})
export type RunningSandbox = z.output<typeof Running>

/** A sandbox that commands find until this is disposed of. */
export type AnnouncedSandbox = ReturnType<typeof announceSandbox>

/** The folder of the sidecar in the folder of `postern dev`. */
export const sidecarFolder = (devFolder: string): string => join(devFolder, 'sidecar')

const FOLDER = join('postern', 'sandboxes')
/** Within this, the latest trouble is written: sooner than anybody waits for an answer. */
const TELL_MS = 100
const MAX_BYTES = 4096
const NAME = /^(\d+)\.json$/

/**
 * Lets commands find a sandbox that this process runs. Where that cannot be written down, it runs
 * all the same, and is found by `--control` alone.
 * @param folders of this user, see `userRuntimeFolders`; each gets a file, which goes when this is
 *   disposed of
 */
export function announceSandbox(
  folders: readonly string[],
  sandbox: Pick<RunningSandbox, 'command' | 'controlUrl' | 'dataDir'>,
) {
  const startedAt = new Date().toISOString()
  const record = { ...sandbox, pid: process.pid, startedAt, host: hostname() }
  const files = folders.map((one) => join(one, FOLDER, `${process.pid}.json`))
  let trouble: RunningSandbox['trouble'] = null
  const write = (): void => {
    const text = `${JSON.stringify({ ...record, trouble })}\n`
    for (const file of files) {
      unlessUnwritable(() => {
        makeFolders(dirname(file), 0o700)
        if (isOurs(dirname(file))) writeWhole(file, text)
      })
    }
  }
  write()
  let due: NodeJS.Timeout | undefined
  return {
    tell: (latest: RunningSandbox['trouble']): void => {
      trouble = latest
      // A bot that repeats a refused call would have a file written for each.
      due ??= setTimeout(() => {
        due = undefined
        write()
      }, TELL_MS).unref()
    },
    [Symbol.dispose]: () => {
      clearTimeout(due)
      files.forEach(remove)
    },
  }
}

/**
 * The sandboxes of this user that run on this machine, the newest first. Files of processes that are
 * gone are removed.
 * @throws OperatorError `data-dir` when a folder is not this user's alone, and is not read
 */
export function findSandboxes(folders: readonly string[]): RunningSandbox[] {
  try {
    const found = folders
      .map((one) => join(one, FOLDER))
      .filter(isOurs)
      .flatMap((folder) => readdirSync(folder).flatMap((name) => readRecord(folder, name)))
    const byProcess = new Map(found.map((one) => [one.pid, one]))
    return [...byProcess.values()].toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  } catch (error) {
    if (!(error instanceof NotPrivateError)) throw error
    const problem = `running sandboxes are not looked for: ${error.path} ${error.reason}`
    const hint =
      'find out who made it and remove it, or name the sandbox with --control, a sidecar with --data-dir'
    throw new OperatorError('data-dir', problem, hint, { cause: error })
  }
}

/** False when it is not there. @throws NotPrivateError when others could write there */
function isOurs(folder: string): boolean {
  const owner = userId()
  if (!isPrivate(folder, { kind: 'folder', owner })) return false
  if (isHeldFast(folder, owner)) return true
  throw new NotPrivateError(dirname(folder), 'is open to others')
}

/** Systems without user ids have one user to a folder of this kind. */
const userId = (): number => process.getuid?.() ?? 0

function readRecord(folder: string, name: string): RunningSandbox[] {
  const pid = Number(NAME.exec(name)?.[1] ?? 'NaN')
  if (!Number.isSafeInteger(pid)) return []
  const file = join(folder, name)
  if (!isPrivate(file, { kind: 'file', owner: userId() })) return []
  const read = readBounded(file, MAX_BYTES)
  const text = 'text' in read ? read.text : ''
  // Null for what no sandbox of this machine wrote.
  const found = resultOr(() => Running.parse(JSON.parse(text)), null)
  if (found?.pid !== pid) return []
  if (isAlive(pid)) return [found]
  remove(file)
  return []
}

/**
 * Whether a process of this user has the id, or, where it is negative, is in the group of that
 * number.
 */
export const isAlive = (pid: number): boolean => resultOr(() => process.kill(pid, 0), false)

const remove = (file: string): void => unlessUnwritable(() => rmSync(file, { force: true }))

/** Goes on where the folder cannot be written, or is not ours. */
function unlessUnwritable(write: () => void): void {
  try {
    write()
  } catch (error) {
    if (errnoOf(error) === null && !(error instanceof NotPrivateError)) throw error
  }
}
