/** State of the data directory's disk, read without writing. */
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'

/** Below this a write may fail at any moment. */
export const LEAST_FREE_BYTES = 16 * 1024 * 1024

/** Room for everybody on the disk of a folder. @throws an error of node:fs */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/**
 * Whether a write to the data directory may fail now, so that one is worth trying: it is gone, may
 * not be written, or its disk is nearly full.
 */
export async function isDiskDoubtful(dataDir: string): Promise<boolean> {
  try {
    await access(dataDir, constants.W_OK)
    const { bavail, bsize, files, ffree } = await statfs(dataDir)
    // a file system without a table of inodes counts none
    return bavail * bsize < LEAST_FREE_BYTES || (files > 0 && ffree === 0)
  } catch {
    return true
  }
}
