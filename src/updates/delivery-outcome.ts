/** What came of a delivery. */
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
  /** Somebody is there who cannot prove to be the host; nothing was sent. */
  | 'untrusted'
  /** What came back is no HTTP. */
  | 'unreadable'
  /** The url leads where no webhook may be. */
  | 'not-allowed'
  /** We ended it ourselves. */
  | 'abandoned'

const TLS =
  /^(?:CERT_|CRL_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/

/** Codes of undici for what Node has a code for: operators know Node's. */
const NODE_CODES: Record<string, string> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'HPE_UNEXPECTED_CONTENT_LENGTH',
  // what the parser asserts of a status line
  ERR_ASSERTION: 'HPE_INVALID_STATUS',
}

/** What the status of the bot's answer means. */
export function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  if (status >= 300 && status < 400) {
    return { kind: 'redirected', message: `the bot redirected (${status})` }
  }
  return { kind: 'refused', message: `the bot answered ${status}` }
}

/**
 * What an error of a socket, of TLS or of the HTTP parser means. Only its code is kept: a parser's
 * message may carry what it could not read.
 */
export function toDeliveryFailure(error: unknown): DeliveryFailure {
  const code = codeOf(error)
  if (TLS.test(code)) return { kind: 'untrusted', message: `the bot’s certificate: ${code}` }
  if (code.startsWith('HPE_')) return { kind: 'unreadable', message: `no HTTP answer: ${code}` }
  return { kind: 'unreachable', message: `the connection failed: ${code}` }
}

/** An error's code when it is one; it may stand on the cause. */
function codeOf(error: unknown): string {
  for (let at = error, depth = 0; depth < 4 && at instanceof Error; at = at.cause, depth++) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) {
      return NODE_CODES[code] ?? code
    }
    // undici's parser gives its errors a name, and no code
    if (at.name === 'HTTPParserError') return 'HPE_INVALID'
  }
  return 'no code'
}
