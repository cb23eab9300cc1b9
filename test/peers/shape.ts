/** What is put before the peers and before us. */
import { concat } from '../support/openpgp-bytes.ts'
import { literal, signedLiteral, type SigningOptions } from '../support/openpgp-inner.ts'
import { curve25519, ed25519, type EncryptionKey, type SigningKey } from '../support/openpgp-key.ts'
import { boundSubkey, keyPacket, userId } from '../support/openpgp-certificate.ts'
import { personOf } from '../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../support/openpgp-sealed.ts'

/** Before everything that a shape has; and the day of the words. Peers read by their own clocks. */
export const MADE_MS = Date.UTC(2025, 0, 1)
export const WORDS_MS = Date.UTC(2025, 5, 1)
/** When we read. */
export const READ_MS = Date.UTC(2026, 10, 1)
export const DAY_S = 86_400

export type Group = 'certificate' | 'message' | 'armor' | 'signature' | 'secret key'

export interface Shape {
  group: Group
  /** Of one group, a name is given once. */
  name: string
  /** Whose words they are: packets, or an armored text. */
  certificate: Buffer | string
  /** `words`, signed by that person and sealed to the reader. */
  message: Buffer | string
  /** `WORDS`, where nothing else is said. */
  words?: string
  /** Whose message it is, where it is not the reader's: a secret key as its owner exports it. */
  secret?: Buffer
}

/** Whether a text is what the message of a shape says; text mode may change line ends. */
export const isTextOf = ({ words = WORDS }: Shape, text: string): boolean =>
  text.replaceAll('\r\n', '\n') === words

/** What is asked of everybody: seal to the certificate; read the words; verify them by it. */
export const QUESTIONS = ['seal', 'read', 'verify'] as const
export type Question = (typeof QUESTIONS)[number]

export const WORDS = 'The words of the shape,\nin two lines'

export const KEY = sessionKey('peers')
/** Who reads: the bot. */
export const reader = personOf(
  'Reader <reader@example.org>',
  ed25519('peers reader', MADE_MS),
  curve25519('peers reader', MADE_MS),
)
/** Who writes, where nothing else is of interest. */
export const primary: SigningKey = ed25519('peers writer', MADE_MS)
export const subkey: EncryptionKey = curve25519('peers writer', MADE_MS)
export const NAME = 'Writer <writer@example.org>'
export const usual: Buffer = concat(
  keyPacket(primary),
  userId(primary, NAME),
  boundSubkey(primary, subkey),
)

export const toReader = (inner: Uint8Array): Buffer =>
  concat(pkesk(reader.subkey, KEY), seipd(inner, KEY))

/** A message of these words, signed as it is said; by nobody where `signing` is null. */
export const wordsBy = (signing: SigningOptions | SigningOptions[] | null): Buffer =>
  toReader(signing === null ? literal(WORDS) : signedLiteral(WORDS, signing))

/** The usual message of a signer. */
export const signedBy = (signer: SigningKey, atMs = WORDS_MS): Buffer => wordsBy({ signer, atMs })
