import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

/** How each informational response begins, and a 100. */
const [INTERIM, CONTINUE, ONE, THREE] = ['HTTP/1.1 1', 'HTTP/1.1 100', 0x31, 0x33]

/**
 * Connections that accept an unrequested 100 (Continue; RFC 9110, 15.2). undici ends a connection at
 * one, and ignores a 103: it reads the one for the other.
 */
export const readingPastContinue =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...connected) => {
      // undici gives an error alone
      const [error, socket] = connected
      if (error === null && socket !== null) readPast(socket)
      callback(...connected)
    })

function readPast(socket: Socket): void {
  /** Of the responses before the final one: the head that goes on in the next bytes. */
  let head: string | null = null
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  socket.write = (...args: unknown[]): boolean => {
    head = ''
    return write(...args)
  }
  const read = socket.read.bind(socket)
  socket.read = (size?: number): unknown => {
    const bytes: unknown = read(size)
    if (Buffer.isBuffer(bytes) && head !== null) head = turned(bytes, head)
    return bytes
  }
}

/**
 * Turns each 100 before the final response into 103.
 * @param before of its head, read already
 * @returns the head that goes on; null: the final response began
 */
function turned(bytes: Buffer, before: string): string | null {
  const first = bytes[INTERIM.length - 1]
  if (before === '' && first !== undefined && first !== ONE) return null
  const text = before + bytes.toString('latin1')
  for (let at = 0; ;) {
    const head = text.slice(at)
    if (!INTERIM.startsWith(head.slice(0, INTERIM.length))) return null
    const last = at + CONTINUE.length - 1 - before.length
    if (head.startsWith(CONTINUE) && last >= 0) bytes[last] = THREE
    const end = /\r?\n\r?\n/.exec(head)
    if (end === null) return head
    at += end.index + end[0].length
  }
}
