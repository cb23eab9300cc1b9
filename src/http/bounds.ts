/** Every bound of a local door, each with its reason (SECURITY 2.2). Times in ms, sizes in bytes. */
export const DOOR_BOUNDS = {
  /**
   * From the connection, or the last answer's follow-up, to the end of the headers. A local bot
   * sends its headers in one piece; this is for the one that never ends them.
   */
  headersMs: 10_000,
  /**
   * From the first byte to the last of a request. 256 KiB over loopback need milliseconds; a
   * stopped debugger gets some seconds.
   */
  requestMs: 20_000,
  /**
   * How often Node checks for connections that exceeded the two above. Each check wakes an idle
   * process.
   */
  checkMs: 10_000,
  /**
   * How long an idle connection is kept for the next request. Above the 60 s after which common
   * clients drop idle connections, so that they are the first.
   */
  keepAliveMs: 65_000,
  /**
   * How long a connection may be without any byte, either way. Longer than the longest poll with
   * its margin, in which nothing moves.
   */
  silenceMs: 360_000,
  /**
   * From the end of the headers to our answer. A poll of 300 s, 10 s for the service's margin, 15 s
   * to open the updates, and a margin.
   */
  answerMs: 340_000,
  /** Time limit of requests under way once the door is closing. */
  drainMs: 10_000,
  /** A bot opens one connection for each call under way; 600 calls a minute need far fewer. */
  connections: 256,
  /** Lets a restarted balancer or client spread again; a bot notices nothing. */
  requestsPerConnection: 1000,
  headerBytes: 16_384,
  headerLines: 100,
  /** The longest path of the API has under 100 characters; queries carry three numbers. */
  pathChars: 2048,
  /** The service's own limit (spec, Limits). */
  bodyBytes: 262_144,
}

/** The bounds, with those that a test sets otherwise. */
export type DoorBounds = Readonly<typeof DOOR_BOUNDS>
