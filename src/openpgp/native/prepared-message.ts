/**
 * All of a message but its text: a session key, and the packets that give it to each recipient.
 * Sealing signs the text (RFC 9580, 10.3), as openpgp.js writes it, and encrypts it.
 */
import { hash, randomBytes } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import { bufferOf } from '../bytes.ts'
import { type Cipher, CIPHER_NAME, sealVersion1 } from '../crypto/seipd.ts'
import type { CipherSizes, OwnSizes } from '../engine.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import {
  Crc24,
  ARMOR_END,
  ARMOR_START,
  armoredLength,
  armorLines,
  needsChecksum,
  type ArmoredPackets,
  Sealed,
} from '../format/armor-writer.ts'
import { TAG } from '../format/packets.ts'
import {
  framePacket,
  framedLength,
  VERSION_4,
  statementDigest,
  subpacket,
  trailerOf,
  SUBPACKET,
} from '../format/packet-writer.ts'
import { AS_MADE, leastRecipientBytes } from '../size.ts'
import type { MessageSigner } from './own-keys.ts'

const BINARY = 0
const SHA512 = 10
const CRITICAL = 0x80
/** Makes no two signatures alike, which guards a key against faults of the machine. */
const SALT_NAME = Buffer.from('salt@notations.openpgpjs.org')
const SALT_BYTES = 32
const LITERAL_UTF8 = 'u'.charCodeAt(0)

/** It seals one message and no other. */
export interface PreparedMessage {
  sessionKey: SessionKey
  /** Armor of the recipient packets as far as it fills whole lines, escaped for JSON. */
  lines: Buffer
  /** Their bytes after that, fewer than a line holds. */
  rest: Buffer
  /** Checksum of all recipient packets. */
  crc: Crc24
  bytes: number
}

/** Prepares a message of recipient packets, which all give this session key. */
export function prepareMessage(armored: ArmoredPackets, sessionKey: SessionKey): PreparedMessage {
  const { lines, rest, crc, bytes } = armored
  return { sessionKey, lines: bufferOf(lines), rest: bufferOf(rest), crc: new Crc24(crc), bytes }
}

/** Bytes that it takes in memory. */
export function preparedBytes({ lines, rest, sessionKey }: PreparedMessage): number {
  return lines.length + rest.length + sessionKey.data.length
}

/** Zeroes what must not be found in memory. */
export function destroyPrepared({ sessionKey }: PreparedMessage): void {
  sessionKey.data.fill(0)
}

/** A text, who signs it when, and subpackets that name its recipients. */
interface Signing {
  text: string
  signer: MessageSigner
  names: Buffer
  atMs: number
}

/** Signs and encrypts a text into a prepared message, which is of no use afterwards. */
export function sealPrepared(prepared: PreparedMessage, signing: Signing): Sealed {
  const signed = signDocument(signing)
  const { cipher, data } = prepared.sessionKey
  const body = sealVersion1(signed.packets, { algorithm: CIPHER_NAME[cipher], data })
  destroyPrepared(prepared)
  const dataDigest = hash('sha256', body, 'hex')
  const framed = framePacket(TAG.seipd, body)
  const tail = Buffer.concat([prepared.rest, framed])
  return new Sealed(
    [ARMOR_START, prepared.lines, armorLines(tail), checksumLine(prepared, framed), ARMOR_END],
    armoredLength(prepared.bytes + framed.length),
    { dataDigest, statementDigest: signed.statementDigest },
  )
}

/** Only where a reader needs it; see `armorMessage`. */
function checksumLine({ crc, bytes }: PreparedMessage, framed: Buffer): Buffer {
  if (!needsChecksum(bytes + framed.length)) return Buffer.alloc(0)
  crc.update(framed)
  return Buffer.from(`=${crc.base64}\\n`)
}

/** Packets of a signed text, with the identity of the statement that they make. */
interface SignedDocument {
  packets: Buffer
  statementDigest: string
}

function signDocument({ text, signer, names, atMs }: Signing): SignedDocument {
  const document = Buffer.from(text, 'utf8')
  const date = Buffer.alloc(4)
  date.writeUInt32BE(Math.floor(atMs / 1000))
  const keyId = signer.fingerprint.subarray(12)
  const { algorithm } = signer
  const hashedPart = hashedPartOf(signer, date, names)
  const signed = Buffer.concat([document, hashedPart, trailerOf(hashedPart)])
  const digest = hash('sha512', signed, 'buffer')
  const written = algorithm.writeSignature(algorithm.sign(signer.secret, digest))
  const noUnhashed = Buffer.alloc(2)
  const signature = [hashedPart, noUnhashed, digest.subarray(0, 2), written]
  const onePass = [Buffer.from([3, BINARY, SHA512, algorithm.id]), keyId, Buffer.from([1])]
  return {
    packets: Buffer.concat([
      framePacket(TAG.onePassSignature, Buffer.concat(onePass)),
      framePacket(TAG.literal, Buffer.concat([Buffer.from([LITERAL_UTF8, 0]), date, document])),
      framePacket(TAG.signature, Buffer.concat(signature)),
    ]),
    statementDigest: statementDigest(hash('sha256', document, 'buffer'), hashedPart),
  }
}

/** The signature's packet up to its hashed subpackets, which is signed with the text. */
function hashedPartOf(
  { algorithm, fingerprint }: MessageSigner,
  date: Buffer,
  names: Buffer,
): Buffer {
  const sizes = Buffer.alloc(4)
  sizes.writeUInt16BE(SALT_NAME.length)
  sizes.writeUInt16BE(SALT_BYTES, 2)
  const salt = [Buffer.alloc(4), sizes, SALT_NAME, randomBytes(SALT_BYTES)]
  const subpackets = Buffer.concat([
    subpacket(SUBPACKET.created | CRITICAL, [date]),
    subpacket(SUBPACKET.issuer, [fingerprint.subarray(12)]),
    subpacket(SUBPACKET.notation, salt),
    subpacket(SUBPACKET.issuerFingerprint, [VERSION_4, fingerprint]),
    names,
  ])
  const start = Buffer.from([4, BINARY, algorithm.id, SHA512, 0, 0])
  start.writeUInt16BE(subpackets.length, 4)
  return Buffer.concat([start, subpackets])
}

/** A recipient's name in a signature: length, type, version, fingerprint (RFC 9580, 5.2.3.36). */
const NAME_BYTES = 23
/**
 * More are not named, so that every program verifies the signature: rnp reads 64 subpackets, four of
 * which say other things, and GnuPG 2.2 reads 10,000 bytes of them.
 */
export const MOST_NAMED = 60
/** Format, length of an empty name, and date before a text (RFC 9580, 5.9). */
const LITERAL_FIXED = 6
/**
 * Bytes that stand in the container beside the literal packet: version, prefix, one-pass
 * signature, hash. Numbers that begin with zeros make a signature a byte or two shorter.
 */
const AROUND_LITERAL = 1 + 18 + 15 + 22

/** Why nothing can be sealed, or how it fits: `isNamed` when the signature names the recipients. */
export type Fit =
  { fits: true; cipher: Cipher; isNamed: boolean } | { fits: false; leastChars: number }

/**
 * Chooses the cipher for a message: AES-256, or AES-128 where only that lets it fit; the signature
 * names all recipients, or nobody where only that lets it fit. What fits here never turns out too
 * large.
 * @param recipients bytes of all recipient packets but our own, by cipher
 * @param o `textBytes` bytes of the text in UTF-8; `maxChars` what the service takes
 *   (`armoredMax`); `own` what the key takes that it is sealed with; `named` how many certificates
 *   are sealed to, the bot's own among them
 */
export function fit(
  recipients: CipherSizes,
  o: { textBytes: number; maxChars: number; own: OwnSizes; named: number },
): Fit {
  const { recipient, signature } = o.own
  const literal = framedLength(LITERAL_FIXED + o.textBytes)
  const length = (cipher: Cipher, named: number): number => {
    const inside = AROUND_LITERAL + literal + framedLength(signature + NAME_BYTES * named)
    return greatestLength(recipients[cipher] + recipient[cipher] + framedLength(inside))
  }
  for (const named of o.named > MOST_NAMED ? [0] : [o.named, 0]) {
    for (const cipher of ['aes256', 'aes128'] as const) {
      const isNamed = named > 0
      if (length(cipher, named) <= o.maxChars) return { fits: true, cipher, isNamed }
    }
  }
  return { fits: false, leastChars: length('aes128', 0) }
}

/** Characters for so many bytes or a few fewer: of three lengths in a row, one has a checksum. */
function greatestLength(bytes: number): number {
  return Math.max(armoredLength(bytes), armoredLength(bytes - 1), armoredLength(bytes - 2))
}

/**
 * How many recipients of one kind fit beside a text, the bot, with a key as we make them, not
 * counted.
 * @param each bytes of one recipient packet, by cipher
 * @param armoredMax what the service takes; we seal no more than we would open
 */
export function capacity(each: CipherSizes, textBytes: number, armoredMax: number): number {
  const maxChars = Math.min(armoredMax, BOUNDS.messageChars)
  let low = 0
  let high = Math.ceil(maxChars / Math.max(1, each.aes128))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const all = { aes256: each.aes256 * middle, aes128: each.aes128 * middle }
    if (fit(all, { textBytes, maxChars, own: AS_MADE, named: 0 }).fits) low = middle
    else high = middle - 1
  }
  return low
}

/** More recipients than this fit into no message that the service takes. */
export const MOST_RECIPIENTS = capacity(leastRecipientBytes(), 1, BOUNDS.messageChars)
