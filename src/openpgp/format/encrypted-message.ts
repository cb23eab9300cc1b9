/**
 * The outside of an encrypted message (RFC 9580, 10.3): recipient packets, then one container, and
 * nothing after it. Ignorable packets may be anywhere. It bounds a message before any library parses
 * it, and drops the recipient packets of others, so that a flood of them costs only a loop.
 */
import { hash } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import type { NotOpened } from '../engine.ts'
import { armorStart } from './armor-lines.ts'
import { dearmor } from './armor.ts'
import { type ByteReader, nextSignificant, type StreamedPacket } from './packet-stream.ts'
import type { ReadFailure } from '../failure-reasons.ts'
import { ReadError, TAG, failureOf, headerAt, isIgnorable, packetAt } from './packets.ts'
import { RecipientScan } from './recipient-scan.ts'
import type { FoundKey, OwnIds, ScannedRecipients } from './recipient-scan.ts'

/** An encrypted message that may be opened, without the recipient packets of others. */
export interface EncryptedMessage extends ScannedRecipients {
  outcome: 'encrypted'
  /** Body of the one encrypted container (tag 18), de-framed. */
  container: Uint8Array
  /** SHA-256 of `container`, hex: the identity of the encrypted data. */
  dataDigest: string
  /** Session keys of recipient packets that the library cannot open. */
  found?: FoundKey[]
}

/** One that is still arriving: the container's data, behind its version, is still to be read. */
export interface ArrivingMessage extends ScannedRecipients {
  outcome: 'encrypted'
  version: 1 | 2
  container: StreamedPacket
}

/** The kind of a packet in front of the container; or why there is nothing to open. */
function placeOf(tag: number, { count }: RecipientScan): 'recipient' | 'container' | NotOpened {
  if (tag === TAG.pkesk || tag === TAG.skesk) return 'recipient'
  if (tag === TAG.seipd) return 'container'
  const reason = 'structure'
  return count === 0 ? { outcome: 'not-encrypted', reason } : { outcome: 'damaged', reason }
}

/** Why a message without a container cannot be opened. */
const withoutContainer = ({ count }: RecipientScan): NotOpened =>
  count === 0 ? { outcome: 'not-encrypted' } : { outcome: 'damaged', reason: 'no-data' }

const isContainerVersion = (version: number | undefined): version is 1 | 2 =>
  version === 1 || version === 2

const CONTAINER_VERSION: NotOpened = { outcome: 'damaged', reason: 'container-version' }
const TRAILING_DATA: ReadFailure = { outcome: 'damaged', reason: 'trailing-data' }

/**
 * Reads an armored message. Gives its container and our recipient packets, or why the message is
 * not opened: `not-encrypted` when it is no encrypted message at all, `damaged` when it is a broken
 * one, `too-large`, or `not-recipient` when no recipient packet can be ours.
 */
export function parseMessage(armored: string, own: OwnIds): EncryptedMessage | NotOpened {
  if (armored.length > BOUNDS.messageChars) return { outcome: 'too-large', reason: 'armor' }
  const bytes = dearmor(armored, 'MESSAGE', ROOM)
  if (bytes === null) return { outcome: 'damaged', reason: 'armor' }
  const parsed = parseMessageBytes(bytes, own)
  if (parsed.outcome === 'encrypted') parsed.container = Buffer.from(parsed.container)
  return parsed
}

/**
 * Where every message is read, one after the other: of a large group it is a hundred thousand
 * bytes, of which next to nothing is kept, and fresh memory for them costs more than to read it.
 */
const ROOM = Buffer.allocUnsafeSlow((BOUNDS.messageChars / 4) * 3)

/** Whether an armored text parses as an encrypted message at all, for whomever. */
export function looksEncrypted(armored: string): boolean {
  const nobody: OwnIds = { keyIds: new Set(), fingerprints: new Set(), attemptCost: 0 }
  const { outcome } = parseMessage(armored, nobody)
  return outcome === 'encrypted' || outcome === 'not-recipient'
}

/** As `parseMessage`, for bytes without armor. */
export function parseMessageBytes(bytes: Uint8Array, own: OwnIds): EncryptedMessage | NotOpened {
  try {
    return parse(bytes, own)
  } catch (error) {
    return failureOf(error)
  }
}

function parse(bytes: Uint8Array, own: OwnIds): EncryptedMessage | NotOpened {
  const scan = new RecipientScan(own)
  let container: Uint8Array | null = null
  for (let at = 0; at < bytes.length;) {
    if (container === null) at = scan.skipOthers(bytes, at)
    if (at === bytes.length) break
    const { tag, body, next } = packetAt(bytes, at)
    at = next
    if (isIgnorable(tag)) continue
    if (container !== null) return TRAILING_DATA
    const place = placeOf(tag, scan)
    if (typeof place === 'object') return place
    if (place === 'recipient') scan.add(tag, body)
    else if (!isContainerVersion(body[0])) return CONTAINER_VERSION
    else container = body
  }
  if (container === null) return withoutContainer(scan)
  const recipients = scan.candidates()
  if ('outcome' in recipients) return recipients
  return {
    outcome: 'encrypted',
    ...recipients,
    container,
    dataDigest: hash('sha256', container, 'hex'),
  }
}

/** Reads to the end after the container. @throws ReadError for any packet that is not ignored */
export async function readTrailing(reader: ByteReader): Promise<void> {
  if ((await nextSignificant(reader)) !== null) throw new ReadError(TRAILING_DATA)
}

/** Reads a message that is arriving up to its container's data. @throws ReadError */
export async function readArriving(
  reader: ByteReader,
  own: OwnIds,
): Promise<ArrivingMessage | NotOpened> {
  const scan = new RecipientScan(own)
  for (;;) {
    const packet = await nextSignificant(reader)
    if (packet === null) return withoutContainer(scan)
    const place = placeOf(packet.tag, scan)
    if (typeof place === 'object') return place
    if (place === 'container') return await atContainer(packet, scan)
    scan.add(packet.tag, await packet.whole(BOUNDS.recipientPacketBytes))
  }
}

async function atContainer(
  container: StreamedPacket,
  scan: RecipientScan,
): Promise<ArrivingMessage | NotOpened> {
  const [version] = await container.exactly(1)
  if (!isContainerVersion(version)) return CONTAINER_VERSION
  const recipients = scan.candidates()
  if ('outcome' in recipients) return recipients
  return { outcome: 'encrypted', ...recipients, version, container }
}

/** How many bytes of a file `sealedForm` reads. */
export const FORM_BYTES = 4096

/** Known versions of the first packet of a message (RFC 9580, 5.1, 5.3 and 5.13). */
const VERSIONS: Readonly<Record<number, readonly number[]>> = {
  [TAG.pkesk]: [2, 3, 6],
  [TAG.skesk]: [4, 5, 6],
  [TAG.seipd]: [1, 2],
}
const isPassedOver = (tag: number): boolean =>
  isIgnorable(tag) || tag === TAG.pkesk || tag === TAG.skesk

/**
 * @param head the first `FORM_BYTES` bytes of a file, or the whole of a shorter one
 * @returns the form of an encrypted OpenPGP message, or null for any other file. Images and text
 *   can begin like packets, so the first packet must also be of a known version. Armor without any
 *   data in the head counts as sealed: the reader of armor judges it.
 */
export function sealedForm(head: Uint8Array): 'binary' | 'armored' | null {
  if (beginsMessage(head)) return 'binary'
  const bytes = armorStart(head.subarray(0, FORM_BYTES))
  return bytes !== null && (bytes.length === 0 || beginsMessage(bytes)) ? 'armored' : null
}

function beginsMessage(bytes: Uint8Array): boolean {
  try {
    for (let at = 0; at < bytes.length;) {
      const { tag, start, length } = headerAt(bytes, at)
      const version = bytes[start]
      if (version !== undefined && VERSIONS[tag]?.includes(version) === true) return true
      if (!isPassedOver(tag)) return false
      at = start + length.bytes
    }
  } catch (error) {
    failureOf(error)
  }
  return false
}
