/** Why packets cannot be taken apart (RFC 9580, 4.2). */
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

/** What is wrong with a message inside. */
export type GrammarReason =
  | 'structure'
  | 'literal'
  | 'one-pass'
  | 'compression'
  | 'encoding'
  | 'too-many-packets'
  | 'too-many-signatures'

/** Why something is damaged; never told in words of its content. */
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
