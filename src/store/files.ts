import * as fs from 'node:fs'
import { dirname } from 'node:path'

/** Modes of the data directory and its files, for any umask. */
export const DIR_MODE = 0o700
export const FILE_MODE = 0o600

/**
 * Writes a small file whole: either the old content or the new is there after a crash, and the
 * new is on disk when this returns. Mode 0600.
 * @throws an error of node:fs; the old file is then as it was
 */
export function writeDurably(file: string, text: string): void {
  writeWhole(file, text, { flush: true })
  syncDirectory(dirname(file))
}

/** The same without waiting for the disk. */
export function writeWhole(file: string, text: string, { flush } = { flush: false }): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    // never write through a link, or into the file of a dead process
    fs.rmSync(temporary, { force: true })
    createEmpty(temporary)
    fs.writeFileSync(temporary, text, { flag: 'r+', flush })
    fs.renameSync(temporary, file)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}

/** Makes a new, empty file of mode 0600. @throws an error of node:fs: EEXIST when it is there */
export function createEmpty(file: string): void {
  fs.writeFileSync(file, '', { flag: 'wx', mode: FILE_MODE })
  fs.chmodSync(file, FILE_MODE)
}

/** Flushes the names in a directory to disk. */
export const syncDirectory = (directory: string): void => sync(directory, 'r')

/** Flushes a file's content to disk. */
export const syncFile = (file: string): void => sync(file, 'r+')

function sync(path: string, flags: 'r' | 'r+'): void {
  const fd = fs.openSync(path, flags)
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** The code of a file system error (`ENOSPC`), or null for any other. */
export function errnoOf(error: unknown): string | null {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  return typeof code === 'string' && typeof syscall === 'string' ? code : null
}
