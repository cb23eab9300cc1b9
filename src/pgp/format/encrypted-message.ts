/**
 * The header walk: bounds an encrypted message before any library parses it (RFC 9580, 10.3).
 * What is not addressed to us is dropped here, so that a flood of recipients costs a loop.
 */
import { hash } from 'node:crypto'
import { RecipientScan, type ScannedRecipients, type OwnIds } from './recipient-scan.ts'
import { dearmor } from './armor.ts'
import type { NotOpened } from '../engine.ts'
import { FramingError, TAG, isIgnorable, packetAt } from './packets.ts'
import { BOUNDS } from '../bounds.ts'

export type { OwnIds } from './recipient-scan.ts'

/** An encrypted message that may be opened: only what concerns us is left of it. */
export interface EncryptedMessage extends ScannedRecipients {
  outcome: 'encrypted'
  /** Body of the one encrypted container (tag 18), de-framed. */
  container: Uint8Array
  /** SHA-256 of `container`, hex: the identity of the encrypted data. */
  dataDigest: string
}

/**
 * Takes an armored message. Gives what is left of it for us, or why it is not opened:
 * `not-encrypted` when it is no encrypted message at all, `damaged` when it is a broken one,
 * `too-large`, or `not-recipient` when no recipient packet can be ours.
 */
export function parseMessage(armored: string, own: OwnIds): EncryptedMessage | NotOpened {
  if (armored.length > BOUNDS.messageChars) return { outcome: 'too-large', reason: 'armor' }
  const bytes = dearmor(armored, 'MESSAGE', ROOM)
  if (bytes === null) return { outcome: 'damaged', reason: 'armor' }
  const walked = parseMessageBytes(bytes, own)
  if (walked.outcome === 'encrypted') walked.container = Buffer.from(walked.container)
  return walked
}

/**
 * Where every message is read, one after the other: of a large group it is a hundred thousand
 * bytes, of which next to nothing is kept, and fresh memory for them costs more than the walk.
 */
const ROOM = Buffer.allocUnsafeSlow((BOUNDS.messageChars / 4) * 3)

/** The same for bytes without armor. */
export function parseMessageBytes(bytes: Uint8Array, own: OwnIds): EncryptedMessage | NotOpened {
  try {
    return walk(bytes, own)
  } catch (error) {
    if (error instanceof FramingError) return { outcome: 'damaged', reason: error.message }
    throw error
  }
}

/** Whether an armored text parses as an encrypted message at all, for whomever. */
export function looksEncrypted(armored: string): boolean {
  const nobody: OwnIds = { keyIds: new Set(), fingerprints: new Set(), keyCount: 0 }
  const walked = parseMessage(armored, nobody)
  return walked.outcome === 'encrypted' || walked.outcome === 'not-recipient'
}

function walk(bytes: Uint8Array, own: OwnIds): EncryptedMessage | NotOpened {
  const scan = new RecipientScan(own)
  let container: Uint8Array | null = null
  for (let at = 0; at < bytes.length;) {
    if (container === null) at = scan.skipOthers(bytes, at)
    if (scan.hasTooMany) return { outcome: 'too-large', reason: 'recipients' }
    if (at === bytes.length) break
    const { tag, body, next } = packetAt(bytes, at)
    at = next
    if (container !== null) return { outcome: 'damaged', reason: 'trailing-data' }
    if (tag === TAG.pkesk || tag === TAG.skesk) {
      scan.add(tag, body)
      if (scan.hasTooMany) return { outcome: 'too-large', reason: 'recipients' }
    } else if (tag === TAG.seipd) {
      if (body[0] !== 1 && body[0] !== 2) return { outcome: 'damaged', reason: 'container-version' }
      container = body
    } else if (!isIgnorable(tag)) {
      return { outcome: scan.count === 0 ? 'not-encrypted' : 'damaged', reason: 'structure' }
    }
  }
  if (container === null) {
    return scan.count === 0
      ? { outcome: 'not-encrypted' }
      : { outcome: 'damaged', reason: 'no-data' }
  }
  const chosen = scan.candidates()
  if ('outcome' in chosen) return chosen
  return {
    outcome: 'encrypted',
    ...chosen,
    container,
    dataDigest: hash('sha256', container, 'hex'),
  }
}
