/**
 * The engine: all that the rest of Postern uses of OpenPGP. It has no access to chats, people or
 * the network, and callers do not depend on how it runs (worker threads today).
 */
import type { Certified, Certifier } from './certifier.ts'
import type { Cipher } from './format/ciphers.ts'
import type {
  DamageReason,
  SignatureDoubt,
  SizeReason,
  UnfitReason,
  UnusableReason,
} from './failure-reasons.ts'
import type { ByteReader } from './format/packet-stream.ts'
import type { Sealed } from './format/armor-writer.ts'
import type { KeyHolder, OwnKeyAlgorithm } from './key-holder.ts'
import type { Room, RestingFile } from './stream/resting.ts'

/** One of the bot's own keys, made but not unlocked. Both texts are ASCII-armored. */
export interface OwnKey {
  /** 40 lower-case hexadecimal characters (v4). */
  fingerprint: string
  /** Public certificate. */
  certificate: string
  /** Secret key, locked (RFC 9580, 3.7.2.1) as gpg imports it; a certificate where `isHeld`. */
  locked: string
}

/** The passphrases and the previous key of an imported secret key. */
export interface AdoptSecrets {
  /** Null when the key has no passphrase, or none was given. */
  from: string | null
  /** The passphrase that the imported key is locked under. */
  to: string
  /** True when that is random, of 256 bits; see `relock`. */
  isRandom?: boolean | undefined
  /** The bot's key before it, which certifies it. */
  certifiedBy?: UnlockedKey | undefined
  /** Also a key that has expired: it must have worked at its end. */
  mayHaveExpired?: boolean
}

/** The result of an import. `expiresMs` is Infinity when the key never expires. */
export type Adopted =
  { outcome: 'adopted'; key: OwnKey; expiresMs: number } | { outcome: 'unfit'; reason: UnfitReason }

/** A secret key ready for use. Lives in memory alone. */
export interface UnlockedKey {
  fingerprint: string
  /** Key ids of primary and subkeys, 16 lower-case hexadecimal characters each. */
  keyIds: string[]
  /** Fingerprints of primary and subkeys, for PKESK v6 (RFC 9580, 5.1.2). */
  fingerprints: string[]
  /** Transferable secret key, unlocked, binary; public where `holder` has the secret. */
  bytes: Uint8Array
  sizes: OwnSizes
  /** Signs and unwraps with the secret, which is not in this process. */
  holder?: KeyHolder
}

/** Bytes of a bot's own key in each message sealed with it; the greatest possible. */
export interface OwnSizes {
  /** Its own recipient packet, by the cipher of the session key. */
  recipient: CipherSizes
  /** Its signature that names nobody, without a packet's header. */
  signature: number
}

/** The status of a certificate. Times are ms since epoch. */
export interface CertificateStatus {
  /** Null when nothing could be parsed. */
  fingerprint: string | null
  /** Null when it can be sealed to, within `notBeforeMs` and `expiresMs`. */
  unusable: UnusableReason | null
  /** When it becomes usable, or since when at the latest it has been. */
  notBeforeMs: number
  /** When primary or encryption subkey expires; Infinity when never. */
  expiresMs: number
  /** True when any valid revocation of the primary key or of a subkey is on it. */
  revocations: boolean
  /**
   * Fingerprints of its keys that can be encrypted to, lower-case hex: first the one that messages
   * are sealed to, then all others in any state. Empty when nothing could be parsed.
   */
  encryptionKeys: readonly string[]
  /** Bytes of a recipient packet for it, by the cipher of the session key; the greatest possible. */
  recipientBytes: CipherSizes
  /** For people: `Curve25519`, `RSA 3072`, `NIST P-256` and the like. */
  algorithm: string
  /** Armored, to seal to and to verify with: as given, or merged with the earlier copy. */
  armored: string
  /** Of one judged with an earlier copy: its owner states something in it that the copy lacks. */
  isNews?: boolean
  /** It lacks the composite subkey that messages are sealed to, which the earlier copy has. */
  isStripped?: boolean
}

export type CipherSizes = Readonly<Record<Cipher, number>>

/** A message to seal. */
export interface SealRequest {
  text: string
  /** Armored certificates of people, each usable now; the signer's own is added by itself. */
  certificates: readonly string[]
  signer: UnlockedKey
  /** AES-256 is used only where every recipient lists it too (RFC 9580, 12.1). */
  cipher: Cipher
  /** When it is signed, ms since the epoch; when it is sealed, where it is absent. */
  atMs?: number
  /** The signature names no recipients (RFC 9580, 5.2.3.36); else it names all, the signer too. */
  isUnnamed?: boolean
  /**
   * The recurring use of the list. With a place, the next message is prepared in advance except for
   * its text, for as long as the list stays the same; a list given as the very same array is found
   * without being read.
   */
  place?: string
  /** Whose place it is, where several signers share the engine; each has one key at a time. */
  owner?: string
}

/** The fields of a signature inside an opened message; nothing here is verified. */
export interface SignatureClaim {
  /** 16 lower-case hexadecimal characters, or null when it names none. */
  issuerKeyId: string | null
  createdMs: number
  /** Fingerprints of hashed Intended Recipient subpackets (RFC 9580, 5.2.3.36); empty: anyone. */
  intended: string[]
  /** SHA-256 of the document and the hashed part, hex; the same for any re-encryption. */
  digest: string
}

/** Why something was not opened. */
export type NotOpened =
  | { outcome: 'not-encrypted'; reason?: 'structure' }
  | { outcome: 'not-recipient'; reason?: 'too-many-anonymous' }
  | { outcome: 'damaged'; reason: DamageReason }
  | { outcome: 'too-large'; reason: SizeReason }

/** A document with its framed signature packets, for `verify`. */
export interface Signed {
  document: Uint8Array
  /** Framed signature packets, in the order of the claims. */
  signatures: Uint8Array[]
}

/** A document too large for memory: the digest of each signature replaces it. */
export interface SignedAtLength extends Pick<Signed, 'signatures'> {
  /** One for each signature; empty for a hash that is never accepted. */
  digests: Uint8Array[]
}

/**
 * The recipients named in a message. Recipient packets are not authenticated: anybody on the way
 * can add and remove some (RFC 9580, 10.3).
 */
export interface NamedRecipients {
  /** Key ids, 8 bytes each, ours among them, in the order of their packets. */
  keyIds: Uint8Array
  /** True when there are unnamed recipients: anonymous ones, or holders of a passphrase. */
  hasUnnamed: boolean
}

/** A message that was opened. Its text must not reach anybody before its signatures are judged. */
export interface OpenedText {
  outcome: 'opened'
  text: string
  /** It was sealed as a file: its literal packet has the name of one (RFC 9580, 5.9). */
  isFile: boolean
  /** SHA-256 of the de-framed encrypted data, hex. */
  dataDigest: string
  signatures: SignatureClaim[]
  signed: Signed
  /** Fingerprint of the own key that opened it. */
  openedWith: string
  recipients: NamedRecipients
}

export type Opened = OpenedText | NotOpened

/** An attachment that was opened. Nothing of it may leave before its signatures are judged. */
export interface OpenedFile extends Omit<OpenedText, 'text' | 'isFile' | 'signed'> {
  file: RestingFile
  /** Identity of the encrypted data; within the length of a message, as `OpenedText.dataDigest`. */
  dataDigest: string
  signed: SignedAtLength
}

/** The parameters of opening an attachment. */
export interface OpenFileOptions {
  /** The result of `sealedForm`. */
  form: 'binary' | 'armored'
  keys: UnlockedKey[]
  /** Where the ciphertext of the document is stored. */
  room: Room
}

/**
 * The result of verifying one signature; in the order of `signatures`. `bad`: it is not by the key that
 * it names over this document; a doubt: it is, and does not count.
 */
export type SignatureResult = 'valid' | 'bad' | 'other-key' | SignatureDoubt

/** A certificate of a keyring, with what its own key certifies. */
export interface ListedCertificate {
  armored: string
  userIds: string[]
  /** Of the newest certification of each user id (RFC 9580, 5.2.3.24). */
  notations: { name: string; value: string }[]
}

export interface Engine {
  /**
   * Makes a v4 key: Ed25519 primary, Curve25519 subkey, legacy encodings.
   * @param options `algorithm` `pqc` adds a subkey of ML-KEM-768+X25519; `userId` a free name;
   *   `createdMs` its date; `passphrase` locks it, `isRandom` as in `relock`; `certifiedBy` the key
   *   that vouches for it: its certification is in the new certificate
   */
  generate(options: {
    algorithm?: OwnKeyAlgorithm | undefined
    userId: string
    createdMs: number
    passphrase: string
    isRandom?: boolean | undefined
    certifiedBy?: UnlockedKey | undefined
  }): Promise<OwnKey>
  /**
   * @param holder of a key whose `locked` is a certificate (`isHeld`); it must sign a trial
   * @throws Error when the passphrase is wrong, or the block is not locked, or not a usable v4
   *   secret key; KeyHolderUnavailableError
   */
  unlock(locked: string, passphrase: string, holder?: KeyHolder): Promise<UnlockedKey>
  /** Puts a key's certification onto a certificate, as `generate` does; the key's secret is here. */
  certify(certificate: string, certifier: UnlockedKey): Promise<string>
  /**
   * Locks a secret key under another passphrase.
   * @param o `isRandom`: `to` is 256 random bits, which need no slow hash (RFC 9580, 3.7.1.3)
   *   against guessing; a passphrase chosen by a person needs it
   * @throws Error when `from` does not open it
   */
  relock(locked: string, o: { from: string; to: string; isRandom?: boolean }): Promise<string>
  /**
   * Imports a secret key, armored or binary, that another program exported. First makes every
   * check that the service and other readers would make; then locks the key under `to`.
   */
  adopt(file: Uint8Array, secrets: AdoptSecrets): Promise<Adopted>
  /**
   * Judges a certificate, once for each digest of its exact text; dates are compared on each call.
   * @param known an earlier copy whose revocations and self-signatures must not be forgotten
   */
  judge(armored: string, known?: string): Promise<CertificateStatus>
  /** As `certificationsBy`. */
  certifications(armored: string, by: readonly Certifier[], nowMs: number): Promise<Certified[]>
  /**
   * Signs and encrypts (RFC 9580, 10.3): one armored message, no headers.
   * @throws Error when any certificate cannot be used; nothing is ever left out silently
   */
  seal(request: SealRequest): Promise<string>
  /** The same, as pieces for a request, with the digests that identify the message. */
  sealKnown(request: SealRequest): Promise<Sealed>
  /**
   * Opens an armored message with every key given; never throws because of its content.
   * @param signal drops the job while it waits for its turn; its result is then of no use
   */
  open(armored: string, keys: UnlockedKey[], signal?: AbortSignal): Promise<Opened>
  /**
   * Opens an attachment while it arrives, in memory that does not grow with it.
   * @param reader at its first byte; read to its end only where all is well
   * @throws errors of the reader and the room; never because of the file's content
   */
  openFile(reader: ByteReader, options: OpenFileOptions): Promise<OpenedFile | NotOpened>
  /**
   * Judges signatures against one certificate. `nowMs` is our clock.
   * @returns one result a signature; all `deadline` when that passes, all `failed` when it fails
   */
  verify(
    signed: Signed | SignedAtLength,
    certificate: string,
    nowMs: number,
    signal?: AbortSignal,
  ): Promise<SignatureResult[]>
  /** Signs a text in the open, by the cleartext signature framework (RFC 9580, 7), dated `atMs`. */
  signText(text: string, signer: UnlockedKey, atMs: number): Promise<string>
  /**
   * Reads a file that is signed inline, in cleartext or by a `detached` signature; nothing is verified.
   * @returns no signatures for any other form; null for a signed one that cannot be read
   */
  readSigned(file: Uint8Array, detached: Uint8Array | null): Promise<Signed | null>
  /**
   * Reads the certificates of a keyring, armored or binary; each must still be judged.
   * @param o `most` of them, `nowMs` when certifications must hold
   * @returns null when it cannot be read whole, or holds more
   */
  readKeyring(
    file: Uint8Array,
    o: { most: number; nowMs: number },
  ): Promise<ListedCertificate[] | null>
  [Symbol.asyncDispose](): Promise<void>
}
