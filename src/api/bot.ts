import { hash } from 'node:crypto'
import { z } from 'zod'
import { int, perhaps } from './common.ts'
import { ChatMode } from './chat.ts'

/** The bot's own webhook as `/me` shows it. */
const BotWebhook = z.looseObject({
  url: z.string().nullable(),
  hasSecret: z.boolean(),
  failures: int,
  lastError: z.string().nullable(),
})

/**
 * Result of `GET /me`. `mode` is `protected` when a key is published, and `fingerprint` is that
 * key's; both are the service's claim. Only the fields that decisions depend on are required.
 */
export const Bot = z.looseObject({
  id: int,
  username: perhaps(z.string()),
  mode: ChatMode,
  fingerprint: z.string().nullish(),
  status: perhaps(z.string()),
  webhook: perhaps(BotWebhook),
  queued: perhaps(int),
  limits: z.unknown().optional(),
})
export type Bot = z.infer<typeof Bot>

/** `<prefix>_<bot_id>.<43 characters>` (spec, Authentication 2). */
const TOKEN = /^[A-Za-z0-9]+_(\d{1,16})\.[A-Za-z0-9_-]{43}$/

/** The bot id that a token names, or null when it does not have a token's shape. */
export function botIdOf(token: string): number | null {
  const match = TOKEN.exec(token)
  return match === null ? null : Number(match[1])
}

/**
 * The token in an Authorization header, or null. The scheme is compared without regard to case
 * (RFC 9110, 11.1); the token is returned unchanged, after one space.
 */
export function bearerOf(header: string | undefined): string | null {
  const match = /^bearer ([\x21-\x7e]+)$/i.exec(header ?? '')
  return match?.[1] ?? null
}

/** How the token of every client of the bot's door begins; 256 random bits in base64url follow. */
export const CLIENT_TOKEN_PREFIX = 'pstn_'

/**
 * The SHA-256 of a client's token, hexadecimal, by which the client is found: of a random token it
 * shows nothing, neither in a store nor by the time of a look-up.
 */
export const tokenHashOf = (token: string): string => hash('sha256', token, 'hex')

const OF_CERTIFICATE = 'certificate '

/**
 * How a client with a TLS certificate is found.
 * @param fingerprint its SHA-256 in hexadecimal of either case, with or without colons
 */
export const certificateCredential = (fingerprint = ''): string =>
  OF_CERTIFICATE + fingerprint.replaceAll(':', '').toLowerCase()

/** The fingerprint in a credential; null for that of a token. */
export const certificateIn = (credential: string): string | null =>
  credential.startsWith(OF_CERTIFICATE) ? credential.slice(OF_CERTIFICATE.length) : null
