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
  'structure' | 'literal' | 'one-pass' | 'compression' | 'encoding' | 'too-many-signatures'

/** Why something is damaged; no reason contains any of its content. */
export type DamageReason =
  | FramingReason
  | GrammarReason
  | 'cipher'
  | 'container-version'
  | 'deadline'
  | 'decryption'
  | 'failed'
  | 'no-data'
  | 'trailing-data'

/** Why a message is read no further. */
export type ReadFailure =
  { outcome: 'damaged'; reason: DamageReason } | { outcome: 'too-large'; reason: SizeReason }

/** Which bound something is beyond. */
export type SizeReason = 'armor' | 'decompressed' | 'file' | 'form' | 'recipients' | 'text'

/** Why a signature that its key made does not count. */
export type SignatureDoubt =
  | 'deadline'
  | 'failed'
  | 'signed-ahead'
  | 'signature-expired'
  | 'weak-hash'
  | 'unknown-critical'
  | 'unknown-form'
  | 'not-valid-then'
  | 'may-not-sign'
  | 'key-expired'
  | 'key-revoked'
  | 'key-unusable'

/** Why a certificate cannot be sealed to. */
export type UnusableReason =
  | 'unparseable'
  | 'secret-key'
  | 'several-certificates'
  | 'version'
  | 'revoked'
  | 'expired'
  | 'not-yet-valid'
  | 'no-encryption-subkey'
  | 'no-user-id'
  | 'weak-algorithm'
  | 'weak-hash'
  | 'too-large-to-seal'
  | 'too-large'
  | 'deadline'

/** Why a secret key that somebody brings cannot be the bot's: its certificate's reasons, and its own. */
export type UnfitReason =
  | Exclude<UnusableReason, 'secret-key' | 'several-certificates' | 'deadline'>
  | 'public-only'
  | 'several-keys'
  | 'subkeys-only'
  | 'stub'
  | 'smartcard'
  | 'unusual-s2k'
  | 'passphrase-missing'
  | 'passphrase-wrong'
  | 'inconsistent'
  | 'newer-algorithm'
  | 'unsupported-curve'
  | 'no-signing-key'
  | 'not-working'
