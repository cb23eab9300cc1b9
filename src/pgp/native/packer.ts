/** Makes envelopes: a fresh session key, given to everybody on a roster, each exactly once. */
import type { Cipher } from '../engine.ts'
import { makeEnvelope, type Envelope } from './envelope.ts'
import { MEMBER_BYTES } from './member.ts'
import { pack } from './pack.ts'
import type { Precedence } from './precedence.ts'
import type { Roster } from './roster.ts'
import { freshSessionKey, type SessionKey } from './session-key.ts'
import type { Threads } from './threads.ts'

/** What an envelope is made for. */
export interface Wanted {
  roster: Roster
  cipher: Cipher
}

export interface PackerParts {
  threads: Threads
  precedence: Precedence
  /** Recipient packets for certificates that are not of the common forms, made by the library. */
  packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>
}

/** Recipients that are sealed to here; each takes a tenth of a millisecond. */
const FEW = 4
/** Recipients that a thread is given at a time. */
const CHUNK = 32

type PackMembers = (members: Buffer, sessionKey: SessionKey) => Promise<Uint8Array[]>

export class Packer {
  readonly #parts: PackerParts
  #isRestocking = false

  constructor(parts: PackerParts) {
    this.#parts = parts
  }

  /** Makes one that somebody waits for. @throws Error when any certificate cannot be used */
  async packNow(wanted: Wanted): Promise<Envelope> {
    const { precedence, threads } = this.#parts
    return await precedence.first(() =>
      this.#pack(wanted, async (members, sessionKey) =>
        members.length <= FEW * MEMBER_BYTES
          ? [pack(members, sessionKey)]
          : await this.#inThreads(chunksOf(members), sessionKey, 2 * threads.count),
      ),
    )
  }

  /** Makes one ahead of time, when nobody waits for anything. @throws as `packNow` */
  async packAhead(wanted: Wanted): Promise<Envelope> {
    return await this.#pack(wanted, (members, sessionKey) =>
      this.#inThreads(chunksOf(members), sessionKey, 1, () => this.#parts.precedence.free()),
    )
  }

  /** Has the threads make up for the pairs that they have used, behind everything else. */
  async restock(): Promise<void> {
    if (this.#isRestocking) return
    this.#isRestocking = true
    const { precedence, threads } = this.#parts
    try {
      for (let full = 0; full < threads.count;) {
        await precedence.free()
        full = (await threads.restock()) ? 0 : full + 1
      }
    } catch {
      // Threads that are gone need no stock.
    } finally {
      this.#isRestocking = false
    }
  }

  async #pack({ roster, cipher }: Wanted, packMembers: PackMembers): Promise<Envelope> {
    const sessionKey = freshSessionKey(cipher)
    try {
      const { members, others } = roster
      const packets = await packMembers(members, sessionKey)
      if (others.length > 0) packets.push(await this.#parts.packetsFor(others, sessionKey))
      return makeEnvelope(Buffer.concat(packets), sessionKey)
    } catch (error) {
      sessionKey.data.fill(0)
      throw error
    }
  }

  /**
   * @param atOnce chunks that are given out and not back yet
   * @param free what each chunk waits for
   */
  async #inThreads(
    chunks: Buffer[],
    sessionKey: SessionKey,
    atOnce: number,
    free: () => Promise<void> = () => Promise.resolve(),
  ): Promise<Uint8Array[]> {
    const packets: Uint8Array[] = []
    let next = 0
    const lane = async (): Promise<void> => {
      for (let index = next++; index < chunks.length; index = next++) {
        await free()
        const chunk = chunks[index] ?? Buffer.alloc(0)
        packets[index] = await this.#parts.threads.pack(chunk, sessionKey)
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, chunks.length) }, lane))
    return packets
  }
}

function chunksOf(members: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < members.length; at += CHUNK * MEMBER_BYTES) {
    chunks.push(members.subarray(at, at + CHUNK * MEMBER_BYTES))
  }
  return chunks
}
