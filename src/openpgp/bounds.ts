/** Upper bounds of every input; `library/profile.ts` sets those of openpgp.js. */

/** In bytes or counts unless the name has another unit. */
export const BOUNDS = {
  /** Characters of an armored message: `armoredMax` is below a request's size (`requestBytes`). */
  messageChars: 262_144,
  /** Characters of an armored certificate (`publicKey` of the service). */
  certificateChars: 65_536,
  /** Bytes of a secret key that is imported, armored or not. */
  secretKeyBytes: 131_072,
  /** Recipient packets in one message: more than `messageChars` can hold. */
  recipientPackets: 4096,
  /** Packets of one certificate, all kinds together. */
  certificatePackets: 512,
  /** Signatures of one certificate by its own key; each costs a verification. */
  selfSignatures: 256,
  /** Statements of another key on one certificate. */
  certifications: 16,
  /** User ids, and subkeys, that are merged into a certificate which lacks them. */
  carriedParts: 64,
  /** Recipient packets that name one of our keys and are tried. */
  namedAttempts: 8,
  /** Anonymous recipient packets that are tried, times own keys; 3 to 13 µs a byte, P-521 25 µs. */
  anonymousBytes: 16_384,
  /** The first partial chunk of a packet (RFC 9580, 4.2.1.4). */
  firstChunk: 512,
  partialChunks: 65_536,
  /** An opened text, and its decompressed packets. */
  textBytes: 262_144,
  signatures: 16,
  nestedCompressions: 16,
  /** An opened attachment (`mediaMaxBytes`), and its decompressed packets. */
  attachmentBytes: 64 * 2 ** 20,
  /** A sealed attachment: the document with padding, recipient packets and framing. */
  storedAttachmentBytes: 68 * 2 ** 20,
  /** An attachment in a form that only the library reads, which needs all of it at once. */
  libraryAttachmentBytes: 16 * 2 ** 20,
  /** One recipient packet of an attachment; the largest key there is makes 2 KB. */
  recipientPacketBytes: 16_384,
  /** Signatures and their one-pass packets of an attachment, each. */
  signaturePacketBytes: 65_536,
  /** How far ahead of our clock a signature or certificate may be dated. */
  clockToleranceMs: 300_000,
  rsaBitsMax: 4096,
} as const

/** Never, where times are seconds. */
export const NEVER_S = 0xffff_ffff
