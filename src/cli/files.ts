/** Inputs of commands, and their new files: of mode 0600, written whole, never over another. */
import * as fs from 'node:fs'
import { randomUUID } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { OperatorError, refusedError, systemCodeOf, systemFailure } from '../errors.ts'
import { FILE_MODE, syncDirectory, syncFile } from '../store/files.ts'
import type { Switches } from './flags.ts'
import { printNotice } from './terminal.ts'

/**
 * Reads a whole input.
 * @param file its path; stdin when absent or `-`
 * @param o `maxBytes`; `what` it is, for a person who is asked to paste it, and for refusals
 * @throws OperatorError `refused` when it is larger, `failed` when it cannot be read
 */
export async function readInput(file: string | undefined, o: { maxBytes: number; what: string }) {
  const isStdin = file === undefined || file === '-'
  if (isStdin && process.stdin.isTTY) printNotice(`paste ${o.what}, then press Ctrl-D`)
  const stream = isStdin ? process.stdin : fs.createReadStream(file)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > o.maxBytes) {
        const problem = `${o.what} is larger than ${o.maxBytes / 1024} KiB`
        throw refusedError(problem, 'give one, and nothing else')
      }
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const hint = 'name a file that this user may read'
    throw systemFailure(`${file ?? 'stdin'} cannot be read`, hint, error)
  }
  return Buffer.concat(chunks)
}

/** What goes into the file: a text or its bytes, or another file. */
type FileContent = { text: string | Uint8Array } | { from: string }

/** Whether a file may be replaced; absent where the command has no `--force`. */
type Overwriting = Switches<'force'>

/**
 * Refuses the name of an existing file, before anything else is done; with `force`, only that of
 * another user's file.
 * @throws OperatorError `refused`
 */
export function refuseExisting(path: string, o: Overwriting): void {
  if (o.force !== true && fs.existsSync(path)) throw taken(path, o)
  const { uid } = fs.lstatSync(path, { throwIfNoEntry: false }) ?? {}
  const me = process.getuid?.()
  if (o.force !== true || me === undefined || uid === undefined || uid === me) return
  const hint = 'name another file, or remove that one first'
  throw refusedError(`${path} is user ${uid}’s, and is not replaced`, hint)
}

/**
 * Makes a file of mode 0600; it is on disk, whole, when this returns.
 * @param o `force`: put it in the place of one that is there
 * @returns its absolute path
 * @throws OperatorError `refused` when it is there, or is another user's; `failed` when it cannot be written: nothing is left
 */
export function writeNewFile(path: string, content: FileContent, o: Overwriting): string {
  const file = resolve(path)
  refuseExisting(path, o)
  // In a folder that others write to, somebody could put a link under a name that can be guessed.
  const unfinished = `${file}.${randomUUID()}.tmp`
  try {
    if ('from' in content) fs.copyFileSync(content.from, unfinished, fs.constants.COPYFILE_EXCL)
    else fs.writeFileSync(unfinished, content.text, { mode: FILE_MODE, flag: 'wx' })
    fs.chmodSync(unfinished, FILE_MODE)
    syncFile(unfinished)
    if (o.force === true) fs.renameSync(unfinished, file)
    else putUnderName(unfinished, file)
    syncDirectory(dirname(file))
    return file
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST' && fs.existsSync(file)) throw taken(path, o)
    const hint = 'name a file in a folder that this user may write to, on a disk with room'
    throw systemFailure(`${path} cannot be written`, hint, error)
  } finally {
    fs.rmSync(unfinished, { force: true })
  }
}

/** In one step, where the file system has hard links; else by a copy that goes over nothing. */
function putUnderName(unfinished: string, file: string): void {
  try {
    fs.linkSync(unfinished, file)
  } catch (error) {
    const isWithoutLinks = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']
    if (!isWithoutLinks.includes(systemCodeOf(error))) throw error
    fs.copyFileSync(unfinished, file, fs.constants.COPYFILE_EXCL)
    syncFile(file)
  }
}

const taken = (path: string, { force }: Overwriting): OperatorError =>
  refusedError(
    `${path} is there already`,
    force === undefined
      ? 'name another file: nothing is written over one'
      : 'name another file, or replace it with --force',
  )
