/** Builds recipient packets: a fresh session key, wrapped for everybody on a list exactly once. */
import { recipientKeyStarts } from '../crypto/recipient.ts'
import { freshSessionKey, type SessionKey } from '../crypto/session-key.ts'
import type { Cipher } from '../format/ciphers.ts'
import { armorPackets, type ArmoredPackets } from '../format/armor-writer.ts'
import { EngineUnavailableError } from '../../errors.ts'
import { JobKilled } from '../pool.ts'
import type { PreparedMessage } from './prepared-message.ts'
import type { Threads, WorkPriority } from './threads.ts'
import { collectPackets, createWrapJob, isComplete, wrapHere } from './wrap-session-key.ts'

/** Recipients of a message. Holds from `fromS` on and before `untilS`. */
export interface RecipientList {
  /** The same for the same recipients in the same order, and the same key of ours. */
  name: string
  /** The same for lists of the same algorithms that are wrapped alike. */
  kind: string
  /** Recipients that are sealed to natively, packed by `packRecipientKeys`; we are the last. */
  recipientKeys: Buffer
  /** Armored certificates of the others, which the library seals to. */
  others: string[]
  /** Subpackets that name everybody, for the signature. */
  names: Buffer
  /** All of `recipientKeys` list AES-256 (RFC 9580, 12.1). */
  readAes256: boolean
  fromS: number
  untilS: number
}

/** The list and its use, for which a message is prepared. */
export interface PrepareRequest {
  list: RecipientList
  cipher: Cipher
}

export interface RecipientPacketsParts {
  threads: Threads
  priority: WorkPriority
  /** Recipient packets for certificates that are not of the common forms, made by the library. */
  packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>
}

/** Up to as many recipients are wrapped on this thread; each needs a tenth of a millisecond. */
export const FEW = 4
/** Blocks that a thread does before anybody else may have it: some fifteen milliseconds. */
const BLOCKS_NOW = 8
/** The same for work in advance. */
const BLOCKS_AHEAD = 2

const NONE = new Uint8Array()

type BuildPackets = (recipientKeys: Buffer, sessionKey: SessionKey) => Promise<ArmoredPackets>

export class RecipientPackets {
  readonly #parts: RecipientPacketsParts
  #isRefilling = false

  constructor(parts: RecipientPacketsParts) {
    this.#parts = parts
  }

  /**
   * Prepares a message that is needed now; blocks left by a dead thread are wrapped here.
   * @throws Error when any certificate cannot be used
   */
  async buildNow(request: PrepareRequest): Promise<PreparedMessage> {
    const { priority } = this.#parts
    return await priority.urgent(() =>
      this.#build(request, async (recipientKeys, sessionKey) => {
        const packets = await this.#wrapAll(recipientKeys, sessionKey)
        const more = await this.#others(request, sessionKey)
        return armorPackets(more.length === 0 ? packets : Buffer.concat([packets, more]))
      }),
    )
  }

  async #wrapAll(recipientKeys: Buffer, sessionKey: SessionKey): Promise<Buffer> {
    if (recipientKeyStarts(recipientKeys).length <= FEW) return wrapHere(recipientKeys, sessionKey)
    const { threads } = this.#parts
    const job = createWrapJob(recipientKeys, sessionKey)
    const lanes = Array.from({ length: threads.size }, async () => {
      while (await threads.run('wrap', [job, BLOCKS_NOW]));
    })
    for (const lane of await Promise.allSettled(lanes)) {
      if (lane.status === 'rejected' && !isOfThread(lane.reason)) throw lane.reason
    }
    return await collectPackets(job)
  }

  /**
   * Prepares one ahead of time, when nobody waits for anything.
   * @throws as `buildNow`, and when a thread died
   */
  async buildAhead(request: PrepareRequest): Promise<PreparedMessage> {
    const { priority, threads } = this.#parts
    return await this.#build(request, async (recipientKeys, sessionKey) => {
      const job = createWrapJob(recipientKeys, sessionKey)
      while (await priority.background(() => threads.run('wrap', [job, BLOCKS_AHEAD])));
      if (!isComplete(job)) throw new JobKilled('wrap')
      const more = await this.#others(request, sessionKey)
      return await priority.background(() => threads.run('armor', [[job.packets, more]]))
    })
  }

  /** Has the threads make up for the pairs that they have used, behind everything else. */
  async refillEphemerals(): Promise<void> {
    if (this.#isRefilling) return
    this.#isRefilling = true
    const { priority, threads } = this.#parts
    try {
      for (let full = 0; full < threads.size;) {
        full = (await priority.background(() => threads.run('refillEphemerals', []))) ? 0 : full + 1
      }
    } catch {
      // Threads that are gone need no pairs.
    } finally {
      this.#isRefilling = false
    }
  }

  async #build({ list, cipher }: PrepareRequest, build: BuildPackets): Promise<PreparedMessage> {
    const sessionKey = freshSessionKey(cipher)
    try {
      return { ...(await build(list.recipientKeys, sessionKey)), sessionKey }
    } catch (error) {
      sessionKey.data.fill(0)
      throw error
    }
  }

  /** Recipient packets made by the library. */
  async #others({ list }: PrepareRequest, sessionKey: SessionKey): Promise<Uint8Array> {
    const { others } = list
    return others.length === 0 ? NONE : await this.#parts.packetsFor(others, sessionKey)
  }
}

/** Whether a job failed for want of a thread, so that its rest can be done here. */
const isOfThread = (error: unknown): boolean =>
  error instanceof JobKilled || error instanceof EngineUnavailableError
