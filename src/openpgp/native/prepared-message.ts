/**
 * All of a message but its text: a session key, and the packets that give it to each recipient.
 * Sealing signs the text (RFC 9580, 10.3), as openpgp.js writes it, and encrypts it.
 */
import { hash, randomFillSync } from 'node:crypto'
import { sealVersion1 } from '../crypto/seipd.ts'
import { CIPHER_NAME } from '../format/ciphers.ts'
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
import { signHeld } from './held-key.ts'
import type { MessageSigner } from './own-keys.ts'

const BINARY = 0
const SHA512 = 10
const CRITICAL = 0x80
/** Makes no two signatures alike, which guards a key against faults of the machine. */
const SALT_NAME = Buffer.from('salt@notations.openpgpjs.org')
const SALT_BYTES = 32
const SALT_SIZES = [bytesOf(SALT_NAME.length, 2), bytesOf(SALT_BYTES, 2)]
/** The notation up to its value: flags, two lengths, and the name (RFC 9580, 5.2.3.24). */
const SALT = Buffer.concat([Buffer.alloc(4), ...SALT_SIZES, SALT_NAME])
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
    const { packets, statementDigest } = await signDocument(signing)
    const { cipher, data } = prepared.sessionKey
    const body = sealVersion1(packets, { algorithm: CIPHER_NAME[cipher], data })
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

/** Packets of a signed text, with the identity of the statement that they make. */
async function signDocument({ text, signer, names, atMs }: Signing) {
  const document = Buffer.from(text, 'utf8')
  const date = bytesOf(Math.floor(atMs / 1000), 4)
  const keyId = signer.fingerprint.subarray(12)
  const { algorithm } = signer
  const hashedPart = hashedPartOf(signer, date, names)
  const signed = Buffer.concat([document, hashedPart, trailerOf(hashedPart)])
  const digest = hash('sha512', signed, 'buffer')
  const numbers =
    'secret' in signer
      ? algorithm.sign(signer.secret, digest)
      : await signHeld(signer, digest, true)
  const [noUnhashed, left] = [Buffer.alloc(2), digest.subarray(0, 2)]
  const signature = [hashedPart, noUnhashed, left, algorithm.writeSignature(numbers)]
  const onePass = [Buffer.from([3, BINARY, SHA512, algorithm.id]), keyId, Buffer.from([1])]
  return {
    packets: Buffer.concat([
      framePacket(TAG.onePassSignature, Buffer.concat(onePass)),
      framePacket(TAG.literal, Buffer.concat([Buffer.from([LITERAL_UTF8, 0]), date, document])),
      framePacket(TAG.signature, Buffer.concat(signature)),
    ]),
    statementDigest: digestOfStatement(hash('sha256', document, 'buffer'), hashedPart),
  }
}

/** The signature's packet up to its hashed subpackets, which is signed with the text. */
function hashedPartOf({ key, fingerprint }: MessageSigner, date: Buffer, names: Buffer): Buffer {
  const subpackets = subpacketArea([
    subpacket(SUBPACKET.created | CRITICAL, [date]),
    subpacket(SUBPACKET.issuer, [fingerprint.subarray(12)]),
    subpacket(SUBPACKET.notation, [SALT, randomFillSync(Buffer.alloc(SALT_BYTES))]),
    subpacket(SUBPACKET.issuerFingerprint, [VERSION_4, fingerprint]),
    names,
  ])
  return Buffer.concat([Buffer.of(4, BINARY, key.algorithm, SHA512), subpackets])
}
