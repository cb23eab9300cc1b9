/** The copy of the store that a sidecar hands over to whoever asked for a backup. */
import { basename, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { COPY } from '../store/create.ts'
import { isPrivate, ownerOf } from './socket/ownership.ts'

/**
 * Where the copy lies: in the data directory, whatever path the sidecar says, which may see it under
 * another. Root takes and removes nothing else at the word of another user's process.
 * @throws OperatorError `failed` when there is no such copy of the owner's
 */
export function locateCopy(dataDir: string, named: string): string {
  const file = join(dataDir, basename(named))
  try {
    const owner = ownerOf(dataDir)
    const isCopy = basename(named).startsWith(COPY)
    if (owner !== null && isCopy && isPrivate(file, { kind: 'file', owner })) return file
  } catch {
    // Said below.
  }
  throw new OperatorError(
    'failed',
    `the sidecar names ${named} as its copy, and there is none of that name in ${dataDir}`,
    'run this command where the sidecar runs, with its dataDir and from its version of Postern',
  )
}
