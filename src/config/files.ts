/** Reading small files whose size and kind nobody promised. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { resultOr, systemCodeOf } from '../errors.ts'
import { folderOf, othersLink, othersRight, type OthersRight } from '../util/file-owners.ts'

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
 * Why settings are not read from a file: users other than this one and root may write it, or
 * replace it or a link to it. In a sticky folder, such as /tmp, only its owner can replace a file.
 * @returns why, and what to do about it; null also for a missing file, and for a pipe
 */
export function describeOthersChange(path: string) {
  if (!resultOr(() => statSync(path).isFile(), false)) return null
  const right = othersRight(path) ?? othersLink(path)
  if (right !== null) return { message: right.reason, hint: mend(right) }
  for (const folder of [dirname(path), folderOf(path)]) {
    const above = othersRight(folder, { sticky: true })
    if (above !== null) {
      return { message: `lies in ${folder}, which ${above.reason}`, hint: mend(above) }
    }
  }
  return null
}

/** The same of a folder whose files are all read: nobody else may add one. @returns as above */
export function describeOthersFolder(path: string) {
  if (!existsSync(path)) return null
  const right = othersRight(path)
  return right === null ? null : { message: right.reason, hint: mend(right) }
}

const mend = ({ command }: OthersRight): string =>
  `whoever can write the settings decides what Postern sends where; once you looked: \`${command}\``

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

function readAll(descriptor: number, maxBytes: number): Buffer | null {
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    const chunk = Buffer.alloc(64 * 1024)
    const read = readSync(descriptor, chunk, 0, chunk.length, null)
    if (read === 0) return Buffer.concat(chunks)
    total += read
    if (total > maxBytes) return null
    chunks.push(chunk.subarray(0, read))
  }
}

function describe(error: unknown): string {
  const code = systemCodeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user'
  if (code === 'EISDIR') return 'is a folder'
  return `cannot be read (${code})`
}
