import type { Dispatcher } from 'undici'
import { unusable, type Failure } from './errors.ts'
import { joined } from './headers.ts'

const NO_ENCODING = /^(identity)?$/i

/** Why an answer is of no use whatever its body says; null when it may be. */
export function refuse(
  status: number,
  headers: Dispatcher.ResponseData['headers'],
): Failure | null {
  if (status >= 300 && status < 400) return unusable('a redirect', status)
  if (!NO_ENCODING.test(joined(headers['content-encoding']))) {
    return unusable('an encoding that was not asked for', status)
  }
  return null
}
