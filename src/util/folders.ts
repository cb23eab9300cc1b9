import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder with its missing parents, of which another process may make some meanwhile.
 * Node's own `recursive` never returns below /proc, where no folder can be made; this fails there.
 * @param path absolute, or from the working directory
 * @param mode of each folder that is made, before the umask
 * @returns whether the folder was made; false when it is there
 * @throws the error of mkdir(2)
 */
export function makeFolders(path: string, mode: number): boolean {
  try {
    return makeFolder(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolders(dirname(path), mode)
    return makeFolder(path, mode)
  }
}

function makeFolder(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return false
    throw error
  }
}
