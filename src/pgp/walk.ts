/**
 * The header walk: bounds an encrypted message before any library parses it (RFC 9580, 10.3).
 * What is not addressed to us is dropped here, so that a flood of recipients costs a loop.
 */
import { createHash } from 'node:crypto'
import { dearmor } from './armor.ts'
import type { NotOpened } from './engine.ts'
import { FramingError, TAG, framePacket, isIgnorable, packetsOf } from './packets.ts'
import { BOUNDS } from './profile.ts'

/** Whose message it may be: ids and fingerprints of our keys and subkeys, lower-case hex. */
export interface OwnIds {
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
  /** How many own keys an anonymous packet would be tried with. */
  keyCount: number
}

/** An encrypted message that may be opened: only what concerns us is left of it. */
export interface Walked {
  outcome: 'encrypted'
  /** Recipient packets to try, each framed. */
  recipientPackets: Uint8Array[]
  /** True when they name one of our keys, false when they name nobody. */
  named: boolean
  /** Body of the one encrypted container (tag 18), de-framed. */
  container: Uint8Array
  /** SHA-256 of `container`, hex: the identity of the encrypted data. */
  dataDigest: string
}

const ANONYMOUS_KEY_ID = '0000000000000000'

/**
 * Takes an armored message. Gives what is left of it for us, or why it is not opened:
 * `not-encrypted` when it is no encrypted message at all, `damaged` when it is a broken one,
 * `too-large`, or `not-recipient` when no recipient packet can be ours.
 */
export function walkMessage(armored: string, own: OwnIds): Walked | NotOpened {
  if (armored.length > BOUNDS.messageChars) return { outcome: 'too-large', reason: 'armor' }
  const octets = dearmor(armored, 'MESSAGE')
  if (octets === null) return { outcome: 'damaged', reason: 'armor' }
  return walkOctets(octets, own)
}

/** The same for octets without armor. */
export function walkOctets(octets: Uint8Array, own: OwnIds): Walked | NotOpened {
  try {
    return walk(octets, own)
  } catch (error) {
    if (error instanceof FramingError) return { outcome: 'damaged', reason: error.message }
    throw error
  }
}

/** Whether an armored text parses as an encrypted message at all, for whomever. */
export function looksEncrypted(armored: string): boolean {
  const nobody: OwnIds = { keyIds: new Set(), fingerprints: new Set(), keyCount: 0 }
  const walked = walkMessage(armored, nobody)
  return walked.outcome === 'encrypted' || walked.outcome === 'not-recipient'
}

function walk(octets: Uint8Array, own: OwnIds): Walked | NotOpened {
  const named: Uint8Array[] = []
  const anonymous: Uint8Array[] = []
  let anonymousSeen = 0
  let recipients = 0
  let container: Uint8Array | null = null
  for (const { tag, body } of packetsOf(octets)) {
    if (container !== null) return { outcome: 'damaged', reason: 'trailing-data' }
    if (tag === TAG.pkesk || tag === TAG.skesk) {
      if (++recipients > BOUNDS.recipientPackets)
        return { outcome: 'too-large', reason: 'recipients' }
      const addressee = tag === TAG.pkesk ? addresseeOf(body) : null
      if (addressee === 'anonymous') {
        anonymousSeen++
        if (anonymous.length < BOUNDS.anonymousPackets) anonymous.push(framePacket(tag, body))
      } else if (addressee !== null && isOurs(addressee, own)) {
        if (named.length < BOUNDS.namedAttempts) named.push(framePacket(tag, body))
      }
    } else if (tag === TAG.seipd) {
      if (body[0] !== 1 && body[0] !== 2) return { outcome: 'damaged', reason: 'container-version' }
      container = body
    } else if (!isIgnorable(tag)) {
      return { outcome: recipients === 0 ? 'not-encrypted' : 'damaged', reason: 'structure' }
    }
  }
  if (container === null) {
    return recipients === 0
      ? { outcome: 'not-encrypted' }
      : { outcome: 'damaged', reason: 'no-data' }
  }
  const tries = Math.max(1, Math.floor(BOUNDS.anonymousAttempts / Math.max(1, own.keyCount)))
  const recipientPackets = named.length > 0 ? named : anonymous.slice(0, tries)
  if (recipientPackets.length === 0 || own.keyCount === 0) return { outcome: 'not-recipient' }
  if (named.length === 0 && anonymousSeen > BOUNDS.anonymousPackets) {
    return { outcome: 'not-recipient', reason: 'too-many-anonymous' }
  }
  const dataDigest = createHash('sha256').update(container).digest('hex')
  return { outcome: 'encrypted', recipientPackets, named: named.length > 0, container, dataDigest }
}

/** Whom a PKESK names (RFC 9580, 5.1): a key id (v3), a fingerprint (v6), nobody, or unknown. */
function addresseeOf(body: Uint8Array): string | null {
  if (body[0] === 3 && body.length >= 10) {
    const keyId = hex(body.subarray(1, 9))
    return keyId === ANONYMOUS_KEY_ID ? 'anonymous' : keyId
  }
  if (body[0] === 6 && body.length >= 3) {
    const length = body[1] ?? 0
    if (length === 0) return 'anonymous'
    return body.length > 2 + length ? hex(body.subarray(3, 2 + length)) : null
  }
  return null
}

function isOurs(addressee: string, own: OwnIds): boolean {
  return own.keyIds.has(addressee) || own.fingerprints.has(addressee)
}

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
