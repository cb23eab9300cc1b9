/** Making a secret key that somebody brings the bot's own. */
import { decryptKey, readKey, readPrivateKey, type PrivateKey, type SecretKeyPacket } from 'openpgp'
import { judge } from './certificate.ts'
import type { Adopted, AdoptSecrets, UnlockedKey } from '../engine.ts'
import type { UnfitReason, UnusableReason } from '../failure-reasons.ts'
import { open } from './open.ts'
import { BOUNDS } from '../bounds.ts'
import { encryptionKey, termsOf } from './owner-terms.ts'
import { seal } from './seal.ts'
import { certify, lock, unlockedFrom } from './secret-key.ts'
import { shapeOfSecret, type SecretShape } from './key-shape.ts'
import { verify } from './verify.ts'
import { parseMessage } from '../format/encrypted-message.ts'
import { ownIdsOf } from '../format/recipient-scan.ts'

/**
 * Reads a secret key, sees that the service and every reader can use it, and locks it anew.
 * @param file armored or binary
 * @param secrets `from` unlocks it, null when none was given; the result is locked under `to`; the key
 *   of `certifiedBy` certifies it; `mayHaveExpired` accepts a key that was in use until it expired
 * @returns why it cannot be the bot's, or the key; never throws because of the file's content
 */
export async function adopt(
  file: Uint8Array,
  secrets: AdoptSecrets,
  nowMs: number,
): Promise<Adopted> {
  const shape = shapeOfSecret(file)
  if ('unfit' in shape) return unfit(shape.unfit)
  if (shape.isLocked && secrets.from === null) return unfit('passphrase-missing')
  const read = await readSecret(shape).catch(() => null)
  if (read === null) return unfit('unparseable')
  const key = shape.isLocked ? await unlockKey(read, secrets.from ?? '') : read
  if (typeof key === 'string') return unfit(key)
  if (!(await isConsistent(key))) return unfit('inconsistent')
  if (secrets.certifiedBy !== undefined) await certify(key, secrets.certifiedBy)
  const certificate = key.toPublic().armor()
  const atMs = secrets.mayHaveExpired === true ? await lastUsableMs(key, nowMs) : nowMs
  const judged = await judge(certificate, atMs)
  if (judged.unusable !== null) return unfit(meaningOf(judged.unusable))
  if (!(await canSign(key, atMs))) return unfit('no-signing-key')
  const unlocked = unlockedFrom(key)
  if (!(await works(unlocked, certificate, atMs))) return unfit('not-working')
  const locked = await lock(key, secrets)
  return {
    outcome: 'adopted',
    key: { fingerprint: unlocked.fingerprint, certificate, locked },
    expiresMs: judged.expiresMs,
  }
}

/** Reads a secret key, with what its certificate states besides. */
async function readSecret({ bytes, certificate }: SecretShape): Promise<PrivateKey> {
  const key = await readPrivateKey({ binaryKey: bytes })
  if (certificate === null) return key
  return await key.update(await readKey({ binaryKey: certificate }))
}

/** When it could be sealed to last, up to now, ms since the epoch; now where it never could. */
async function lastUsableMs(key: PrivateKey, nowMs: number): Promise<number> {
  const certificate = key.toPublic()
  const { primary, subkeys } = await termsOf(certificate, nowMs)
  const before = [primary, ...subkeys].map(({ endsMs }) => endsMs - 1000)
  for (const atMs of [nowMs, ...before.filter((end) => end < nowMs).sort((a, b) => b - a)]) {
    if (typeof encryptionKey(await termsOf(certificate, atMs), atMs) !== 'string') return atMs
  }
  return nowMs
}

const unfit = (reason: UnfitReason): Adopted => ({ outcome: 'unfit', reason })

async function unlockKey(
  privateKey: PrivateKey,
  passphrase: string,
): Promise<PrivateKey | UnfitReason> {
  try {
    return await decryptKey({ privateKey, passphrase })
  } catch (error) {
    // The library distinguishes the two only in the text of its error.
    const isPassphrase = error instanceof Error && /passphrase/i.test(error.message)
    return isPassphrase ? 'passphrase-wrong' : 'inconsistent'
  }
}

/** Whether the secret numbers belong to the public ones: those of a locked key are not signed. */
async function isConsistent(key: PrivateKey): Promise<boolean> {
  const checks = key.getKeys().map((one) => (one.keyPacket as SecretKeyPacket).validate())
  return (await Promise.all(checks).catch(() => null)) !== null
}

async function canSign(key: PrivateKey, nowMs: number): Promise<boolean> {
  const signing = await key.getSigningKey(undefined, new Date(nowMs)).catch(() => null)
  const { bits = 0 } = signing?.keyPacket.getAlgorithmInfo() ?? {}
  return signing !== null && bits <= BOUNDS.rsaBitsMax
}

/** Whether the key opens and verifies a message sealed and signed with it, as messages are. */
export async function works(
  key: UnlockedKey,
  certificate: string,
  nowMs: number,
): Promise<boolean> {
  const text = 'a key that is taken over must work'
  try {
    const { armored } = await seal({ text, certificates: [], signer: key, cipher: 'aes256' }, nowMs)
    const encrypted = parseMessage(armored, ownIdsOf([key]))
    if (encrypted.outcome !== 'encrypted') return false
    const opened = await open(encrypted, [key])
    if (opened.outcome !== 'opened' || opened.text !== text) return false
    const results = await verify(opened.signed, certificate, nowMs)
    return results.includes('valid')
  } catch {
    return false
  }
}

function meaningOf(reason: UnusableReason): UnfitReason {
  if (reason === 'secret-key' || reason === 'deadline') return 'unparseable'
  return reason === 'several-certificates' ? 'several-keys' : reason
}
