import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

const [NEWLINE, RETURN, ZERO, THREE] = [0x0a, 0x0d, 0x30, 0x33]
/** How each informational response begins. */
const INTERIM = Buffer.from('HTTP/1.1 1')

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
  let place: ReturnType<typeof heads> | null = null
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  socket.write = (...args: unknown[]): boolean => {
    place = heads()
    return write(...args)
  }
  const read = socket.read.bind(socket)
  socket.read = (size?: number): unknown => {
    const bytes: unknown = read(size)
    if (Buffer.isBuffer(bytes) && place?.(bytes) === 'final') place = null
    return bytes
  }
}

/** Reads the heads before that of the final response, and turns 100 into 103 in each. */
function heads(): (bytes: Buffer) => 'interim' | 'final' {
  /** Of the next byte, within its head. */
  let at = 0
  let ends = 0
  let isZero = false
  return (bytes) => {
    for (const [index, byte] of bytes.entries()) {
      if (at < INTERIM.length && byte !== INTERIM[at]) return 'final'
      if (at === INTERIM.length) isZero = byte === ZERO
      if (at === INTERIM.length + 1 && isZero && byte === ZERO) bytes[index] = THREE
      if (byte !== RETURN) ends = byte === NEWLINE ? ends + 1 : 0
      at = ends === 2 ? 0 : at + 1
      if (at === 0) ends = 0
    }
    return 'interim'
  }
}
