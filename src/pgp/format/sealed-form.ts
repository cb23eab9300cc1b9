/** Whether a file is an encrypted message, by how it begins. */
import { FramingError, TAG, headerAt } from './packets.ts'

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
  try {
    for (let at = 0; at < bytes.length;) {
      const { tag, start, length } = headerAt(bytes, at)
      const version = bytes[start]
      if (version !== undefined && VERSIONS[tag]?.includes(version) === true) return true
      if (!PASSED_OVER.has(tag)) return false
      at = start + length.bytes
    }
  } catch (error) {
    if (!(error instanceof FramingError)) throw error
  }
  return false
}
