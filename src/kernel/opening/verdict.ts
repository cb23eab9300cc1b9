/** The results of opening, and which of them are delivered. */
import { isOwnFailure, NoResponseError, Refusal, ServiceError } from '../../errors.ts'
import type { Engine, SignatureDoubt } from '../../openpgp/index.ts'
import type { Distrust } from '../people/trust.ts'

/** Every verdict, and the settings of `open.verify` that deliver its text; `locked` is a former one. */
export const VERDICTS = {
  verified: { flag: true, require: true, off: true },
  unsigned: { flag: true, require: false, off: true },
  'before-key': { flag: true, require: false, off: true },
  'unknown-signer': { flag: false, require: false, off: true },
  'signer-unavailable': { flag: false, require: false, off: true },
  'bad-signature': { flag: false, require: false, off: true },
  replayed: { flag: false, require: false, off: true },
  'plaintext-in-protected': { flag: false, require: false, off: true },
  'not-recipient': { flag: false, require: false, off: false },
  damaged: { flag: false, require: false, off: false },
  'too-large': { flag: false, require: false, off: false },
  locked: { flag: false, require: false, off: false },
  'mode-unknown': { flag: false, require: false, off: false },
} as const satisfies Record<string, Record<VerifyPolicy, boolean>>

/** Setting `open.verify`. */
export type VerifyPolicy = 'flag' | 'require' | 'off'
export type Verdict = keyof typeof VERDICTS

type EngineResult = Awaited<ReturnType<Engine['open'] | Engine['openFile']>>
/** Why the engine did not open something, or no signature counts. */
type EngineReason =
  SignatureDoubt | NonNullable<Exclude<EngineResult, { outcome: 'opened' }>['reason']>

/** Why a verdict is what it is: `translate/reasons` describes each for people. */
export type Reason =
  | Distrust
  | EngineReason
  // verified or unsigned
  | 'former-certificate'
  | 'not-for-all'
  | 'readable-chat'
  | 'shared-certificate'
  | 'signed-long-before'
  // not by the sender
  | 'audience-unavailable'
  | 'must-sign'
  | 'no-from'
  | 'other-person'
  | 'own-key'
  | 'stopped-signing'
  | 'unsigned'
  // replayed
  | 'confirmed-before'
  | 'older-than-memory'
  | 'other-audience'
  | 'other-chat'
  | 'other-data-before'
  | 'own-words'
  // closed
  | 'approval-request'
  | 'intended-for-others'
  | 'is-a-file'
  | 'no-message-id'
  | 'not-a-string'
  | 'not-encrypted'
  | 'too-many-messages'

/** A verdict, its reason, and why another request to the service may change it soon. */
export interface Reasoned {
  verdict: Verdict
  reason?: Reason
  transientError?: TransientError
}

export function delivers({ verdict, reason }: Reasoned, policy: VerifyPolicy): boolean {
  const isHeldBack = reason === 'signed-long-before' && policy === 'require'
  return VERDICTS[verdict][policy] && !isHeldBack
}

/**
 * Why asking the service again soon may help: `busy`, our calls or the bot's are used up for now;
 * `failed`, it did not answer as it should.
 */
export type TransientError = 'busy' | 'failed'

/**
 * The verdict where a call of our own failed.
 * @throws the error itself when it is no refusal, or a failure of Postern's own
 */
export function withTransientError<T extends Reasoned>(judged: T, error: unknown): T {
  const transientError = transientErrorOf(error)
  return transientError === null ? judged : { ...judged, transientError }
}

/**
 * The kind of a failed call of our own, or null when the service answered.
 * @throws as `withTransientError` does
 */
export function transientErrorOf(error: unknown): TransientError | null {
  if (error instanceof ServiceError) {
    if (error.status === 429) return 'busy'
    // requested only for a chat known as protected: the service contradicts itself
    if (error.code === 'chat_is_open') return 'failed'
    return error.status >= 500 ? 'failed' : null
  }
  if (error instanceof NoResponseError) return 'failed'
  if (!(error instanceof Refusal) || isOwnFailure(error)) throw error
  return error.code === 'postern_busy' ? 'busy' : null
}
