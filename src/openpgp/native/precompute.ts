/** The next message of each place, prepared except for its text: in memory alone, and not for long. */
import { setImmediate as immediate } from 'node:timers/promises'
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
  size: number
  untilMs: number
}

/**
 * One prepared message a place at most. `take` gives it once, for exactly the name that it was
 * prepared for; any other name destroys it.
 */
export class PreparedMessages {
  readonly #bounds: PrecomputeBounds
  /** In the order in which they end. */
  readonly #held = new Map<string, HeldMessage>()
  #size = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: PrecomputeBounds) {
    this.#bounds = bounds
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.#size
  }

  /** Whether a prepared message of that name is held for a place. */
  has(place: string, name: string): boolean {
    const held = this.#held.get(place)
    return held?.name === name && held.untilMs > performance.now()
  }

  /** Removes and gives the prepared message. The caller must use or destroy it. */
  take(place: string, name: string): PreparedMessage | null {
    const held = this.#held.get(place)
    if (held === undefined) return null
    this.#remove(place, held)
    if (held.name === name && held.untilMs > performance.now()) return held.prepared
    destroyPrepared(held.prepared)
    return null
  }

  /** Holds a prepared message under a name, in place of the earlier one. */
  put(place: string, name: string, prepared: PreparedMessage): void {
    this.#drop(place)
    const { maxBytes, keepMs } = this.#bounds
    const size = preparedBytes(prepared)
    this.#held.set(place, { name, prepared, size, untilMs: performance.now() + keepMs })
    this.#size += size
    for (const oldest of this.#held.keys()) {
      if (this.#size <= maxBytes) break
      this.#drop(oldest)
    }
    this.#arm()
  }

  /** Destroys all, or the prepared messages of places that begin alike. */
  clear(start = ''): void {
    for (const place of this.#held.keys()) if (place.startsWith(start)) this.#drop(place)
    if (this.#held.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #drop(place: string): void {
    const held = this.#held.get(place)
    if (held === undefined) return
    this.#remove(place, held)
    destroyPrepared(held.prepared)
  }

  #remove(place: string, { size }: HeldMessage): void {
    this.#held.delete(place)
    this.#size -= size
  }

  /** Ends the oldest when its time is over, whether anybody asks or not. */
  #arm(): void {
    if (this.#timer !== undefined) return
    for (const { untilMs } of this.#held.values()) {
      this.#timer = setTimeout(() => this.#expire(), Math.max(1, untilMs - performance.now()))
      this.#timer.unref()
      return
    }
  }

  #expire(): void {
    this.#timer = undefined
    for (const [place, { untilMs }] of this.#held) {
      if (untilMs > performance.now()) break
      this.#drop(place)
    }
    this.#arm()
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

function nameOf({ list, cipher }: PrepareRequest): string {
  return `${list.name} ${cipher}`
}
