/** The kinds of keys that are used natively, by their numbers; a new one is added here. */
import type {
  NativePublicKey,
  RecipientAlgorithm,
  RecipientKey,
  SignatureAlgorithm,
  SigningKey,
} from './algorithm.ts'
import { ECDH } from './ecdh.ts'
import { ED25519, EDDSA_LEGACY } from './ed25519.ts'
import { ML_KEM_768_X25519 } from './ml-kem.ts'
import { X25519 } from './x25519.ts'

const RECIPIENT_ALGORITHMS: readonly RecipientAlgorithm[] = [ECDH, X25519, ML_KEM_768_X25519]
const SIGNATURE_ALGORITHMS: readonly SignatureAlgorithm[] = [EDDSA_LEGACY, ED25519]

/** Greatest length of a public key that signs. */
export const SIGNING_POINT_BYTES = longest(SIGNATURE_ALGORITHMS)

const recipients = byId(RECIPIENT_ALGORITHMS)
const signatures = byId(SIGNATURE_ALGORITHMS)

/** The kind of key with a number; null where nothing is sealed to such keys natively. */
export const findRecipientAlgorithm = (id?: number): RecipientAlgorithm | null =>
  recipients.get(id) ?? null

/** The kind of key with a number; null where such signatures are not verified natively. */
export const findSignatureAlgorithm = (id?: number): SignatureAlgorithm | null =>
  signatures.get(id) ?? null

/** @throws Error for an algorithm that is not sealed to natively */
export const recipientAlgorithm = (id: number): RecipientAlgorithm => needed(recipients.get(id))

/** @throws Error for an algorithm that is not verified natively */
export const signatureAlgorithm = (id: number): SignatureAlgorithm => needed(signatures.get(id))

function needed<A>(found: A | undefined): A {
  if (found === undefined) throw new Error('algorithm')
  return found
}

/** The kind of a key. */
export function algorithmOf({
  algorithm,
}: NativePublicKey): RecipientAlgorithm | SignatureAlgorithm {
  return findRecipientAlgorithm(algorithm) ?? signatureAlgorithm(algorithm)
}

export function isRecipientKey(key: NativePublicKey | null): key is RecipientKey {
  return recipients.has(key?.algorithm)
}

export function isSigningKey(key: NativePublicKey | null): key is SigningKey {
  return signatures.has(key?.algorithm)
}

function longest(algorithms: readonly { publicBytes: number }[]): number {
  return Math.max(...algorithms.map(({ publicBytes }) => publicBytes))
}

function byId<A extends { id: number }>(
  algorithms: readonly A[],
): ReadonlyMap<number | undefined, A> {
  return new Map(algorithms.map((one) => [one.id, one]))
}
