/** Why a delivery failed. `message` is shown to the bot and to the operator; it holds no url. */
export interface DeliveryFailure {
  kind: FailureKind
  message: string
}

export type FailureKind =
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

/** What an error of a socket, of TLS or of the HTTP parser means. Only its code is kept. */
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
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code
  }
  return 'no code'
}
