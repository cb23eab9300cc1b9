/**
 * The folder of `postern dev`: the sandbox's world, what the sidecar stores, the bot's token and the
 * ports, so that all of it is the same at the next start. One process has it at a time.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { readBounded } from '../config/files.ts'
import { NotPrivateError, ownerOf } from '../operators/socket/ownership.ts'
import { OperatorError, resultOr, systemCodeOf } from '../errors.ts'
import { makeFolders } from '../util/folders.ts'
import { writeNewFile } from './files.ts'
import { sidecarFolder } from '../operators/running-sandboxes.ts'

/** The ports at the first start, where they are free, by the flags that choose others. */
export const USUAL_PORTS = {
  port: 8700,
  adminPort: 8701,
  sandboxPort: 8800,
  controlPort: 8801,
  pagePort: 8802,
}
export type DevPorts = typeof USUAL_PORTS
export const DEV_PORTS = Object.keys(USUAL_PORTS) as (keyof DevPorts)[]

/** A folder that this process alone has, until it is disposed of. */
export type DevFolder = ReturnType<typeof openDevFolder>

const Port = z.int().min(1).max(65_535).optional().catch(undefined)
/** The content of the folder's own file: the process that has it, or had it last, and its ports. */
const DevState = z.object({
  pid: z.number().nullable().catch(null),
  ports: z.partialRecord(z.enum(DEV_PORTS), Port).catch({}),
})

const STATE = 'dev.json'
const LOCK = 'lock'
const WORLD = 'world'
const TOKEN = 'token'
const MAX_STATE_BYTES = 4096
const SQLITE_BUSY = 5

/**
 * Opens the folder, or makes it, with mode 0700.
 * @param path absolute
 * @param o `fresh`: removes the world, and what the sidecar stored of it; the ports stay
 * @throws OperatorError `store-in-use` when another process has it; `data-dir` when it is not this
 *   user's alone, or holds something else; `store-unwritable`
 */
export function openDevFolder(path: string, { fresh }: { fresh: boolean }) {
  makeFolder(path)
  const file = join(path, STATE)
  const before = readState(file)
  using stack = new DisposableStack()
  stack.use(takeLock(path, before.pid))
  let { ports } = before
  const write = (): void => {
    const text = `${JSON.stringify({ pid: process.pid, ports })}\n`
    writeNewFile(file, { text }, { force: true })
  }
  write()
  writeNewFile(join(path, '.gitignore'), { text: '*\n' }, { force: true })
  if (fresh) removeWorld(path)
  const lock = stack.move()
  return {
    /** File of the sandbox's world. */
    world: join(path, WORLD),
    /** Folder of the sidecar. */
    sidecar: sidecarFolder(path),
    /** The ports of the last start; none at the first. */
    ports,
    /** Remembers the ports for the next start. */
    keepPorts: (chosen: DevPorts): void => {
      ports = chosen
      write()
    },
    /** Writes the bot's token, for its owner alone. @returns the file's path */
    keepToken: (token: string): string =>
      writeNewFile(join(path, TOKEN), { text: `${token}\n` }, { force: true }),
    [Symbol.dispose]: () => lock.dispose(),
  }
}

function makeFolder(path: string): void {
  try {
    makeFolders(path, 0o700)
    ownerOf(path)
  } catch (error) {
    if (error instanceof NotPrivateError) {
      const hint =
        'the folder holds secret keys: close it to others (chmod 700), or name another with --data-dir'
      throw new OperatorError('data-dir', `${error.path} ${error.reason}`, hint, { cause: error })
    }
    const problem = `the folder ${path} cannot be made (${systemCodeOf(error)})`
    const hint = 'name a folder that this user may write to with --data-dir'
    throw new OperatorError('store-unwritable', problem, hint, { cause: error })
  }
  const names = readdirSync(path).filter((name) => name !== LOCK)
  // Both: somebody else's settings may be called dev.json too.
  const isOurs = names.includes(STATE) && existsSync(join(path, LOCK))
  if (names.length > 0 && !isOurs) {
    const problem = `${path} holds something else than a world of \`postern dev\``
    const hint = 'name another folder with --data-dir, which need not exist yet'
    throw new OperatorError('data-dir', problem, hint)
  }
}

/** A lock that ends with the process. */
function takeLock(path: string, pid: number | null): DatabaseSync {
  const lock = new DatabaseSync(join(path, LOCK))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    const { errcode } = error as { errcode?: number }
    if (errcode === undefined || (errcode & 0xff) !== SQLITE_BUSY) throw error
    const which = pid === null ? '' : `, as process ${pid}`
    const problem = `\`postern dev\` already runs on ${path}${which}`
    const hint = 'use that one, end it first, or give this one a folder of its own with --data-dir'
    throw new OperatorError('store-in-use', problem, hint, { cause: error })
  }
}

function removeWorld(path: string): void {
  const files = [WORLD, `${WORLD}-wal`, `${WORLD}-shm`, TOKEN].map((name) => join(path, name))
  for (const one of [...files, sidecarFolder(path)]) rmSync(one, { recursive: true, force: true })
}

function readState(file: string): z.output<typeof DevState> {
  const read = readBounded(file, MAX_STATE_BYTES)
  const text = 'text' in read ? read.text : '{}'
  return resultOr(() => DevState.parse(JSON.parse(text)), { pid: null, ports: {} })
}
