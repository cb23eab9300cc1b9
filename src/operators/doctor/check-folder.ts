/** Checks the data directory: its owner, its mode, free space on its disk. */
import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCodeOf } from '../../errors.ts'
import { describeClosedFolder } from '../../util/file-owners.ts'
import { freeBytesOf, LEAST_FREE_BYTES } from '../../store/disk.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

const NOTABLE_BYTES = 256 * 1024 * 1024

/** @param dataDir absolute; need not exist. Never throws for a failed check. */
export async function checkFolder(dataDir: string): Promise<CheckLine[]> {
  const folder = await lstat(dataDir).catch(systemCodeOf)
  const closed = describeClosedFolder(dataDir)
  if (closed !== null) return [fail('data folder', closed.message, closed.hint)]
  if (folder === 'ENOENT') return [pass('data folder', `${dataDir} is not there yet`)]
  if (typeof folder === 'string') {
    const hint = 'name a folder as `dataDir`'
    return [fail('data folder', `${dataDir} cannot be read (${folder})`, hint)]
  }
  return [await permissions(dataDir, folder), await room(dataDir)]
}

async function permissions(dataDir: string, folder: Stats): Promise<CheckLine> {
  const open = [...(isOpen(folder.mode) ? [dataDir] : []), ...(await openFilesIn(dataDir))]
  if (open.length === 0) return pass('data folder', `${dataDir} is for its owner alone`)
  const more = open.length > 1 ? `, and ${open.length - 1} more` : ''
  return fail('data folder', `others can look into ${open[0]}${more}`, `chmod -R go= ${dataDir}`)
}

async function openFilesIn(dataDir: string): Promise<string[]> {
  const open: string[] = []
  for (const name of await readdir(dataDir).catch(() => [])) {
    const path = join(dataDir, name)
    const found = await lstat(path).catch(systemCodeOf)
    if (typeof found !== 'string' && !found.isSymbolicLink() && isOpen(found.mode)) open.push(path)
  }
  return open
}

async function room(dataDir: string): Promise<CheckLine> {
  const freeBytes = await freeBytesOf(dataDir).catch(systemCodeOf)
  if (typeof freeBytes === 'string') {
    return warn('disk', `its free space is not known (${freeBytes})`, 'look at it with df')
  }
  const message = `${Math.floor(freeBytes / 1024 / 1024)} MiB free for ${dataDir}`
  const hint = 'free some: what cannot be recorded is neither sealed nor opened'
  if (freeBytes < LEAST_FREE_BYTES) return fail('disk', message, hint)
  return freeBytes < NOTABLE_BYTES ? warn('disk', message, hint) : pass('disk', message)
}

const isOpen = (mode: number): boolean => (mode & 0o077) !== 0
