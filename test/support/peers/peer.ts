/** What a program answers, and what it makes. */

export type Bytes = Uint8Array | string

export interface PeerAnswer {
  /** Null where it opened nothing. */
  text: Buffer | null
  /** How many signatures it found to be of the certificate. */
  valid: number
}

export interface PeerQuestion {
  message: Bytes
  /** Secret keys that open it. */
  secrets: readonly Bytes[]
  /** Whose signatures are looked for. */
  certificate: Bytes
  /** When, for gpg, rnp and openpgp.js; the others read the system's clock. */
  atMs: number
}

/** Kinds of keys, by primary key and subkey in the words of GnuPG. */
export const KEY_KINDS = {
  cv25519: ['ed25519', 'cv25519'],
  rsa2048: ['rsa2048', 'rsa2048'],
  rsa3072: ['rsa3072', 'rsa3072'],
  rsa4096: ['rsa4096', 'rsa4096'],
  p256: ['nistp256', 'nistp256'],
  p384: ['nistp384', 'nistp384'],
  p521: ['nistp521', 'nistp521'],
  bp256: ['brainpoolP256r1', 'brainpoolP256r1'],
  bp384: ['brainpoolP384r1', 'brainpoolP384r1'],
  bp512: ['brainpoolP512r1', 'brainpoolP512r1'],
} as const
export type KeyKind = keyof typeof KEY_KINDS

/** Ways to seal that not every program offers. */
export const FEATURES = [
  'plain',
  'zip',
  'zlib',
  'bzip2',
  'padded',
  'anonymous',
  'two signers',
  'text mode',
  'by pipe',
  '3des',
  'aes192',
  'cast5',
] as const
export type Feature = (typeof FEATURES)[number]
export type Flags = Partial<Record<Feature, string[]>>

/** A key that a program made: armored, and what the program knows it by. */
export interface PeerKey {
  certificate: string
  secret: string
  id: string
}

export interface SealRequest {
  text: Bytes
  /** Armored certificates. */
  to: readonly string[]
  signers: readonly PeerKey[]
  feature?: Feature | undefined
}

/** What of a program makes keys and messages; each call throws an Error with what it printed last. */
export interface PeerWriter {
  kinds: readonly KeyKind[]
  features: readonly Feature[]
  makeKey(kind: KeyKind, name: string): Promise<PeerKey>
  /** Signs with every signer and encrypts; gives the armored message. */
  seal(request: SealRequest): Promise<string>
}

export interface Peer {
  version: string
  writer?: PeerWriter
  open(question: PeerQuestion): Promise<PeerAnswer>
  /** Whether it encrypts to a certificate. */
  encrypts(certificate: Bytes, atMs: number): Promise<boolean>
}
