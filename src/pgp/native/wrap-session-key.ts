/** Gives a session key to recipients: here for a few, for many in threads that share the work. */
import { setImmediate as immediate } from 'node:timers/promises'
import { MEMBER_BYTES, algorithmAt, memberAt } from '../crypto/recipient-key.ts'
import { recipientBytes, writeRecipient } from '../crypto/recipient-packet.ts'
import { padSessionKey, type CipherId, type SessionKey } from '../crypto/session-key.ts'
import { freshPair, type Ephemeral } from '../crypto/curve25519.ts'

/** Pairs made ahead in this thread, each for one recipient of one message. */
const stock: Ephemeral[] = []
/** More than half of what a message to the largest group takes: threads share it as they can. */
const STOCK_MAX = 640
/** Some milliseconds of work. */
const STOCK_STEP = 64
/** Recipients that are taken at a time: two milliseconds of work. */
const BLOCK = 16

/** Recipient packets in the making, in memory that all threads at work on them see. */
export interface Pack {
  /** Of `writeMembers`. */
  members: Uint8Array
  sessionKey: { cipher: SessionKey['cipher']; data: Uint8Array }
  packets: Uint8Array
  /** The first block that nobody has taken; then for each of them 1 when it is done. */
  progress: Int32Array
}

/**
 * Lays out the work.
 * @param members in shared memory, as `writeMembers` wrote them
 * @param sessionKey in shared memory; zeroed by the caller, when nobody works on it any more
 */
export function layOut(members: Uint8Array, sessionKey: SessionKey): Pack {
  const length = placesOf(members, sessionKey.cipher).at(-1) ?? 0
  const blocks = Math.ceil(members.length / MEMBER_BYTES / BLOCK)
  return {
    members,
    sessionKey,
    packets: new Uint8Array(new SharedArrayBuffer(length)),
    progress: new Int32Array(new SharedArrayBuffer(4 * (1 + blocks))),
  }
}

/**
 * Works on blocks that nobody has taken, at most so many.
 * @returns whether there may be more
 * @throws Error when one cannot be sealed to
 */
export function packSome({ members, sessionKey, packets, progress }: Pack, most: number): boolean {
  using work = new Work(members, sessionKey)
  for (let done = 0; done < most; done++) {
    const block = Atomics.add(progress, 0, 1)
    if (block + 1 >= progress.length) return false
    work.write(block * BLOCK, (block + 1) * BLOCK, packets)
    Atomics.store(progress, 1 + block, 1)
  }
  return Atomics.load(progress, 0) + 1 < progress.length
}

/** Whether all packets are there. */
export function isWhole({ progress }: Pack): boolean {
  for (let at = 1; at < progress.length; at++) if (Atomics.load(progress, at) !== 1) return false
  return true
}

/**
 * Gives all packets, in memory of this thread alone: those that are there, and here and now, in
 * steps, those that are not, because the thread died that had taken them.
 * @throws as `packSome`
 */
export async function gather({ members, sessionKey, packets, progress }: Pack): Promise<Buffer> {
  using work = new Work(members, sessionKey)
  const gathered = Buffer.alloc(packets.length)
  for (let block = 0; block + 1 < progress.length; block++) {
    const [from, to] = [block * BLOCK, (block + 1) * BLOCK]
    if (Atomics.load(progress, 1 + block) === 1) {
      gathered.set(packets.subarray(work.placeOf(from), work.placeOf(to)), work.placeOf(from))
    } else {
      await immediate()
      work.write(from, to, gathered)
    }
  }
  return gathered
}

/** Makes all packets here. @throws as `packSome` */
export function pack(members: Uint8Array, sessionKey: SessionKey): Buffer {
  using work = new Work(members, sessionKey)
  const packets = Buffer.alloc(work.length)
  work.write(0, Infinity, packets)
  return packets
}

/** Makes some pairs ahead. @returns whether there is room for more */
export function restock(): boolean {
  for (let made = 0; made < STOCK_STEP && stock.length < STOCK_MAX; made++) stock.push(freshPair())
  return stock.length < STOCK_MAX
}

/** Where the packet of each member begins, and where the last one ends. @throws as `memberAt` */
function placesOf(members: Uint8Array, cipher: CipherId): number[] {
  const places = [0]
  let place = 0
  for (let at = 0; at < members.length; at += MEMBER_BYTES) {
    place += recipientBytes(algorithmAt(members, at), cipher)
    places.push(place)
  }
  return places
}

/** Who is given which key, and where in the message. */
class Work implements Disposable {
  readonly #members: Buffer
  readonly #places: number[]
  readonly #sessionKey: Pack['sessionKey'] & { padded: Buffer }

  constructor(members: Uint8Array, sessionKey: Pack['sessionKey']) {
    this.#members = Buffer.from(members)
    this.#sessionKey = { ...sessionKey, padded: padSessionKey(sessionKey) }
    this.#places = placesOf(members, sessionKey.cipher)
  }

  /** Bytes of all packets. */
  get length(): number {
    return this.#places.at(-1) ?? 0
  }

  /** Where the packet of a member begins; of one after the last, where that ends. */
  placeOf(member: number): number {
    return this.#places[member] ?? this.length
  }

  /** Writes the packets of some members to where they stand in a message. */
  write(from: number, to: number, packets: Uint8Array): void {
    const end = Math.min(to, this.#places.length - 1)
    // One after the other what is alike: the processor has it at hand.
    const pairs: Ephemeral[] = []
    for (let member = from; member < end; member++) pairs.push(stock.pop() ?? freshPair())
    for (const [index, pair] of pairs.entries()) {
      const recipient = memberAt(this.#members, (from + index) * MEMBER_BYTES)
      const at = this.placeOf(from + index)
      writeRecipient(this.#sessionKey, pair, { recipient, target: packets, at })
    }
  }

  /** Zeroes the copy of the session key. */
  [Symbol.dispose](): void {
    this.#sessionKey.padded.fill(0)
  }
}
