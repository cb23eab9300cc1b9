import type { UnlockedKey } from '../../openpgp/index.ts'
import type { RecordKind } from '../persistence/persistence.ts'
import type { KeyKind } from './library-keys.ts'
import { makeCommonKey } from './make-key.ts'

export type { KeyKind } from './library-keys.ts'

/** A phone's own key. */
export interface PhoneIdentity {
  certificate: string
  key: UnlockedKey
  kind: KeyKind
  /** Keys that it had before, newest first: they still open messages sealed to them. */
  former: UnlockedKey[]
}

/** All keys that open messages to a phone, the newest first. */
export const keysOf = ({ key, former }: PhoneIdentity): UnlockedKey[] => [key, ...former]

/** Kinds of key that a phone can have; the first is what phones usually make. */
export const PHONE_KEYS = [
  'curve25519',
  'x25519',
  'p256',
  'rsa3072',
  'expired',
  'revoked',
  'sign-only',
  'v6',
] as const satisfies readonly KeyKind[]

/** Keys are dated back, so that they do not lie in the future for a clock that is a little behind. */
const BACKDATED_MS = 300_000

/** A key for a new phone. `name` becomes its OpenPGP user id, `nowMs` is the time at the service. */
export async function newIdentity(o: {
  name: string
  kind: KeyKind
  nowMs: number
}): Promise<PhoneIdentity> {
  const { name, kind, nowMs } = o
  // the usual kind is made without openpgp.js, which is slow to load and large
  const makeKey =
    kind === 'curve25519' ? makeCommonKey : (await import('./library-keys.ts')).makeKey
  const createdMs = Math.min(Date.now(), nowMs) - BACKDATED_MS
  return { ...(await makeKey({ userId: name, kind, createdMs })), kind, former: [] }
}

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

function encodeKey(key: UnlockedKey): StoredKey {
  return { ...key, bytes: Buffer.from(key.bytes).toString('base64') }
}

function decodeKey(key: StoredKey): UnlockedKey {
  return { ...key, bytes: Buffer.from(key.bytes, 'base64') }
}
