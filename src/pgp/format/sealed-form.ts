/** Whether a file is an encrypted message, by how it begins. */
import { TAG } from './packets.ts'

/** How much of a file is looked at. */
export const FORM_OCTETS = 4096

const ARMOR =
  /^\s*-----BEGIN PGP MESSAGE-----[ \t]*\r?\n(?:[A-Za-z][A-Za-z0-9-]*:.*\r?\n)*[ \t]*\r?\n/
/** Versions that are known of what a message begins with (RFC 9580, 5.1, 5.3 and 5.13). */
const VERSIONS: Readonly<Record<number, readonly number[]>> = {
  [TAG.pkesk]: [2, 3, 6],
  [TAG.skesk]: [4, 5, 6],
  [TAG.seipd]: [1, 2],
}
const PASSED_OVER: ReadonlySet<number> = new Set([TAG.marker, TAG.padding, TAG.pkesk, TAG.skesk])

/**
 * Takes the first bytes of a file, `FORM_OCTETS` of them where it is that long. Gives in which
 * form it is an encrypted OpenPGP message, or null when it is none: then it is somebody's file.
 * Pictures and words look like packets, too, so the first that counts must be of a known version.
 */
export function sealedForm(head: Uint8Array): 'binary' | 'armored' | null {
  if (beginsMessage(head)) return 'binary'
  const text = Buffer.from(head.subarray(0, FORM_OCTETS)).toString('latin1')
  const armor = ARMOR.exec(text)
  if (armor === null) return null
  const body = text.slice(armor[0].length).replace(/\s/g, '')
  return beginsMessage(Buffer.from(body, 'base64')) ? 'armored' : null
}

function beginsMessage(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const header = headerAt(bytes, at)
    if (header === null) return false
    const version = bytes[header.start]
    if (version !== undefined && VERSIONS[header.tag]?.includes(version) === true) return true
    if (!PASSED_OVER.has(header.tag)) return false
    at = header.start + header.length
  }
  return false
}

/** Tag, start and first length of a packet's body (RFC 9580, 4.2). */
function headerAt(
  bytes: Uint8Array,
  at: number,
): { tag: number; start: number; length: number } | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at)
  const view = Buffer.from(bytes.subarray(at + 1, at + 6))
  if ((first & 0x80) === 0) return null
  if ((first & 0x40) === 0) {
    const size = 1 << (first & 3)
    if (size > 4 || view.length < size) return null
    return { tag: (first >> 2) & 0x0f, start: at + 1 + size, length: view.readUIntBE(0, size) }
  }
  const tag = first & 0x3f
  if (second < 192) return { tag, start: at + 2, length: second }
  if (second < 224) return { tag, start: at + 3, length: ((second - 192) << 8) + third + 192 }
  if (second < 255) return { tag, start: at + 2, length: 2 ** (second & 0x1f) }
  return view.length < 5 ? null : { tag, start: at + 6, length: view.readUInt32BE(1) }
}
