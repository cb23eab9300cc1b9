import { FIXED_LIMITS } from '../api/limits.ts'

/** Every bound of the door to the service. Times in milliseconds, sizes in bytes. */
export interface UpstreamLimits {
  /** An ordinary call in all: waiting for its turn, connecting, retries and the whole body. */
  callMs: number
  /** The first attempt of a send, so that a second one still fits. */
  sendFirstMs: number
  /** A send in all, below what a bot usually waits. */
  sendTotalMs: number
  /** What a long poll may take beyond the `timeout` that was asked for. */
  pollSlackMs: number
  /** Making one connection, TLS included. */
  connectMs: number
  /** The longest that a connection without a call is kept: the next look at `/me` makes another. */
  idleMs: number
  /** Silence within a body. */
  stallMs: number
  /** The pause before a repeated attempt. */
  retryPauseMs: number
  /** The window over which the sidecar's own calls are counted. */
  budgetWindowMs: number
  /** Connections at a time, for calls and for polls. */
  connections: number
  pollConnections: number
  /** A stored attachment in all, to its last byte. */
  mediaMs: number
  /** Connections at a time for attachments. */
  mediaConnections: number
  /** A stored attachment: what clients accept, and what sealing and padding add to it. */
  maxMediaBytes: number
  /** An answer's body. */
  maxBytes: number
  /** The body of updates and of key lists. */
  maxListBytes: number
  /** An answer's header lines. */
  maxHeaderBytes: number
}

/** What holds unless a test says otherwise. */
export const UPSTREAM_LIMITS: Readonly<UpstreamLimits> = {
  callMs: 30_000,
  sendFirstMs: 14_000,
  sendTotalMs: 29_000,
  pollSlackMs: 10_000,
  connectMs: 10_000,
  idleMs: 8000,
  stallMs: 10_000,
  retryPauseMs: 200,
  budgetWindowMs: 60_000,
  connections: 32,
  pollConnections: 4,
  mediaMs: 75_000,
  mediaConnections: 8,
  maxMediaBytes: FIXED_LIMITS.mediaMaxBytes + 4 * 2 ** 20,
  maxBytes: 2 ** 20,
  maxListBytes: 16 * 2 ** 20,
  maxHeaderBytes: 16_384,
}
