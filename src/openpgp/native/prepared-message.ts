/**
 * All of a message but its text: a session key, and the packets that give it to each recipient.
 * Sealing signs the text (RFC 9580, 10.3), as openpgp.js writes it, and encrypts it.
 */
import { hash, randomFillSync } from 'node:crypto'
import { beginVersion1 } from '../crypto/seipd.ts'
import { CIPHER_NAME, type SymmetricKey } from '../format/ciphers.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import {
  checksumText,
  crc24,
  ARMOR_END,
  ARMOR_START,
  armoredLength,
  armorLines,
  type ArmoredPackets,
  Sealed,
} from '../format/armor-writer.ts'
import { TAG } from '../format/packets.ts'
import {
  bytesOf,
  framePacket,
  VERSION_4,
  statementDigest as digestOfStatement,
  subpacket,
  subpacketArea,
  trailerOf,
  SUBPACKET,
} from '../format/packet-writer.ts'
import { signMessageHeld } from './held-key.ts'
import type { MessageSigner } from './own-keys.ts'

const BINARY = 0
const SHA512 = 10
const CRITICAL = 0x80
/** Makes no two signatures alike, which guards a key against faults of the machine. */
const SALT_NAME = Buffer.from('salt@notations.openpgpjs.org')
const SALT_BYTES = 32
const LITERAL_UTF8 = 'u'.charCodeAt(0)

/** It seals one message and no other: all of its recipient packets give its session key. */
export interface PreparedMessage extends ArmoredPackets {
  sessionKey: SessionKey
}

/** Bytes of a prepared message in memory. */
export const preparedBytes = ({ lines, rest, sessionKey }: PreparedMessage): number =>
  lines.length + rest.length + sessionKey.data.length

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
    const { text, signer, names, atMs } = signing
    const { algorithm } = signer
    const document = Buffer.from(text, 'utf8')
    const date = bytesOf(Math.floor(atMs / 1000), 4)
    const hashedPart = hashedPartOf(signer, date, names)
    const signed = Buffer.concat([document, hashedPart, trailerOf(hashedPart)])
    const digest = hash('sha512', signed, 'buffer')
    const { cipher, data } = prepared.sessionKey
    const key = { algorithm: CIPHER_NAME[cipher], data }
    // a holder signs beside the rest of the work
    const [numbers, { seal, statementDigest }] = await Promise.all([
      'secret' in signer ? algorithm.sign(signer.secret, digest) : signMessageHeld(signer, digest),
      beginSealing({ document, date, hashedPart, signer, key }),
    ])
    const noUnhashed = Buffer.alloc(2)
    const left = digest.subarray(0, 2)
    const signature = [hashedPart, noUnhashed, left, algorithm.writeSignature(numbers)]
    const body = seal(framePacket(TAG.signature, Buffer.concat(signature)))
    const framed = framePacket(TAG.seipd, body)
    const tail = Buffer.concat([prepared.rest, framed])
    const checksum = Buffer.from(`=${checksumText(crc24(framed, prepared.crc))}\\n`)
    return new Sealed(
      [ARMOR_START, prepared.lines, armorLines(tail), checksum, ARMOR_END],
      armoredLength(prepared.bytes + framed.length),
      { dataDigest: hash('sha256', body, 'hex'), statementDigest },
    )
  } finally {
    destroyPrepared(prepared)
  }
}

/** A document before its signature is there. */
interface Unsigned {
  document: Buffer
  date: Buffer
  hashedPart: Buffer
  signer: MessageSigner
  key: SymmetricKey
}

/** Encrypts the packets in front of the signature, and gives the identity of the statement. */
async function beginSealing({ document, date, hashedPart, signer, key }: Unsigned) {
  const { algorithm, fingerprint } = signer
  const about = Buffer.from([3, BINARY, SHA512, algorithm.id])
  const onePass = Buffer.concat([about, fingerprint.subarray(12), Buffer.from([1])])
  const literal = Buffer.concat([Buffer.from([LITERAL_UTF8, 0]), date, document])
  const packets = [framePacket(TAG.onePassSignature, onePass), framePacket(TAG.literal, literal)]
  return {
    seal: beginVersion1(Buffer.concat(packets), key),
    statementDigest: digestOfStatement(hash('sha256', document, 'buffer'), hashedPart),
  }
}

/** The signature's packet up to its hashed subpackets, which is signed with the text. */
function hashedPartOf({ key, fingerprint }: MessageSigner, date: Buffer, names: Buffer): Buffer {
  const sizes = [bytesOf(SALT_NAME.length, 2), bytesOf(SALT_BYTES, 2)]
  const salt = [Buffer.alloc(4), ...sizes, SALT_NAME, randomFillSync(Buffer.alloc(SALT_BYTES))]
  const subpackets = subpacketArea([
    subpacket(SUBPACKET.created | CRITICAL, [date]),
    subpacket(SUBPACKET.issuer, [fingerprint.subarray(12)]),
    subpacket(SUBPACKET.notation, salt),
    subpacket(SUBPACKET.issuerFingerprint, [VERSION_4, fingerprint]),
    names,
  ])
  return Buffer.concat([Buffer.of(4, BINARY, key.algorithm, SHA512), subpackets])
}
