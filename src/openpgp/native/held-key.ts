/** Keys of ours whose secrets a holder has: their public part, and questions to the holder. */
import { KeyHolderUnavailableError } from '../../errors.ts'
import { bufferOf } from '../bytes.ts'
import type { NativePublicKey, RecipientKey, SigningKey } from '../crypto/algorithm.ts'
import {
  fingerprintOf,
  publicKeyOf,
  isSigningKey,
  signatureAlgorithm,
} from '../crypto/public-key.ts'
import type { UnlockedKey } from '../engine.ts'
import { dearmor } from '../format/armor.ts'
import { TAG, packetsOf } from '../format/packets.ts'
import type { HeldSessionKey, KeyHolder } from '../key-holder.ts'
import { algorithmIn, type FoundKey } from '../format/recipient-scan.ts'
import { armorBlock } from '../format/armor-writer.ts'
import { TEXT } from '../format/signature-claim.ts'
import { isRecipientSecret, unlockedKeyOf } from './own-secrets.ts'
import { writeSignature } from './write-certificate.ts'

/** A key of ours, primary or subkey, whose secret a holder has. */
export interface HeldSecret<K extends NativePublicKey = NativePublicKey> {
  key: K
  /** Of that key, 20 bytes. */
  fingerprint: Buffer
  holder: KeyHolder
}

/** The public keys in a certificate; null for those that are not of the common forms. */
function publicKeysIn(bytes: Uint8Array): (NativePublicKey | null)[] {
  const packets = [...packetsOf(bytes)]
  const ofKeys = packets.filter(({ tag }) => tag === TAG.publicKey || tag === TAG.publicSubkey)
  return ofKeys.map(({ body }) => publicKeyOf(body))
}

/** Reads the keys in the certificate of a held key, by key id. */
export function readHeldSecrets(bytes: Uint8Array, holder: KeyHolder): Map<string, HeldSecret> {
  const keys = publicKeysIn(bytes).filter((key) => key !== null)
  const all = keys.map((key) => ({ key, fingerprint: fingerprintOf(key), holder }))
  return new Map(all.map((one) => [one.fingerprint.toString('hex', 12), one]))
}

/** It is signed to prove that a holder has a key, and is the digest of no document. */
const TRIAL = Buffer.alloc(64, 'postern')

/**
 * The key of an armored certificate, as one whose secret a holder has: it must sign a trial.
 * @throws Error for every key but Ed25519 with Curve25519 subkeys, in either encoding;
 *   KeyHolderUnavailableError
 */
export async function unlockHeld(certificate: string, holder: KeyHolder): Promise<UnlockedKey> {
  const bytes = dearmor(certificate, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0)
  const keys = publicKeysIn(bytes)
  const [primary = null] = keys
  if (!isSigningKey(primary) || !keys.every((key) => key !== null)) {
    throw new Error('a key of this kind cannot be held elsewhere')
  }
  await signHeld({ key: primary, fingerprint: fingerprintOf(primary), holder }, TRIAL)
  return { ...unlockedKeyOf(keys, bytes), holder }
}

/** One in so many signatures of messages is verified, at random. */
const SAMPLE = 256
/** The connection on which a signature of a key held when it was last verified. */
const proven = new WeakMap<SigningKey, object>()

/**
 * Asks for a signature over a digest, and verifies it.
 * @param isMessage whether a sample is enough: the first of each connection, and others at random. A
 *   wrong signature makes the message one that its readers do not believe.
 * @throws KeyHolderUnavailableError, also for a signature that does not hold
 */
export async function signHeld(
  { key, fingerprint, holder }: HeldSecret<SigningKey>,
  digest: Uint8Array,
  isMessage = false,
): Promise<Buffer> {
  const by = { fingerprint: fingerprint.toString('hex'), key }
  const numbers = bufferOf(await holder.sign({ by, digest }))
  const { connection = null } = holder
  const isProven = isMessage && connection !== null && proven.get(key) === connection
  if (isProven && Math.random() * SAMPLE >= 1) return numbers
  proven.delete(key)
  const { algorithm, point } = key
  if (!signatureAlgorithm(algorithm).holds({ algorithm, point, digest, numbers })) {
    throw new KeyHolderUnavailableError('the holder of the key gave a signature that does not hold')
  }
  if (connection !== null) proven.set(key, connection)
  return numbers
}

/** Asks for the session keys in one recipient packet, framed. */
export const unwrapWith = (
  { key, fingerprint, holder }: HeldSecret<RecipientKey>,
  packet: Uint8Array,
): Promise<HeldSessionKey[]> =>
  holder.unwrap({ to: { fingerprint: fingerprint.toString('hex'), key }, packet })

/** Session keys that recipient packets, framed, hold for keys that holders have. */
export async function unwrapHeld(
  recipientPackets: readonly Uint8Array[],
  keys: readonly UnlockedKey[],
): Promise<FoundKey[]> {
  const asked = keys.flatMap(({ holder, bytes, fingerprint }) => {
    const secrets = holder === undefined ? [] : [...readHeldSecrets(bytes, holder).values()]
    return secrets.filter(isRecipientSecret).flatMap((held) =>
      recipientPackets
        .filter((packet) => algorithmIn(packet) === held.key.algorithm)
        .map(async (packet) => {
          const found = await unwrapWith(held, packet)
          return found.map((one) => ({ ...one, fingerprint }))
        }),
    )
  })
  return (await Promise.all(asked)).flat()
}

/** Signs a text in the open, as `Engine.signText`. @throws KeyHolderUnavailableError */
export async function signHeldText(
  text: string,
  { bytes, holder }: UnlockedKey & { holder: KeyHolder },
  atMs: number,
): Promise<string> {
  // the primary key is the first
  const [{ key, fingerprint } = {}] = readHeldSecrets(bytes, holder).values()
  if (key === undefined || fingerprint === undefined || !isSigningKey(key)) {
    throw new Error('a key of this kind signs no text')
  }
  const sign = (digest: Uint8Array) => signHeld({ key, fingerprint, holder }, digest)
  const over = Buffer.from(text.replaceAll(/[ \t]+$/gm, '').replaceAll('\n', '\r\n'))
  const packet = await writeSignature(
    { fingerprint, sign, algorithm: signatureAlgorithm(key.algorithm) },
    { type: TEXT, over, createdS: Math.floor(atMs / 1000) },
    [],
  )
  const escaped = text.replaceAll(/^-/gm, '- -')
  const begin = '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n'
  return `${begin}${escaped}\n${armorBlock('SIGNATURE', packet)}`
}
