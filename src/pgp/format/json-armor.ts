/** ASCII armor written as it stands inside a JSON string: its line breaks are escaped. */
import { bufferOf } from '../bytes.ts'

/** Bytes on a line of 76 characters. */
export const LINE_BYTES = 57
const LINE_CHARS = 76
const BREAK = Buffer.from('\\n')

export const ARMOR_START = Buffer.from('-----BEGIN PGP MESSAGE-----\\n\\n')
export const ARMOR_END = Buffer.from('-----END PGP MESSAGE-----\\n')

/** Writes bytes as lines, each with its break, the last of which may be shorter. */
export function armorLines(bytes: Uint8Array): Buffer {
  const base64 = Buffer.from(bufferOf(bytes).toString('base64'), 'latin1')
  const lines = Math.ceil(base64.length / LINE_CHARS)
  const out = Buffer.allocUnsafe(base64.length + lines * BREAK.length)
  let to = 0
  for (let from = 0; from < base64.length; from += LINE_CHARS) {
    to += base64.copy(out, to, from, Math.min(from + LINE_CHARS, base64.length))
    to += BREAK.copy(out, to)
  }
  return out
}

/** Characters of the armor itself that so many bytes of lines stand for. */
export function charsOf(bytes: number, lines: number): number {
  return Math.ceil(bytes / 3) * 4 + lines
}
