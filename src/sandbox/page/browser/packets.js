/** What a sealed message shows to everybody who holds it: its packets (RFC 9580, 4), never its words. */

/**
 * @typedef {{ tag: number, name: string, bytes: number, keyId: string | null, detail: string }} Packet
 */

/** @type {Record<number, string>} */
const NAMES = {
  1: 'PKESK',
  2: 'Signature',
  3: 'SKESK',
  4: 'One-pass signature',
  8: 'Compressed data',
  9: 'SED',
  10: 'Marker',
  11: 'Literal data',
  18: 'SEIPD',
  20: 'AEAD data',
  21: 'Padding',
}
/** @type {Record<number, string>} */
const ALGORITHMS = {
  1: 'RSA',
  2: 'RSA',
  16: 'Elgamal',
  18: 'ECDH',
  25: 'X25519',
  26: 'X448',
  35: 'ML-KEM-768+X25519',
  36: 'ML-KEM-1024+X448',
}
const PUBLIC_KEY = 6
const PUBLIC_SUBKEY = 14
const ANONYMOUS = '0000000000000000'
/** How many messages are remembered with their packets: each is shown again and again. */
const REMEMBERED = 2000
/** @type {Map<string, Packet[]>} */
const read = new Map()

/**
 * The packets of an armored message, as far as they can be read.
 * @param {string} armored
 * @returns {Packet[]}
 */
export function packetsOf(armored) {
  const known = read.get(armored)
  if (known !== undefined) return known
  const packets = [...framesOf(dearmored(armored))].map(describe)
  if (read.size >= REMEMBERED) read.clear()
  read.set(armored, packets)
  return packets
}

/**
 * Key ids of a certificate's keys, upper-case hexadecimal. Empty where the browser offers no
 * digests, which it does on this machine alone and over https.
 * @param {string} armored
 * @returns {Promise<string[]>}
 */
export async function keyIdsOf(armored) {
  if (!('subtle' in crypto)) return []
  const keys = [...framesOf(dearmored(armored))].filter(
    ({ tag }) => tag === PUBLIC_KEY || tag === PUBLIC_SUBKEY,
  )
  return await Promise.all(keys.map(({ body }) => keyIdOf(body)))
}

/** @param {string | null} keyId */
export function isAnonymous(keyId) {
  return keyId === ANONYMOUS
}

/**
 * The bytes inside an armor (RFC 9580, 6.2); none where it is broken.
 * @param {string} armored
 */
function dearmored(armored) {
  const lines = armored.replaceAll('\r', '').split('\n')
  const begin = lines.findIndex((line) => line.startsWith('-----BEGIN'))
  const blank = lines.findIndex((line, index) => index > begin && line.trim() === '')
  const body = lines.slice(blank + 1)
  const end = body.findIndex((line) => line.startsWith('-----END') || /^=[\w+/]{4}\s*$/.test(line))
  try {
    const binary = atob(body.slice(0, end).join(''))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array(0)
  }
}

/**
 * Packets one after the other (RFC 9580, 4.2), until something is not as it should be.
 * @param {Uint8Array} bytes
 * @returns {Generator<{ tag: number, body: Uint8Array }>}
 */
function* framesOf(bytes) {
  for (let at = 0; at < bytes.length;) {
    const head = bytes[at] ?? 0
    if ((head & 0x80) === 0) return
    const { tag, start, end } = (head & 0x40) === 0 ? oldFrame(bytes, at) : newFrame(bytes, at)
    if (end > bytes.length) return
    yield { tag, body: bytes.subarray(start, end) }
    at = end
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function newFrame(bytes, at) {
  const tag = (bytes[at] ?? 0) & 0x3f
  const first = bytes[at + 1] ?? 0
  if (first < 192) return frame(tag, at + 2, first)
  if (first < 224) return frame(tag, at + 3, ((first - 192) << 8) + (bytes[at + 2] ?? 0) + 192)
  if (first === 255) return frame(tag, at + 6, number(bytes, at + 2, 4))
  // Partial lengths: the rest of the message is this packet.
  return { tag, start: at + 2, end: bytes.length }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function oldFrame(bytes, at) {
  const head = bytes[at] ?? 0
  const tag = (head >> 2) & 0x0f
  const lengthBytes = [1, 2, 4, 0][head & 3] ?? 0
  if (lengthBytes === 0) return { tag, start: at + 1, end: bytes.length }
  return frame(tag, at + 1 + lengthBytes, number(bytes, at + 1, lengthBytes))
}

/**
 * @param {number} tag
 * @param {number} start
 * @param {number} length
 */
function frame(tag, start, length) {
  return { tag, start, end: start + length }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} count
 */
function number(bytes, at, count) {
  return bytes.subarray(at, at + count).reduce((sum, byte) => sum * 256 + byte, 0)
}

/**
 * @param {{ tag: number, body: Uint8Array }} frame
 * @returns {Packet}
 */
function describe({ tag, body }) {
  const version = body[0] ?? 0
  const name = NAMES[tag] ?? `Packet ${tag}`
  const common = { tag, bytes: body.length, keyId: null, detail: '' }
  if (tag === 1 && version === 3) {
    const detail = ALGORITHMS[body[9] ?? 0] ?? ''
    return { ...common, name: 'PKESK v3', keyId: hex(body.subarray(1, 9)), detail }
  }
  if (tag === 1 && version === 6) return { ...common, ...pkesk6(body) }
  const hasVersion = [1, 2, 3, 18].includes(tag)
  return { ...common, name: hasVersion ? `${name} v${version}` : name }
}

/**
 * A recipient packet that names a fingerprint (RFC 9580, 5.1.2).
 * @param {Uint8Array} body
 */
function pkesk6(body) {
  const length = body[1] ?? 0
  const keyVersion = body[2] ?? 0
  const fingerprint = body.subarray(3, 2 + length)
  const keyId = keyVersion === 6 ? fingerprint.subarray(0, 8) : fingerprint.subarray(-8)
  const named = length === 0 ? ANONYMOUS : hex(keyId)
  return { name: 'PKESK v6', keyId: named, detail: ALGORITHMS[body[2 + length] ?? 0] ?? '' }
}

/**
 * The key id of a public key packet (RFC 9580, 5.5.4).
 * @param {Uint8Array} body
 */
async function keyIdOf(body) {
  const isSix = body[0] === 6
  const head = isSix
    ? [0x9b, body.length >>> 24, body.length >>> 16, body.length >>> 8, body.length]
    : [0x99, body.length >>> 8, body.length]
  const digest = await crypto.subtle.digest(
    isSix ? 'SHA-256' : 'SHA-1',
    new Uint8Array([...head.map((byte) => byte & 0xff), ...body]),
  )
  const fingerprint = new Uint8Array(digest)
  return hex(isSix ? fingerprint.subarray(0, 8) : fingerprint.subarray(-8))
}

/** In upper-case hexadecimal. @param {Uint8Array} bytes */
function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
}
