import { z } from 'zod'
import { isObject } from './common.ts'

/** The names that the `limits` object of `GET /me` holds, with the values of the spec. */
export const LIMITS = {
  textMax: 4096,
  armoredMax: 131_072,
  keyboardRows: 20,
  buttonsPerRow: 8,
  buttonsTotal: 100,
  buttonTextMax: 64,
  callbackDataBytes: 64,
  urlMax: 1024,
  callbackAnswerMax: 200,
  callbackWindowMs: 60_000,
  pollTimeoutMaxS: 50,
  pollLimitMax: 100,
  sendsPerSecond: 30,
  sendsPerGroupPerMinute: 20,
  sendsPerPrivatePerSecond: 1,
  apiCallsPerMinute: 600,
} as const satisfies Record<string, number>

/** Limits that the spec states but that `/me` need not name. */
export const FIXED_LIMITS = {
  apiCallsPerAddressPerMinute: 1200,
  lookupsPerMinute: 60,
  missedLookupWeight: 5,
  typingIntervalMs: 3000,
  publicKeyMax: 65_536,
  markupBytes: 8192,
  commandsPerScope: 100,
  webhookUrlMax: 1024,
  webhookAnswerMs: 10_000,
  webhookBackoffFirstMs: 1000,
  webhookBackoffMaxMs: 3_600_000,
  webhookFailuresToNotify: 10,
  retentionMs: 72 * 3_600_000,
  retentionUpdates: 10_000,
  requestBytes: 256 * 1024,
  deliveredTextMax: 4000,
  mediaMaxBytes: 64 * 1024 * 1024,
} as const satisfies Record<string, number>

export type Limits = { -readonly [name in keyof typeof LIMITS]: number }

/**
 * Reads `/me`'s limits from its parsed object, each by itself: the service's value where it is a
 * whole number of at least 1, up to 16 times the spec's, else the spec's own, so that a poisoned
 * limit can neither silence the bot nor lift a bound.
 */
export function readLimits(reported: unknown): Limits {
  const values: Record<string, unknown> = isObject(reported) ? reported : {}
  const read = (name: keyof Limits): [string, number] => {
    const { data = LIMITS[name] } = Whole.safeParse(values[name])
    return [name, Math.min(data, MOST_TIMES * LIMITS[name])]
  }
  return Object.fromEntries(NAMES.map(read)) as Limits
}

const NAMES = Object.keys(LIMITS) as (keyof Limits)[]
/** How many times the spec's a limit counts for at most. */
export const MOST_TIMES = 16
const Whole = z.int().min(1)
