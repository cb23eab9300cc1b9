/**
 * Keys of the kinds that people have, good ones and those that nobody can seal to: for phones that
 * a sidecar is tried with. Runs in the calling thread.
 */
import { generateKey, revokeKey, type KeyOptions, type PrivateKey } from 'openpgp'
import { loadLibrary, type UnlockedKey } from '../../openpgp/index.ts'

const DAY_MS = 86_400_000

type KeyMaking = Omit<KeyOptions, 'userIDs' | 'date'>

/** How each is made, and for how long it is good where that is not for ever. */
const MAKING = {
  /** As the bot's: Ed25519 and Curve25519 in the encodings that every program reads. */
  curve25519: { type: 'ecc', curve: 'curve25519Legacy' },
  /** Version 4 in the newer encodings (RFC 9580, 9.3), which older programs cannot read. */
  x25519: { type: 'curve25519' },
  p256: { type: 'ecc', curve: 'nistP256' },
  rsa3072: { type: 'rsa', rsaBits: 3072 },
  /** Expired a day after it was made, which was two days ago. */
  expired: { type: 'ecc', curve: 'curve25519Legacy', keyExpirationTime: DAY_MS / 1000 },
  revoked: { type: 'ecc', curve: 'curve25519Legacy' },
  /** Signs, and has no subkey to encrypt to. */
  'sign-only': { type: 'ecc', curve: 'curve25519Legacy', subkeys: [] },
  /** Version 6 (RFC 9580, 5.5.2.3), which phones cannot use. */
  v6: { type: 'curve25519', config: { v6Keys: true } },
} as const satisfies Record<string, KeyMaking>

export type KeyKind = keyof typeof MAKING

/** Makes a key of a kind. `createdMs` is its date, but of an expired one it is two days before. */
export async function makeKey(o: {
  userId: string
  kind: KeyKind
  createdMs: number
}): Promise<{ certificate: string; key: UnlockedKey }> {
  const { unlockedFrom } = await loadLibrary()
  const options: KeyMaking = MAKING[o.kind]
  const { privateKey } = await generateKey({
    ...options,
    userIDs: [{ name: o.userId }],
    date: new Date(o.createdMs - (o.kind === 'expired' ? 2 * DAY_MS : 0)),
    format: 'object',
  })
  const certificate = o.kind === 'revoked' ? await revoked(privateKey) : privateKey.toPublic()
  return { certificate: certificate.armor(), key: unlockedFrom(privateKey) }
}

async function revoked(key: PrivateKey) {
  const { publicKey } = await revokeKey({ key, format: 'object' })
  return publicKey
}
