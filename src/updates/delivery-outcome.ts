import { TLS_FAILURE, transportCodeOf } from '../service/errors.ts'

/** The result of a delivery. */
export type DeliveryOutcome = { kind: 'delivered'; status: number } | DeliveryFailure

/** Why a delivery failed. `message` is shown to the bot and to the operator; it holds no url. */
export interface DeliveryFailure {
  kind: DeliveryFailureKind
  message: string
}

export type DeliveryFailureKind =
  /** The bot answered, and not with a 2xx. */
  | 'refused'
  | 'redirected'
  /** No answer within 10 seconds. */
  | 'late'
  /** No connection, or one that ended before an answer. */
  | 'unreachable'
  /** The peer cannot prove to be the host; nothing was sent. */
  | 'untrusted'
  /** The response is not HTTP. */
  | 'unreadable'
  /** The url leads where no webhook may be. */
  | 'not-allowed'
  /** We ended it ourselves. */
  | 'abandoned'

/** Codes of undici for errors that Node has a code for: operators know Node's. */
const NODE_CODES: Record<string, string> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'HPE_UNEXPECTED_CONTENT_LENGTH',
  // the parser's assertion about a status line
  ERR_ASSERTION: 'HPE_INVALID_STATUS',
}

/** The outcome of a delivery by the status of the bot's answer. */
export function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  if (status >= 300 && status < 400) {
    return { kind: 'redirected', message: `the bot redirected (${status})` }
  }
  return { kind: 'refused', message: `the bot answered ${status}` }
}

/**
 * The outcome of an error of a socket, of TLS or of the HTTP parser. Only its code is kept: a
 * parser's message may contain unparsed bytes.
 */
export function toDeliveryFailure(error: unknown): DeliveryFailure {
  const found = transportCodeOf(error)
  const code = NODE_CODES[found] ?? found
  if (TLS_FAILURE.test(code))
    return { kind: 'untrusted', message: `the bot’s certificate: ${code}` }
  if (code.startsWith('HPE_')) return { kind: 'unreadable', message: `no HTTP answer: ${code}` }
  return { kind: 'unreachable', message: `the connection failed: ${code}` }
}
