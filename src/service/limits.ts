import { FIXED_LIMITS, LIMITS } from '../api/limits.ts'

/** Whole MiB for so many characters, of which a serializer may escape some (line ends, `/`, `+`). */
const inJson = (chars: number): number => Math.ceil((chars * 1.25) / 2 ** 20) * 2 ** 20

/** Every bound of the door to the service. Times in milliseconds, sizes in bytes. */
export const UPSTREAM_LIMITS = {
  /** An ordinary call in all: waiting for its turn, connecting, retries and the whole body. */
  callMs: 30_000,
  /** The first attempt of a send, so that a second one still fits. */
  sendFirstMs: 14_000,
  /** Time limit of a whole send, below the usual one of bots. */
  sendTotalMs: 29_000,
  /** Time limit of a long poll beyond its `timeout`. */
  pollSlackMs: 10_000,
  /** Making one connection, TLS included. */
  connectMs: 10_000,
  /** Idle time after which a connection is closed: the next check of `/me` makes another. */
  idleMs: 8000,
  /** Silence within a body. */
  stallMs: 10_000,
  /** The pause before a repeated attempt. */
  retryPauseMs: 200,
  /** The window over which the sidecar's own calls are counted. */
  budgetWindowMs: 60_000,
  /** Connections at a time, for calls and for polls. */
  connections: 32,
  pollConnections: 4,
  /** The same for the checks of all bots at rest. */
  checkConnections: 8,
  /** A stored attachment in all, to its last byte. */
  mediaMs: 75_000,
  /** Connections at a time for attachments. */
  mediaConnections: 8,
  /** Bytes of a stored attachment: the maximum of clients, with the overhead of sealing and padding. */
  maxMediaBytes: FIXED_LIMITS.mediaMaxBytes + 4 * 2 ** 20,
  /** An answer's body. */
  maxBytes: 2 ** 20,
  /** That of updates: each message with the one that it quotes. */
  maxUpdatesBytes: inJson(LIMITS.pollLimitMax * 2 * (LIMITS.armoredMax + FIXED_LIMITS.markupBytes)),
  /** That of a key list: more people than one message can be sealed to, with typical keys. */
  maxKeysBytes: inJson(900 * FIXED_LIMITS.publicKeyMax),
  /** An answer's header lines. */
  maxHeaderBytes: 16_384,
}

/** The bounds, with those that a test sets otherwise. */
export type UpstreamLimits = Readonly<typeof UPSTREAM_LIMITS>
