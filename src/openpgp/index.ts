/**
 * The door of OpenPGP: all that the rest of Postern imports of it. How an engine is made, what it
 * seals and opens, and the sizes and bounds that it keeps.
 */
export { createEngine, type MeasuredEngine } from './create.ts'
export { BOUNDS } from './bounds.ts'
export type {
  Adopted,
  AdoptSecrets,
  CertificateStatus,
  CipherSizes,
  Engine,
  NamedRecipients,
  OpenedFile,
  OpenedText,
  OwnKey,
  SignatureClaim,
  UnfitReason,
  UnlockedKey,
  UnusableReason,
} from './engine.ts'
export { FORM_BYTES, looksEncrypted, sealedForm } from './format/encrypted-message.ts'
export { ByteReader } from './format/byte-reader.ts'
export type { RawFile, Room } from './stream/raw-file.ts'
export { RestingWriter, type RestingFile } from './stream/resting.ts'
export { Sealed } from './format/armor-writer.ts'
export { capacity, MOST_RECIPIENTS, fit } from './native/prepared-message.ts'
export { makeCommonKey } from './native/make-key.ts'
export type { KeyKind } from './phone-keys.ts'
export type { FileForm } from './phone-files.ts'

/** Makes keys of every kind that phones have. It loads openpgp.js into the calling thread. */
export const loadPhoneKeys = () => import('./phone-keys.ts')

/** Seals files as phones do. It loads openpgp.js into the calling thread. */
export const loadPhoneFiles = () => import('./phone-files.ts')
