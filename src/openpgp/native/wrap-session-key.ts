/** Wraps a session key for recipients: here for a few, for many in threads that share the work. */
import { setImmediate as immediate } from 'node:timers/promises'
import {
  recipientKeyStarts,
  unpackRecipientKey,
  recipientBytes,
  writeRecipient,
} from '../crypto/recipient.ts'
import { padSessionKey, type SessionKey } from '../crypto/session-key.ts'
import { recipientAlgorithm } from '../crypto/public-key.ts'

/** Recipients in one block: two milliseconds of work. */
const BLOCK = 16

/** Recipient packets in the making, in memory that all threads at work on them see. */
export interface WrapJob {
  /** Of `packRecipientKeys`. */
  recipientKeys: Uint8Array
  sessionKey: { cipher: SessionKey['cipher']; data: Uint8Array }
  packets: Uint8Array
  /** The first unclaimed block; then for each block 1 when it is done. */
  progress: Int32Array
}

/**
 * Lays out the work.
 * @param recipientKeys in shared memory, as `packRecipientKeys` wrote them
 * @param sessionKey in shared memory; zeroed by the caller, when nobody works on it any more
 */
export function createWrapJob(recipientKeys: Uint8Array, sessionKey: SessionKey): WrapJob {
  using wrapper = new Wrapper({ recipientKeys, sessionKey })
  const blocks = Math.ceil(wrapper.recipients / BLOCK)
  return {
    recipientKeys,
    sessionKey,
    packets: new Uint8Array(new SharedArrayBuffer(wrapper.length)),
    progress: new Int32Array(new SharedArrayBuffer(4 * (1 + blocks))),
  }
}

/**
 * Wraps unclaimed blocks, at most `most`.
 * @returns whether there may be more
 * @throws Error when one cannot be sealed to
 */
export function wrapBlocks(job: WrapJob, most: number): boolean {
  const { packets, progress } = job
  using wrapper = new Wrapper(job)
  for (let done = 0; done < most; done++) {
    const block = Atomics.add(progress, 0, 1)
    if (block + 1 >= progress.length) return false
    wrapper.write(block * BLOCK, (block + 1) * BLOCK, packets)
    Atomics.store(progress, 1 + block, 1)
  }
  return Atomics.load(progress, 0) + 1 < progress.length
}

/** Whether all packets are there. */
export function isComplete({ progress }: WrapJob): boolean {
  for (let at = 1; at < progress.length; at++) if (Atomics.load(progress, at) !== 1) return false
  return true
}

/**
 * Gives all packets, in memory of this thread alone. Wraps here, in steps, the blocks that a thread
 * claimed and did not finish because it died.
 * @throws as `wrapBlocks`
 */
export async function collectPackets(job: WrapJob): Promise<Buffer> {
  const { packets, progress } = job
  using wrapper = new Wrapper(job)
  const collected = Buffer.alloc(packets.length)
  for (let block = 0; block + 1 < progress.length; block++) {
    const [from, to] = [block * BLOCK, (block + 1) * BLOCK]
    if (Atomics.load(progress, 1 + block) === 1) {
      const done = packets.subarray(wrapper.startOf(from), wrapper.startOf(to))
      collected.set(done, wrapper.startOf(from))
    } else {
      await immediate()
      wrapper.write(from, to, collected)
    }
  }
  return collected
}

/** Makes all packets here. @throws as `wrapBlocks` */
export function wrapHere(recipientKeys: Uint8Array, sessionKey: SessionKey): Buffer {
  using wrapper = new Wrapper({ recipientKeys, sessionKey })
  const packets = Buffer.alloc(wrapper.length)
  wrapper.write(0, Infinity, packets)
  return packets
}

/** Wraps the session key for recipients, at their offsets in the message. */
class Wrapper implements Disposable {
  readonly #recipientKeys: Buffer
  readonly #keyStarts: number[]
  /** Where each recipient's packet begins, and where the last one ends. */
  readonly #starts = [0]
  readonly #sessionKey: WrapJob['sessionKey'] & { padded: Buffer }

  constructor({ recipientKeys, sessionKey }: Pick<WrapJob, 'recipientKeys' | 'sessionKey'>) {
    this.#recipientKeys = Buffer.from(recipientKeys)
    this.#sessionKey = { ...sessionKey, padded: padSessionKey(sessionKey) }
    this.#keyStarts = recipientKeyStarts(recipientKeys)
    for (const at of this.#keyStarts) {
      const algorithm = recipientKeys[at] ?? 0
      this.#starts.push(this.length + recipientBytes(algorithm, sessionKey.cipher))
    }
  }

  get recipients(): number {
    return this.#keyStarts.length
  }

  /** Bytes of all packets. */
  get length(): number {
    return this.#starts.at(-1) ?? 0
  }

  /** Where the packet of a recipient begins; of one after the last, where that ends. */
  startOf(recipient: number): number {
    return this.#starts[recipient] ?? this.length
  }

  /** Writes the packets of some recipients at their offsets in a message. */
  write(from: number, to: number, packets: Uint8Array): void {
    const recipients = this.#keyStarts
      .slice(from, to)
      .map((at) => unpackRecipientKey(this.#recipientKeys, at))
    // Each step for all recipients before the next step: similar work shares CPU caches.
    const pending = recipients.map((recipient) => {
      return { recipient, ephemeral: recipientAlgorithm(recipient.algorithm).ephemeral() }
    })
    for (const [index, { recipient, ephemeral }] of pending.entries()) {
      const at = this.startOf(from + index)
      writeRecipient(this.#sessionKey, ephemeral, { recipient, target: packets, at })
    }
  }

  /** Zeroes the copy of the session key. */
  [Symbol.dispose](): void {
    this.#sessionKey.padded.fill(0)
  }
}
