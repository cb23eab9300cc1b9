/** Files as the person's phone shows them. Only what is a picture by its first bytes is shown as one. */

/** @type {[type: string, isIt: (bytes: Uint8Array) => boolean][]} */
const PICTURES = [
  ['image/png', (bytes) => begins(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', (bytes) => begins(bytes, [0xff, 0xd8, 0xff])],
  ['image/gif', (bytes) => begins(bytes, [0x47, 0x49, 0x46, 0x38])],
  [
    'image/webp',
    (bytes) =>
      begins(bytes, [0x52, 0x49, 0x46, 0x46]) &&
      begins(bytes.subarray(8), [0x57, 0x45, 0x42, 0x50]),
  ],
]

/** As many as a call can take as arguments. */
const CHUNK_BYTES = 32_768

/**
 * The type of a picture by its first bytes; null for whatever else it is, such as SVG, which can
 * hold more than a picture.
 * @param {Uint8Array} bytes
 */
export function pictureType(bytes) {
  return PICTURES.find(([, isIt]) => isIt(bytes))?.[0] ?? null
}

/** @param {string} base64 */
export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/**
 * @param {Blob} file
 * @returns {Promise<string>}
 */
export async function toBase64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES))
  }
  return btoa(binary)
}

/**
 * @param {Uint8Array} bytes
 * @param {number[]} head
 */
function begins(bytes, head) {
  return head.every((byte, index) => bytes[index] === byte)
}
