/** The copy of the store that a sidecar made for a backup. */
import { basename, join } from 'node:path'
import { failedError } from '../errors.ts'
import { COPY } from '../store/create.ts'
import { isPrivate, ownerOf } from './socket/ownership.ts'

/**
 * Where the copy is: always in the data directory. The sidecar may see that under another path, and
 * root must not read or remove any other file because a process of another user names it.
 * @throws OperatorError `failed` when there is no such copy of the owner's
 */
export function locateCopy(dataDir: string, named: string): string {
  const file = join(dataDir, basename(named))
  try {
    const owner = ownerOf(dataDir)
    const isCopy = basename(named).startsWith(COPY)
    if (owner !== null && isCopy && isPrivate(file, { kind: 'file', owner })) return file
  } catch {
    // Refused below.
  }
  throw failedError(
    `the sidecar names ${named} as its copy, and there is none of that name in ${dataDir}`,
    'run this command where the sidecar runs, with its dataDir and from its version of Postern',
  )
}
