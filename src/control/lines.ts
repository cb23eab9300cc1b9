/** Lines out of a socket, whole, bounded. */
import type { Socket } from 'node:net'

/**
 * Splits what a socket says into lines. Nothing more is read while a line is being handled.
 * @param maxBytes longest line, its end not counted
 * @throws RangeError when a line is longer
 */
export async function* readLines(socket: Socket, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let held = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end))
      if (held + end - from > maxBytes) throw new RangeError('the line is too long')
      yield Buffer.concat(parts).toString('utf8')
      parts = []
      held = 0
      from = end + 1
    }
    parts.push(chunk.subarray(from))
    held += chunk.length - from
    if (held > maxBytes) throw new RangeError('the line is too long')
  }
}
