import type { UnlockedKey } from '../../openpgp/index.ts'
import type { RecordKind } from '../persistence/persistence.ts'

export const DAY_MS = 86_400_000

/** How each is made, and for how long it is good where that is not for ever. */
export const KEY_KINDS = {
  /** As the bot's: Ed25519 and Curve25519 in the encodings that every program reads. */
  curve25519: { type: 'ecc', curve: 'curve25519Legacy' },
  /** Version 4 in the newer encodings (RFC 9580, 9.3), which older programs cannot read. */
  x25519: { type: 'curve25519' },
  /** As `curve25519`, and a subkey of ML-KEM-768+X25519 beside it, or that alone. */
  'ml-kem': { type: 'ecc', curve: 'curve25519Legacy' },
  'ml-kem-alone': { type: 'ecc', curve: 'curve25519Legacy', subkeys: [] as never[] },
  p256: { type: 'ecc', curve: 'nistP256' },
  rsa3072: { type: 'rsa', rsaBits: 3072 },
  /** Expired a day after it was made, which was two days ago. */
  expired: { type: 'ecc', curve: 'curve25519Legacy', keyExpirationTime: DAY_MS / 1000 },
  revoked: { type: 'ecc', curve: 'curve25519Legacy' },
  /** Signs, and has no subkey to encrypt to. */
  'sign-only': { type: 'ecc', curve: 'curve25519Legacy', subkeys: [] as never[] },
  /** Version 6 (RFC 9580, 5.5.2.3), which phones cannot use. */
  v6: { type: 'curve25519', config: { v6Keys: true } },
} as const

export type KeyKind = keyof typeof KEY_KINDS

/** Kinds of key that a phone can have; the first is what phones usually make. */
export const PHONE_KEYS = Object.keys(KEY_KINDS) as [KeyKind, ...KeyKind[]]

/** A phone's own key. */
export interface PhoneIdentity {
  certificate: string
  key: UnlockedKey
  kind: KeyKind
  /** Keys that it had before, newest first: they still open messages sealed to them. */
  former: UnlockedKey[]
  /** Nobody used the phone yet, so it shows nothing. */
  isUnused?: boolean
}

/** All keys that open messages to a phone, the newest first. */
export const keysOf = ({ key, former }: PhoneIdentity): UnlockedKey[] => [key, ...former]

type StoredKey = Omit<UnlockedKey, 'bytes'> & { bytes: string }

/** How a phone's keys are stored: unlocked, since only the file's owner can read it. */
export const IDENTITY_KIND: RecordKind<PhoneIdentity> = {
  name: 'phone',
  write: ({ key, former, ...rest }) => ({
    ...rest,
    key: encodeKey(key),
    former: former.map(encodeKey),
  }),
  read: (stored) => {
    const { key, former, ...rest } = stored as StoredIdentity
    return { ...rest, key: decodeKey(key), former: former.map(decodeKey) }
  },
}

type StoredIdentity = Omit<PhoneIdentity, 'key' | 'former'> & {
  key: StoredKey
  former: StoredKey[]
}

const encodeKey = (key: UnlockedKey): StoredKey => ({
  ...key,
  bytes: Buffer.from(key.bytes).toString('base64'),
})

const decodeKey = (key: StoredKey): UnlockedKey => ({
  ...key,
  bytes: Buffer.from(key.bytes, 'base64'),
})
