/** Bytes seen otherwise: the memory stays the same, nothing is copied. */

export function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** Lower-case hexadecimal characters, two a byte. */
export function hexOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('hex')
}
