/**
 * All of a message but its text: a session key, and the packets that give it to each recipient.
 * Sealing signs the text (RFC 9580, 10.3), as openpgp.js writes it, and encrypts it.
 */
import { hash, randomBytes } from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import { sealVersion1 } from '../crypto/seipd.ts'
import { CIPHER_NAME } from '../format/ciphers.ts'
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
  VERSION_4,
  statementDigest as digestOfStatement,
  subpacket,
  trailerOf,
  SUBPACKET,
} from '../format/packet-writer.ts'
import { proveSignature, type HeldSignature } from './held-key.ts'
import { askSigner, type MessageSigner } from './message-signer.ts'

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

/** Bytes of a prepared message in memory. */
export function preparedBytes({ lines, rest, sessionKey }: PreparedMessage): number {
  return lines.length + rest.length + sessionKey.data.length
}

/** Zeroes the session key in memory. */
export function destroyPrepared({ sessionKey }: PreparedMessage): void {
  sessionKey.data.fill(0)
}

/** A text, its signer and time, and subpackets that name its recipients. */
interface Signing {
  text: string
  signer: MessageSigner
  names: Buffer
  atMs: number
}

/** Signs and encrypts a text into a prepared message, which is of no use afterwards. */
export async function sealPrepared(prepared: PreparedMessage, signing: Signing): Promise<Sealed> {
  try {
    const { packets, statementDigest, holds } = await signDocument(signing)
    const { cipher, data } = prepared.sessionKey
    const body = sealVersion1(packets, { algorithm: CIPHER_NAME[cipher], data })
    const framed = framePacket(TAG.seipd, body)
    const tail = Buffer.concat([prepared.rest, framed])
    const sealed = new Sealed(
      [ARMOR_START, prepared.lines, armorLines(tail), checksumLine(prepared, framed), ARMOR_END],
      armoredLength(prepared.bytes + framed.length),
      { dataDigest: hash('sha256', body, 'hex'), statementDigest },
    )
    if (holds !== null) await proveSignature({ holds })
    return sealed
  } finally {
    destroyPrepared(prepared)
  }
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
  holds: HeldSignature['holds'] | null
}

async function signDocument({ text, signer, names, atMs }: Signing): Promise<SignedDocument> {
  const document = Buffer.from(text, 'utf8')
  const date = Buffer.alloc(4)
  date.writeUInt32BE(Math.floor(atMs / 1000))
  const keyId = signer.fingerprint.subarray(12)
  const { algorithm } = signer
  const hashedPart = hashedPartOf(signer, date, names)
  const signed = Buffer.concat([document, hashedPart, trailerOf(hashedPart)])
  const digest = hash('sha512', signed, 'buffer')
  const { secret } = signer
  const { numbers, holds } = secret
    ? { numbers: algorithm.sign(secret, digest), holds: null }
    : await askSigner(signer, digest)
  const noUnhashed = Buffer.alloc(2)
  const signature = [
    hashedPart,
    noUnhashed,
    digest.subarray(0, 2),
    algorithm.writeSignature(numbers),
  ]
  const onePass = [Buffer.from([3, BINARY, SHA512, algorithm.id]), keyId, Buffer.from([1])]
  return {
    holds,
    packets: Buffer.concat([
      framePacket(TAG.onePassSignature, Buffer.concat(onePass)),
      framePacket(TAG.literal, Buffer.concat([Buffer.from([LITERAL_UTF8, 0]), date, document])),
      framePacket(TAG.signature, Buffer.concat(signature)),
    ]),
    statementDigest: digestOfStatement(hash('sha256', document, 'buffer'), hashedPart),
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
