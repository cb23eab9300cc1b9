/** One attempt at publishing a key: mark, publish, confirm by `/me`, promote (DESIGN: Keys). */
import type { Bot } from '../api/bot.ts'
import { ServiceError } from '../errors.ts'
import type { Keyring } from '../kernel/own-key/keyring.ts'
import type { ReadyKey } from '../kernel/own-key/own-key.ts'
import { fingerprintOf } from './publication-status.ts'

/** The calls that publication makes; all throw ServiceError and NoResponseError. */
export interface PublicationCalls {
  me(): Promise<Bot>
  /** @param requireAllowed asked when it is written; throws what keeps it from leaving */
  putKey(
    key: { publicKey: string; fingerprint: string },
    requireAllowed?: () => void,
  ): Promise<void>
}

export type PublishPhase = 'publishing' | 'confirming'

export interface PublishKeyParts {
  keyring: Keyring
  calls: PublicationCalls
  /** Ends the attempt; a key that the service may know by then stays marked. */
  signal: AbortSignal
  phase: (phase: PublishPhase) => void
}

/**
 * The result. `confirmed`: shown, and ours is promoted. `refused`: the service refused it, and
 * did not learn the key by this attempt. `unanswered`: it may or may not have been taken.
 * `unconfirmed`: it was taken and is not shown.
 */
export type PublishOutcome =
  | { kind: 'confirmed' }
  | { kind: 'refused' | 'unanswered'; error: unknown; shown: Shown }
  | { kind: 'unconfirmed'; shown: Shown }

/** What `/me` showed last, lower case or null; undefined when it could not be asked. */
export type Shown = string | null | undefined

type Put = { taken: 'yes' } | { taken: 'no' | 'unknown'; error: unknown }

/** Pauses before each look at `/me`, in ms: a service may show a key later than it takes it. */
const LOOKS_MS = {
  yes: [0, 250, 500, 1000, 2000, 4000, 4000, 4000],
  unknown: [0, 500, 1500],
  no: [0],
}
/** After a lost answer the same key is published once more. */
const PUTS = 2

/**
 * Publishes a key to the service; calling it again with the same key is safe.
 * @param before what `/me` showed before the attempt
 * @throws Refusal `postern_store_unwritable`: before the publication when it cannot be marked, and
 *   after it when the promotion cannot be recorded; the signal's reason
 */
export async function publishKey(
  key: ReadyKey,
  before: string | null,
  parts: PublishKeyParts,
): Promise<PublishOutcome> {
  const { keyring, signal } = parts
  signal.throwIfAborted()
  const isNew = key.offeredAtMs === null
  if (isNew) await keyring.markOffered(key.fingerprint, Date.now())
  let outcome: PublishOutcome = { kind: 'unconfirmed', shown: undefined }
  let wasLost = false
  for (let turn = 0; turn < PUTS; turn++) {
    const result = await put(key, parts)
    const shown = await look(key, before, { taken: result.taken, parts })
    if (shown === key.fingerprint) {
      await keyring.promote(key.fingerprint)
      return { kind: 'confirmed' }
    }
    if (result.taken === 'yes') return { kind: 'unconfirmed', shown }
    wasLost ||= result.taken === 'unknown'
    outcome = { kind: wasLost ? 'unanswered' : 'refused', error: result.error, shown }
    if (result.taken === 'no' || shown !== before) break
  }
  if (outcome.kind === 'refused' && isNew) await keyring.markOffered(key.fingerprint, null)
  return outcome
}

async function put(key: ReadyKey, { calls, phase, signal }: PublishKeyParts): Promise<Put> {
  phase('publishing')
  try {
    await calls.putKey({ publicKey: key.certificate, fingerprint: key.fingerprint })
    return { taken: 'yes' }
  } catch (error) {
    signal.throwIfAborted()
    const isRefused = error instanceof ServiceError && error.status < 500
    return { taken: isRefused ? 'no' : 'unknown', error }
  }
}

/** Looks until the key is shown, or something that is neither it nor what was there before. */
async function look(
  key: ReadyKey,
  before: string | null,
  { taken, parts }: { taken: Put['taken']; parts: PublishKeyParts },
): Promise<Shown> {
  parts.phase('confirming')
  let shown: Shown
  for (const waitMs of LOOKS_MS[taken]) {
    await pause(waitMs, parts.signal)
    try {
      shown = fingerprintOf(await parts.calls.me())
    } catch (error) {
      parts.signal.throwIfAborted()
      shown = undefined
      if (error instanceof ServiceError && error.status < 500) return shown
      continue
    }
    if (shown === key.fingerprint || shown !== before) return shown
  }
  return shown
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (ms === 0) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const end = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', end)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
