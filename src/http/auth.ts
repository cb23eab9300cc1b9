import { hash, timingSafeEqual } from 'node:crypto'
import { bearerOf } from '../api/bot.ts'
import { valuesOf } from '../util/local-door.ts'
import { Refusal } from '../errors.ts'

/** Room for a token, in UTF-16 units; the service's have some sixty. */
const ROOM = 256
const rooms = { presented: Buffer.alloc(4 + 3 * ROOM), expected: Buffer.alloc(4 + 3 * ROOM) }

/** The tokens in the Authorization lines of a request; null for a line of another form. */
export const presentedIn = (rawHeaders: readonly string[]): (string | null)[] =>
  valuesOf(rawHeaders, 'authorization').map(bearerOf)

/**
 * Lets a request through when it presents the token (spec, Authentication 1 and 3).
 * Compared in constant time, over the same number of bytes for all tokens, so that neither content
 * nor length of the expected one leaks.
 * @param expected the valid token; read for each request, since its file may change;
 *   null where no token is valid
 * @throws Refusal `unauthorized`, or `bad_request` when there are several Authorization lines
 */
export function requireBearer(rawHeaders: readonly string[], expected: string | null): void {
  const [presented = null, ...more] = presentedIn(rawHeaders)
  if (more.length > 0) throw new Refusal('bad_request', 'Authorization: given twice')
  if (presented === null || expected === null || !isSame(presented, expected)) {
    throw new Refusal('unauthorized', 'the token is missing or wrong')
  }
}

function isSame(presented: string, expected: string): boolean {
  if (presented.length > ROOM || expected.length > ROOM) {
    return timingSafeEqual(digest(presented), digest(expected))
  }
  return timingSafeEqual(padded(presented, rooms.presented), padded(expected, rooms.expected))
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Its length, then its bytes, then zeros: less work than a hash, and as much for every token. */
function padded(text: string, room: Buffer): Buffer {
  room.fill(0)
  room.writeUInt32BE(room.write(text, 4))
  return room
}
