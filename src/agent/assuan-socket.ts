/** The socket of an Assuan server, which a file may name in its place, as libassuan reads it. */
import { constants, readFileSync } from 'node:fs'
import { resultOr } from '../errors.ts'
import { describeOthersChange, lookOf, othersRight } from '../util/file-owners.ts'

const REDIRECT = /^%Assuan%\nsocket=([^\n]+)\n(?:[^]*\n)?$/

export type AssuanSocket = ReturnType<typeof findSocket>

/**
 * Finds the socket behind a file. A file that names a socket is followed once, where only this user and
 * root can change it, and the socket is one of theirs: others would learn when the bot signs and opens.
 * @returns the path to connect to; `hasMoved`: whether a file on the way to it is gone, or another one
 * @throws Error whose message goes on from the name of the server
 */
export function findSocket(file: string) {
  const path = redirectOf(file) ?? file
  const look = (): string => lookOf(file) + lookOf(path)
  const before = look()
  return { path, hasMoved: () => look() !== before }
}

/** The socket that a file names; null for a socket, and for every other file. */
function redirectOf(file: string): string | null {
  const others = describeOthersChange(file)
  if (others !== null) throw new Error(`is not asked: its socket file ${others.message}`)
  // a pipe does not hold up the process
  const flag = constants.O_RDONLY | constants.O_NONBLOCK
  const [, path] =
    REDIRECT.exec(resultOr(() => readFileSync(file, { flag, encoding: 'utf8' }), '')) ?? []
  if (path === undefined) return null
  const isPlain = path.startsWith('/') && !path.includes('${')
  if (!isPlain)
    throw new Error('is not asked: its socket file names no path, or one with a variable')
  const right = resultOr(() => othersRight(path), null)
  if (right !== null)
    throw new Error(`is not asked: the socket that its file names ${right.reason}`)
  return path
}
