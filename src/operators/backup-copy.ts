/** The copy of the store that a sidecar made for a backup. */
import { basename, join } from 'node:path'
import { failedError, resultOr } from '../errors.ts'
import { COPY } from '../store/create.ts'
import { isPrivate, ownerOf } from './socket/ownership.ts'

/**
 * Where the copy is: always in the data directory. The sidecar may see that under another path, and
 * root must not read or remove any other file because a process of another user names it.
 * @throws OperatorError `failed` when there is no such copy of the owner's
 */
export function locateCopy(dataDir: string, named: string): string {
  const file = join(dataDir, basename(named))
  const isCopy = (): boolean => {
    const owner = ownerOf(dataDir)
    return owner !== null && isPrivate(file, { kind: 'file', owner })
  }
  if (basename(named).startsWith(COPY) && resultOr(isCopy, false)) return file
  throw failedError(
    `the sidecar names ${named} as its copy, and there is none of that name in ${dataDir}`,
    'run this command where the sidecar runs, with its dataDir and from its version of Postern',
  )
}
