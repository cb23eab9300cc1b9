/**
 * The door of OpenPGP: all that the rest of Postern imports of it. Creation of an engine, its
 * parameters and results, and its sizes and bounds.
 */
export type { MeasuredEngine } from './checker.ts'
export { createEngine, TRACED_OF_ENGINE } from './create.ts'
export type { Certified, Certifier } from './certifier.ts'
export { BOUNDS } from './bounds.ts'
export type {
  Adopted,
  AdoptSecrets,
  CertificateStatus,
  CipherSizes,
  Engine,
  ListedCertificate,
  NamedRecipients,
  OpenedFile,
  OpenedText,
  OwnKey,
  SignatureClaim,
  Signed,
  UnlockedKey,
} from './engine.ts'
export {
  type HeldKey,
  type HeldSessionKey,
  type HolderState,
  type KeyHolder,
  type OwnKeyAlgorithm,
  isHeld,
} from './key-holder.ts'
export type { SignatureDoubt, UnfitReason, UnusableReason } from './failure-reasons.ts'
export type { KeyAgreement, LocalKeys } from './local-keys.ts'
export { FORM_BYTES, looksEncrypted, sealedForm } from './format/encrypted-message.ts'
export { ByteReader } from './format/packet-stream.ts'
export { type RawFile, type Room, RestingWriter, type RestingFile } from './stream/resting.ts'
export { Sealed, armorBlock } from './format/armor-writer.ts'
export { CIPHERS, CIPHER_NAMES } from './format/ciphers.ts'
export { framePacket, packetHeader, writeMpi } from './format/packet-writer.ts'
export { TAG } from './format/packets.ts'
export { AS_MADE, MOST_RECIPIENTS, capacity, fit } from './size.ts'

/** Loads the work of a key holder, for an agent. */
export async function createLocalKeys() {
  const { LocalKeys } = await import('./local-keys.ts')
  return new LocalKeys()
}

/**
 * Makes keys and files in every form, for the phones of the sandbox. It loads
 * openpgp.js into the calling thread, with the profile that the engine's threads have.
 */
export async function loadLibrary() {
  const [{ applyProfile }, composite, container, keys, cache] = await Promise.all([
    import('./library/profile.ts'),
    import('./library/composite-session-key.ts'),
    import('./crypto/seipd.ts'),
    import('./library/secret-key.ts'),
    import('./library/key-cache.ts'),
  ])
  applyProfile()
  return { ...composite, ...container, ...keys, ...cache }
}

/** Loads native unwrapping for holders that compute shared secrets alone. */
export const loadKeyAgreement = () => import('./local-keys.ts')

/** Loads the writer of certificates for devices that sign them. */
export const loadCertificateWriter = () => import('./native/write-certificate.ts')
