/** The next message of each place, prepared except for its text: in memory alone, and not for long. */
import { setImmediate as immediate } from 'node:timers/promises'
import { sizedCache } from '../../util/caches.ts'
import { destroyPrepared, preparedBytes, type PreparedMessage } from './prepared-message.ts'
import type { PrepareRequest, RecipientPackets } from './recipient-packets.ts'

export interface PrecomputeBounds {
  /** Bytes of all prepared messages together. */
  maxBytes: number
  /** How long one waits. */
  keepMs: number
}

interface HeldMessage {
  name: string
  prepared: PreparedMessage
  isTaken: boolean
}

/**
 * One prepared message a place at most. `take` gives it once, for exactly the name that it was
 * prepared for; any other name destroys it.
 */
export class PreparedMessages {
  readonly #held: ReturnType<typeof sizedCache<HeldMessage>>

  constructor({ maxBytes, keepMs }: PrecomputeBounds) {
    this.#held = sizedCache(maxBytes, {
      ttl: keepMs,
      // The exact time, and an end for one that nobody asks for any more.
      perf: { now: () => performance.now() },
      ttlResolution: 0,
      ttlAutopurge: true,
      dispose: ({ prepared, isTaken }) => isTaken || destroyPrepared(prepared),
    })
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.#held.calculatedSize
  }

  /** Whether a prepared message of that name is held for a place. */
  has(place: string, name: string): boolean {
    return this.#held.peek(place)?.name === name
  }

  /** Removes and gives the prepared message. The caller must use or destroy it. */
  take(place: string, name: string): PreparedMessage | null {
    const held = this.#held.get(place)
    if (held !== undefined) held.isTaken = held.name === name
    this.#held.delete(place)
    return held?.isTaken === true ? held.prepared : null
  }

  /** Holds a prepared message under a name, in place of the earlier one. */
  put(place: string, name: string, prepared: PreparedMessage): void {
    this.#held.set(place, { name, prepared, isTaken: false }, { size: preparedBytes(prepared) })
    if (!this.#held.has(place)) destroyPrepared(prepared)
  }

  /** Destroys all, or the prepared messages of places that begin alike. */
  clear(start = ''): void {
    const places = [...this.#held.keys()].filter((place) => place.startsWith(start))
    for (const place of places) this.#held.delete(place)
  }
}

export interface PrecomputerParts {
  packets: RecipientPackets
  bounds: PrecomputeBounds
  /** Called when the next message of a place is ready except for its text. */
  onPrepared: (place: string) => void
}

/** Places that wait for their next message to be prepared. */
const REQUESTS_MAX = 64

export class Precomputer {
  readonly #parts: PrecomputerParts
  readonly #ready: PreparedMessages
  readonly #requests = new Map<string, PrepareRequest>()
  #isMaking = false
  #isClosed = false

  constructor(parts: PrecomputerParts) {
    this.#parts = parts
    this.#ready = new PreparedMessages(parts.bounds)
  }

  /**
   * Gives the message prepared for exactly this request; destroys any other of the place.
   * @returns null when there is none
   */
  take(place: string, request: PrepareRequest): PreparedMessage | null {
    return this.#ready.take(place, nameOf(request))
  }

  /** Has the next one for a place made, when nobody waits for anything. */
  request(place: string, request: PrepareRequest): void {
    this.#requests.delete(place)
    if (this.#isClosed) return
    this.#requests.set(place, request)
    for (const oldest of this.#requests.keys()) {
      if (this.#requests.size <= REQUESTS_MAX) break
      this.#requests.delete(oldest)
    }
    // oxlint-disable-next-line typescript/no-floating-promises -- a failed preparation is repeated by the send
    if (!this.#isMaking) void this.#makeAll()
  }

  /** Destroys all that was made, and makes nothing that was requested, for places that begin alike. */
  clear(start = ''): void {
    for (const place of this.#requests.keys())
      if (place.startsWith(start)) this.#requests.delete(place)
    this.#ready.clear(start)
  }

  /** The same, for good. */
  close(): void {
    this.#isClosed = true
    this.clear()
  }

  async #makeAll(): Promise<void> {
    this.#isMaking = true
    while (this.#requests.size > 0) {
      // No step of this follows another, or a send, without a turn of the loop in between.
      await immediate()
      const [next] = this.#requests
      if (next === undefined) break
      // oxlint-disable-next-line typescript/no-floating-promises -- refillEphemerals catches its errors
      void this.#parts.packets.refillEphemerals()
      const [place, request] = next
      if (!this.#ready.has(place, nameOf(request))) await this.#make(place, request)
      if (this.#requests.get(place) === request) this.#requests.delete(place)
    }
    this.#isMaking = false
  }

  /** One that fails is made when it is needed, where somebody learns of it. */
  async #make(place: string, request: PrepareRequest): Promise<void> {
    const prepared = await this.#parts.packets.buildAhead(request).catch(() => null)
    if (prepared === null) return
    if (this.#requests.get(place) !== request) return destroyPrepared(prepared)
    this.#ready.put(place, nameOf(request), prepared)
    this.#parts.onPrepared(place)
  }
}

const nameOf = ({ list, cipher }: PrepareRequest): string => `${list.name} ${cipher}`
