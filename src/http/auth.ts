import { hash, timingSafeEqual } from 'node:crypto'
import { bearerOf } from '../api/token.ts'
import { valuesOf } from '../door.ts'
import { Refusal } from '../errors.ts'

/**
 * Lets a request through when it presents the token (spec, Authentication 1 and 3).
 * Compared over hashes in constant time, so that neither content nor length shows.
 * @param expected what must be presented; asked anew for each request, since its file may change
 * @throws Refusal `unauthorized`, or `bad_request` when there are several Authorization lines
 */
export function requireBearer(rawHeaders: readonly string[], expected: string): void {
  const [line, ...more] = valuesOf(rawHeaders, 'authorization')
  if (more.length > 0) throw new Refusal('bad_request', 'Authorization: given twice')
  const presented = bearerOf(line)
  if (presented === null || !timingSafeEqual(digest(presented), digest(expected))) {
    throw new Refusal('unauthorized', 'the token is missing or wrong')
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
