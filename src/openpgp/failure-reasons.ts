/** Why bytes are not valid packets (RFC 9580, 4.2). */
export type FramingReason =
  | 'armor'
  | 'header'
  | 'indeterminate'
  | 'length'
  | 'packet-length'
  | 'partial-count'
  | 'partial-length'
  | 'partial-tag'
  | 'too-many-packets'

/** Why decrypted packets are not a valid message (RFC 9580, 10.3). */
export type GrammarReason =
  | 'structure'
  | 'literal'
  | 'one-pass'
  | 'compression'
  | 'encoding'
  | 'too-many-packets'
  | 'too-many-signatures'

/** Why something is damaged; no reason contains any of its content. */
export type DamageReason =
  | FramingReason
  | GrammarReason
  | 'container-version'
  | 'deadline'
  | 'decryption'
  | 'failed'
  | 'no-data'
  | 'trailing-data'

/** Which bound something is beyond. */
export type SizeReason = 'armor' | 'decompressed' | 'file' | 'form' | 'recipients' | 'text'

/** Why a secret key that somebody brings cannot be the bot's. */
export type UnfitReason =
  | 'unparseable'
  | 'public-only'
  | 'several-keys'
  | 'subkeys-only'
  | 'stub'
  | 'smartcard'
  | 'unusual-s2k'
  | 'passphrase-missing'
  | 'passphrase-wrong'
  | 'inconsistent'
  | 'version'
  | 'newer-algorithm'
  | 'weak-algorithm'
  | 'revoked'
  | 'expired'
  | 'not-yet-valid'
  | 'no-encryption-subkey'
  | 'no-signing-key'
  | 'not-working'
  | 'too-large'
