/** Reading small files whose size and kind nobody promised. */
import { closeSync, existsSync, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { systemCodeOf } from '../errors.ts'

/**
 * Reads a whole file, or a pipe, up to a bound.
 * @param path relative to the working directory, or absolute; symbolic links are followed
 * @returns its text and facts, or the problem: missing, unreadable, a folder, too large, not UTF-8
 */
export function readBounded(
  path: string,
  maxBytes: number,
): { text: string; facts: Stats } | { problem: string } {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    return { problem: describe(error) }
  }
  try {
    const facts = fstatSync(descriptor)
    const bytes = readAll(descriptor, maxBytes)
    if (bytes === null) return { problem: `is larger than ${maxBytes / 1024} KiB` }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, facts }
  } catch (error) {
    return { problem: error instanceof TypeError ? 'is not UTF-8' : describe(error) }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * A problem with a file that should hold a secret, with the path of the file. A value that is no
 * path may be the secret itself, put into the wrong variable: it is not repeated.
 * @param given the path as it was written
 * @param cwd what a relative one starts from
 */
export function describeSecretFile(problem: string, given: string, cwd: string): string {
  const path = resolve(cwd, given)
  const isPath = existsSync(path) || isAbsolute(given) || /^\.{1,2}\//.test(given)
  return isPath ? `${path}: ${problem}` : `${problem}, looked for in ${cwd}`
}

/** A path as one names it: from `cwd`, where it is below that. */
export function placeOf(path: string, cwd: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : near
}

function readAll(descriptor: number, maxBytes: number): Buffer | null {
  const room = Buffer.alloc(maxBytes + 1)
  let total = 0
  for (let read = -1; read !== 0 && total <= maxBytes; total += read) {
    read = readSync(descriptor, room, { offset: total })
  }
  return total > maxBytes ? null : room.subarray(0, total)
}

function describe(error: unknown): string {
  const code = systemCodeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user'
  if (code === 'EISDIR') return 'is a folder'
  return `cannot be read (${code})`
}
