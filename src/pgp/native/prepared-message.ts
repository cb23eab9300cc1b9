/** All of a message but its words: a session key, and the packets that give it to each recipient. */
import { hash } from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import type { SigningKey } from '../crypto/algorithm.ts'
import { CIPHER_NAME } from '../crypto/ciphers.ts'
import { sealVersion1 } from '../crypto/seipd.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import { Crc24 } from '../format/crc24.ts'
import {
  ARMOR_END,
  ARMOR_START,
  armorChars,
  armorLines,
  type ArmoredPackets,
} from '../format/json-armor.ts'
import { TAG, framePacket } from '../format/packets.ts'
import { Sealed } from '../sealed.ts'
import type { OwnSecret } from './own-keys.ts'
import { signDocument } from './signed-document.ts'

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

/** Signs and encrypts a text into a prepared message, which is of no use afterwards. */
export function sealPrepared(
  prepared: PreparedMessage,
  { text, signer, atMs }: { text: string; signer: OwnSecret<SigningKey>; atMs: number },
): Sealed {
  const { packets, statementDigest } = signDocument(text, signer, atMs)
  const { cipher, data } = prepared.sessionKey
  const body = sealVersion1(packets, { algorithm: CIPHER_NAME[cipher], data })
  destroyPrepared(prepared)
  const dataDigest = hash('sha256', body, 'hex')
  const framed = framePacket(TAG.seipd, body)
  const tail = Buffer.concat([prepared.rest, framed])
  const bytes = prepared.bytes + framed.length
  const checksum = checksumLine(prepared, framed)
  return new Sealed(
    [ARMOR_START, prepared.lines, armorLines(tail), checksum, ARMOR_END],
    armorChars(bytes) + (checksum.length === 0 ? 0 : checksum.length - 1),
    { dataDigest, statementDigest },
  )
}

/** Only where a reader needs it; see `armorMessage`. */
function checksumLine({ crc, bytes }: PreparedMessage, framed: Buffer): Buffer {
  if ((bytes + framed.length) % 3 !== 0) return Buffer.alloc(0)
  crc.update(framed)
  return Buffer.from(`=${crc.base64}\\n`)
}
