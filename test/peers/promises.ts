/**
 * What we refuse although three of the five programs take it: each entry is a promise of
 * `PROMISES_PAGE`, in its words, and has the reason that must be named.
 */
import type { Question } from './shape.ts'

export const PROMISES_PAGE = 'src/openpgp/README.md'

export interface Promised {
  /** A sentence of the page. */
  promise: string
  /** Keys of shapes. */
  shapes: RegExp
  /** Our answer to each question that it concerns. */
  reasons: Partial<Record<Question, string>>
}

const WEAK_HASH = 'A signature over MD5, SHA-1 or SHA-224 proves nothing.'
const ENDED =
  'A key or self-signature that has expired verifies nothing, not even words of an earlier date'
const ARMOR =
  'An armored text is one block from its first line to its last, with nothing around it.'
const DOCUMENT = 'A message is one document with all its signatures in one container.'

export const PROMISES: readonly Promised[] = [
  {
    promise: WEAK_HASH,
    shapes: /^certificate: (?:self-signature|self-signature and binding) over (?:sha1|sha224)$/,
    reasons: { seal: 'weak-hash', verify: 'key-unusable' },
  },
  {
    promise: WEAK_HASH,
    shapes:
      /^certificate: (?:binding over sha224|RSA (?:without flags|for everything), with a subkey bound over sha1)$/,
    reasons: { seal: 'weak-hash' },
  },
  {
    promise: WEAK_HASH,
    shapes: /^signature: signature over sha224$/,
    reasons: { verify: 'weak-hash' },
  },
  {
    promise: 'RSA below 2,048 bits, DSA and secp256k1 are too weak to seal to or to verify with.',
    shapes: /^certificate: (?:RSA of 1024 bits|DSA with .*|a key of secp256k1)$/,
    reasons: { seal: 'weak-algorithm', verify: 'key-unusable' },
  },
  {
    promise: 'RSA above 4,096 bits is too large to seal to.',
    shapes: /^certificate: RSA of 8192 bits$/,
    reasons: { seal: 'too-large-to-seal' },
  },
  {
    promise: 'A revocation over any hash counts.',
    shapes: /^certificate: key revoked over (?:md5|sha1|sha3-256|sha3-512)$/,
    reasons: { seal: 'revoked', verify: 'key-revoked' },
  },
  {
    promise: 'A revocation over any hash counts.',
    shapes: /^certificate: subkey revoked over (?:md5|sha3-256|sha3-512)$/,
    reasons: { seal: 'revoked' },
  },
  {
    promise: ENDED,
    shapes:
      /^certificate: (?:end by direct key .*past,|end by the user id: .*past$|two user ids, the newer ended|words by a signing subkey that ended later)/,
    reasons: { verify: 'key-expired' },
  },
  {
    promise: ENDED,
    shapes: /^certificate: self-signature that ended$/,
    reasons: { seal: 'expired', verify: 'key-expired' },
  },
  {
    promise: 'A key signs only where the flags of its owner allow it.',
    shapes: /^certificate: flags of the direct-key signature alone: (?:certify|none)$/,
    reasons: { verify: 'may-not-sign' },
  },
  {
    promise: 'The key of a bot is on no Brainpool curve, nor on secp256k1.',
    shapes: /^secret key: of (?:Brainpool|secp256k1)/,
    reasons: { read: 'unsupported-curve' },
  },
  {
    promise: ARMOR,
    shapes: /^armor: message (?:with words (?:before|behind)|with another tail line|twice)$/,
    reasons: { read: 'damaged: armor', verify: 'damaged: armor' },
  },
  {
    promise: ARMOR,
    shapes: /^armor: certificate (?:with words (?:before|behind)|with another tail line|twice)$/,
    reasons: { seal: 'unparseable', verify: 'unparseable' },
  },
  {
    promise: 'The first chunk of a packet in chunks has 512 bytes or more.',
    shapes: /^message: .* in parts: (?:256|1) first$/,
    reasons: { read: 'damaged: partial-length', verify: 'damaged: partial-length' },
  },
  {
    promise: DOCUMENT,
    shapes:
      /^message: (?:(?:an unknown packet that may not be skipped|a trust packet) inside, .*|(?:one-pass packet|signature behind) alone)$/,
    reasons: { read: 'damaged: structure', verify: 'damaged: structure' },
  },
  {
    promise: DOCUMENT,
    shapes: /^message: signature behind, with a wrong one-pass packet$/,
    reasons: { read: 'damaged: one-pass' },
  },
  {
    promise: 'Nothing follows the container but packets that may be skipped.',
    shapes:
      /^message: (?:an unknown packet that may not be skipped|a trust packet) behind the container$/,
    reasons: { read: 'damaged: trailing-data', verify: 'damaged: trailing-data' },
  },
  {
    promise: 'Nothing follows the container but packets that may be skipped.',
    shapes: /^message: bytes behind the container$/,
    reasons: { read: 'damaged: header', verify: 'damaged: header' },
  },
]

/** Keys of shapes that we accept though fewer than three programs do. */
export const MORE: readonly RegExp[] = [
  // hashes, keys and containers that only some of the programs know
  /\bover sha3-|of RFC 9580|^message: container of version 2/,
  // RFC 9580, 4.3: what a reader does not know, it passes over
  /^message: (?:padding|a private packet|an unknown packet that may be skipped) /,
  // RFC 9580, 5.2.3: an issuer may be named anywhere, and nothing unhashed is critical
  /^signature: signature with (?:the fingerprint of its issuer alone|an unhashed critical unknown)/,
  /^signature: signature for the reader, critical$/,
  /^message: (?:signature before the literal, without|every one-pass packet is marked as) /,
  /^certificate: (?:flags of the subkey: 0x1f|self-signature before its key)$/,
  /^secret key: of Curve25519 that begins with a zero$/,
  // RFC 9580, 6: no checksum is a reason to refuse, and blanks around lines are none of the data
  /^armor: .* with (?:a wrong checksum|a checksum that is no base64|blanks before the lines)$/,
  /^armor: certificate (?:with the checksum on the last line|without the empty line)$/,
]

/** Of which shapes a reason may be given: of no other is it true. */
export const TRUE_OF: Readonly<Record<string, RegExp>> = {
  revoked: /^certificate: (?:(?:key|subkey) revoked(?!.*beside)|.* was (?:revoked|retired))/,
  expired: /\b(?:past|ended)\b/,
  'weak-hash': / over (?:md5|sha1|sha224)\b/,
  'weak-algorithm': /^certificate: (?:RSA of 1024 bits|DSA|a key of secp256k1)/,
  'too-large-to-seal': /^certificate: RSA of 8192 bits$/,
  'too-large': /^never$/,
  'no-encryption-subkey':
    /^certificate: (?:.*no subkey|.* nobody bound$|.* bound by somebody else|flags of the subkey: 0x(?:00|20)|no flags on the subkey)/,
  unparseable: /^armor: certificate |^certificate: (?:.* before the key|.* without a date)$/,
  bad: /^message: a wrong signature$|^signature: signature of type /,
  'other-key': /^message: another signer alone$/,
  unsigned: /unsigned$|nobody signed$|^message: signature around what is compressed/,
  inconsistent: /^never$/,
  'damaged: armor': /^armor: message /,
  'damaged: decryption': /^message: integrity packet /,
  'damaged: length': /^message: cut in the container$/,
  'damaged: no-data': /^message: no container$/,
  'damaged: partial-length': /^message: .* in parts: (?:256|1) first$/,
  'damaged: trailing-data': / behind the container$|, one behind the other$/,
}
