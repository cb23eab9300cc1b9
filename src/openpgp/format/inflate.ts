/** Compressed data (RFC 9580, 5.6) unpacked while it goes by, on the platform's own threads. */
import { createInflate, createInflateRaw, type Inflate, type InflateRaw } from 'node:zlib'
import { COMPRESSION } from './message-grammar.ts'
import type { StreamedPacket } from './packet-stream.ts'

const CHUNK_BYTES = 65_536

/**
 * Unpacks the rest of a compressed packet's body. Bytes after the end of the compressed stream
 * are padding of the sender's; they are left in the packet or dropped. When whoever reads stops,
 * nothing reads the packet any more either.
 * @param algorithm none, zip or zlib
 * @throws Error of zlib for data that is broken or cut; FramingError as the packet does
 */
export async function* inflated(
  packet: StreamedPacket,
  algorithm: number,
): AsyncGenerator<Uint8Array> {
  if (algorithm === COMPRESSION.none) {
    for (let some = await packet.some(); some !== null; some = await packet.some()) yield some
    return
  }
  const options = { chunkSize: CHUNK_BYTES }
  const stream = algorithm === COMPRESSION.zip ? createInflateRaw(options) : createInflate(options)
  // What fails after the last byte was taken concerns nobody.
  stream.on('error', () => {})
  const feeding = feed(packet, stream).catch((error: Error) => void stream.destroy(error))
  try {
    for await (const piece of stream) yield piece as Buffer
  } finally {
    stream.destroy()
    await feeding
  }
}

async function feed(packet: StreamedPacket, stream: Inflate | InflateRaw): Promise<void> {
  for (let some = await packet.some(CHUNK_BYTES); some !== null;) {
    if (stream.destroyed) return
    await taken(stream, some)
    some = await packet.some(CHUNK_BYTES)
  }
  if (!stream.destroyed) stream.end()
}

/**
 * Resolves when the stream needs the piece no longer. One that has come to its own end takes
 * nothing more, and says so only by closing.
 */
function taken(stream: Inflate | InflateRaw, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('close', done)
      resolve()
    }
    stream.on('close', done)
    stream.write(piece, done)
  })
}
