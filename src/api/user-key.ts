import { z } from 'zod'
import { isObject } from './common.ts'
import { FIXED_LIMITS } from './limits.ts'

const PUBLIC_KEY_BLOCK = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const WHOLE_BLOCK =
  /^\s*-----BEGIN PGP PUBLIC KEY BLOCK-----[ \t]*\r?\n[^]*\n-----END PGP PUBLIC KEY BLOCK-----\s*$/
const FINGERPRINT = /^[0-9A-Fa-f]{40}$|^[0-9A-Fa-f]{64}$/
const MAX_DEPTH = 4

/** A key record as it is written by us: the one way among the names that the spec leaves open. */
export interface UserKey {
  userId: number
  /** As listed, in lower case; null when the record lists none. Never believed. */
  fingerprint: string | null
  /** Unchanged ASCII-armored public key block; null when the record holds none, or several. */
  publicKey: string | null
}

/** Result of `GET /chats/{chatId}/keys`. `memberCount` is for groups only. */
export const ChatKeys = z.looseObject({
  keys: z.array(z.looseObject({})),
  memberCount: z.int().optional(),
})

/**
 * Reads a key record under any field names (spec, Open points): the certificate is any
 * armored public key block in it, the id is `userId` or `user.id`, else `id`, which beside either
 * may be the record's own.
 * Gives null when it names nobody, or two people.
 */
export function readUserKey(record: unknown): UserKey | null {
  if (!isObject(record)) return null
  const user = record['user']
  const named = [record['userId'], isObject(user) ? user['id'] : undefined].filter(isId)
  const [userId = isId(record['id']) ? record['id'] : undefined, other = userId] = named
  const found = new Set<string>()
  collect(record, found, 0)
  if (userId === undefined || other !== userId) return null
  const publicKey = found.size === 1 ? ([...found][0] ?? null) : null
  return { userId, fingerprint: listedFingerprint(record), publicKey }
}

const isId = (id: unknown): id is number => Number.isSafeInteger(id)

function collect(value: unknown, found: Set<string>, depth: number): void {
  if (typeof value === 'string') {
    if (value.includes(PUBLIC_KEY_BLOCK)) found.add(value)
  } else if (depth < MAX_DEPTH && typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) collect(inner, found, depth + 1)
  }
}

function listedFingerprint(value: unknown, depth = 0): string | null {
  if (!isObject(value) || depth > MAX_DEPTH) return null
  const own = value['fingerprint']
  if (typeof own === 'string' && FINGERPRINT.test(own)) return own.toLowerCase()
  const inner = Object.values(value).map((one) => listedFingerprint(one, depth + 1))
  return inner.find((one) => one !== null) ?? null
}

/**
 * Body of `PUT /key`, with the spec's limit by default. The service does not verify the fingerprint.
 * Further fields are not ruled out.
 */
export const putKeyOf = ({ publicKeyMax }: { publicKeyMax: number } = FIXED_LIMITS) =>
  z.looseObject({
    publicKey: z
      .string()
      .max(publicKeyMax)
      .regex(WHOLE_BLOCK, 'must be an armored public key block')
      .describe('armored OpenPGP certificate'),
    fingerprint: z.string().regex(FINGERPRINT, 'must be 40 or 64 hexadecimal characters'),
  })
