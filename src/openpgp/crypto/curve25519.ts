/** X25519 by node:crypto (RFC 7748). Each function needs some forty microseconds. */
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import { countedCache } from '../../util/caches.ts'
import type { Ephemeral, RecipientAlgorithm } from './algorithm.ts'

/** Bytes of a public point. */
export const POINT_BYTES = 32
/** Keys that are kept, at some 700 bytes each: those of the two largest groups. */
const KEPT = 2000

/** Makes a pair that nobody had before. */
export function freshPair(): Ephemeral {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  return { secret: privateKey, point: publicKey.export({ format: 'raw-public' }) }
}

/** Pairs made ahead in this thread, each for one recipient of one message. */
const pairs: Ephemeral[] = []
/** Over half of the pairs for a message to the largest group, whose wrapping threads share. */
const PAIRS_MAX = 640
/** Some milliseconds of work. */
const PAIRS_STEP = 64

/** Gives a pair that was made ahead, or makes one. */
export const takePair = (): Ephemeral => pairs.pop() ?? freshPair()

/** Makes some pairs ahead. @returns whether there is room for more */
export function refillEphemerals(): boolean {
  for (let made = 0; made < PAIRS_STEP && pairs.length < PAIRS_MAX; made++) pairs.push(freshPair())
  return pairs.length < PAIRS_MAX
}

/**
 * Gives the 32 bytes that two keys share; to be zeroed after use.
 * @param point of the other one, 32 bytes
 * @throws Error for a point of low order, whose shared secret would be no secret
 */
export function agree(secret: KeyObject, point: Uint8Array): Buffer {
  return diffieHellman({ privateKey: secret, publicKey: rawPublicKey(point, 'x25519') })
}

/** The same for a point that somebody sent; null for one of low order. */
export function agreeWith(secret: KeyObject, point: Uint8Array): Buffer | null {
  try {
    return agree(secret, point)
  } catch {
    return null
  }
}

/** As `agree`, for a point that is likely to recur: the parsed public key is cached. */
export function agreeAgain(secret: KeyObject, point: Uint8Array): Buffer {
  // The cheapest string there is of them.
  const name = bufferOf(point).toString('latin1')
  let publicKey = read.get(name)
  if (publicKey === undefined) {
    publicKey = rawPublicKey(point, 'x25519')
    read.set(name, publicKey)
  }
  return diffieHellman({ privateKey: secret, publicKey })
}

/** Parsed keys of recipients, who usually recur. */
const read = countedCache<string, KeyObject>(KEPT)

/** Points of low order, with the highest bit cleared, which X25519 ignores (RFC 7748, 5 and 7). */
const LOW_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

/** Whether a public point is one that nothing may be sealed to. */
export function isLowOrder(point: Uint8Array): boolean {
  const masked = Buffer.from(point)
  masked[31] = (masked[31] ?? 0) & 0x7f
  return LOW_ORDER.has(masked.toString('hex'))
}

/** The 32 bytes of a secret key's public one. */
export function publicOf(secret: KeyObject): Buffer {
  return createPublicKey(secret).export({ format: 'raw-public' })
}

/** Members shared by both encodings of keys on the curve. */
export const CURVE25519_KEYS = {
  isComposite: false,
  publicBytes: POINT_BYTES,
  isSound: (point) => !isLowOrder(point),
  ephemeral: takePair,
  agree: ({ ephemeral }, secret) => agreeWith(secret, ephemeral),
  publicOf,
} satisfies Partial<RecipientAlgorithm>

/** Algorithms on the curve, as node:crypto names them. */
type Curve25519Algorithm = 'x25519' | 'ed25519'

/** @param key 32 secret bytes: a scalar, little-endian, or a seed */
export const rawSecretKey = (key: Uint8Array, asymmetricKeyType: Curve25519Algorithm): KeyObject =>
  createPrivateKey({ key: bufferOf(key), format: 'raw-private', asymmetricKeyType })

/** A public key from any 32 bytes, in some ten microseconds. */
export function rawPublicKey(point: Uint8Array, algorithm: Curve25519Algorithm): KeyObject {
  const key = bufferOf(point)
  return withoutTraces(() =>
    createPublicKey({ key, format: 'raw-public', asymmetricKeyType: algorithm }),
  )
}

/**
 * node:crypto detects the type of its input by trying, and catches the errors: most of the time
 * would be spent on stack traces that nobody ever reads.
 */
function withoutTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  // Unlike an assignment, this throws nothing where the limit is frozen.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return work()
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }
}
