import type { Dispatcher } from 'undici'
import { NoResponseError, TooLargeAnswerError, type OwnCode } from '../errors.ts'
import { joined } from './headers.ts'

/** Why there is no usable answer, as far as repetitions depend on it. */
export type CallFailureKind =
  /** No byte of a response was received: refused, reset, no such host, no connection in time. */
  | 'unreached'
  /** The peer cannot prove to be the service; the token was not sent. */
  | 'untrusted'
  /** The connection ended within an answer. */
  | 'cut'
  /** Time ran out. */
  | 'late'
  /** Something answered that is not the service, or not in its language. */
  | 'unusable'
  /** The caller went away, or the sidecar is stopping. */
  | 'given-up'

export interface Failure {
  kind: CallFailureKind
  error: NoResponseError
  /** HTTP status of the response; null when none was read. */
  status: number | null
}

const NO_ENCODING = /^(identity)?$/i
const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])
const UNUSABLE = /^(?:UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH)/
/** Codes of Node and undici for a peer that cannot prove its identity. */
export const TLS_FAILURE =
  /^(?:CERT_|CRL_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO|UND_ERR_PRX_TLS)/

/**
 * The failure for an error of undici, of a socket or of TLS. Only its code is kept, never its
 * message: a parser's error carries unparsed bytes.
 * @param stage `before`: no complete header of an answer was read; `within`: it was
 */
export function failureOf(error: unknown, stage: 'before' | 'within'): Failure {
  const code = transportCodeOf(error)
  if (TIMEOUTS.has(code)) return late(code)
  if (UNUSABLE.test(code)) return unusable(code)
  if (code.startsWith('HPE_')) return unusable('no HTTP')
  const kind = TLS_FAILURE.test(code) ? 'untrusted' : stage === 'before' ? 'unreached' : 'cut'
  return failure(kind, 'postern_upstream_unreachable', code)
}

/** Time ran out. `detail` is a code or a few words of our own. */
export const late = (detail = ''): Failure => failure('late', 'postern_upstream_timeout', detail)

/** The response is not the service's. `detail` is our own text, without received bytes. */
export const unusable = (detail: string, status: number | null = null): Failure =>
  failure('unusable', 'postern_upstream_invalid', detail, status)

/** The response is beyond its bound, in bytes. */
export function tooLarge(maxBytes: number, status: number): Failure {
  const detail = `larger than ${maxBytes / 2 ** 20} MiB`
  return {
    kind: 'unusable',
    error: new TooLargeAnswerError('postern_upstream_invalid', detail),
    status,
  }
}

/** Nobody waits for the answer any more. */
export const givenUp = (): Failure =>
  failure('given-up', 'postern_upstream_timeout', 'the call was given up')

const failure = (
  kind: CallFailureKind,
  code: OwnCode,
  detail: string,
  status: number | null = null,
): Failure => ({ kind, error: new NoResponseError(code, detail), status })

/** The failure of a response that is unusable regardless of its body; null for any other. */
export function unusableByHead(
  status: number,
  headers: Dispatcher.ResponseData['headers'],
): Failure | null {
  if (status >= 300 && status < 400) return unusable('a redirect', status)
  if (!NO_ENCODING.test(joined(headers['content-encoding']))) {
    return unusable('an encoding that was not asked for', status)
  }
  return null
}

/**
 * The code of an error of undici, of a socket or of TLS: Node and undici put it on the error or on
 * its cause.
 * @returns `HPE_INVALID` for an error of undici's parser, which has a name and no code
 */
export function transportCodeOf(error: unknown): string {
  for (let at = error, depth = 0; depth < 4 && at instanceof Error; at = at.cause, depth++) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code
    if (at.name === 'HTTPParserError') return 'HPE_INVALID'
  }
  return 'no code'
}
