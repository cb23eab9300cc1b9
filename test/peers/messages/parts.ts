/** What the usual message is made of. */
import { signedLiteral } from '../../support/openpgp-inner.ts'
import { pkesk } from '../../support/openpgp-sealed.ts'
import { KEY, WORDS, WORDS_MS, primary, reader, toReader } from '../shape.ts'

export type Entry = [name: string, message: Buffer, words?: string]
export const signing = { signer: primary, atMs: WORDS_MS }
export const usually = signedLiteral(WORDS, signing)
export const recipient = pkesk(reader.subkey, KEY)
export const inside = (inner: Uint8Array): Buffer => toReader(inner)

export const LONG = `${WORDS}${' and more'.repeat(500)}`
export const long = Buffer.from(LONG)

export const longInner = signedLiteral(long, signing)

export const PARTS: [string, number[]][] = [
  ['512', [9]],
  ['512, 512', [9, 9]],
  ['512, then 64', [9, 6]],
  ['512, then 1, 2, 4', [9, 0, 1, 2]],
  ['1024, then 256', [10, 8]],
  ['2048, 1024, 512', [11, 10, 9]],
  ['4096', [12]],
  ['256 first', [8, 9]],
  ['1 first', [0, 9]],
]
