import { isOwnFailure, NoResponseError, Refusal, ServiceError } from '../../errors.ts'

/**
 * Why asking the service again soon may help: `busy`, our calls or the bot's are used up for now;
 * `failed`, it did not answer as it should.
 */
export type TransientError = 'busy' | 'failed'

/**
 * What a failed call of our own was, or null when the service answered.
 * @throws the error itself when it is no refusal, or a failure of Postern's own
 */
export function transientErrorOf(error: unknown): TransientError | null {
  if (error instanceof ServiceError) {
    if (error.status === 429) return 'busy'
    // asked only of what is known as protected: the service contradicts what it said
    if (error.code === 'chat_is_open') return 'failed'
    return error.status >= 500 ? 'failed' : null
  }
  if (error instanceof NoResponseError) return 'failed'
  if (!(error instanceof Refusal) || isOwnFailure(error)) throw error
  return error.code === 'postern_busy' ? 'busy' : null
}
