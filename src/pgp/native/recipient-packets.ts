/** Makes envelopes: a fresh session key, given to everybody on a roster, each exactly once. */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Cipher } from '../engine.ts'
import { armorPackets, type ArmoredPackets } from '../format/armored-packets.ts'
import { envelopeOf, type Envelope } from './prepared-message.ts'
import { MEMBER_BYTES } from '../crypto/recipient-key.ts'
import { JobKilled } from '../pool.ts'
import { gather, isWhole, layOut, pack } from './wrap-session-key.ts'
import type { Precedence } from './work-priority.ts'
import type { Roster } from './recipient-list.ts'
import { freshSessionKey, type SessionKey } from '../crypto/session-key.ts'
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
/** Blocks that a thread does before anybody else may have it: some fifteen milliseconds. */
const BLOCKS_NOW = 8
/** The same for what nobody waits for. */
const BLOCKS_AHEAD = 2

const NONE = new Uint8Array()

type PackMembers = (members: Buffer, sessionKey: SessionKey) => Promise<ArmoredPackets>

export class Packer {
  readonly #parts: PackerParts
  #isRestocking = false

  constructor(parts: PackerParts) {
    this.#parts = parts
  }

  /**
   * Makes one that somebody waits for; what a thread that died has left is done here.
   * @throws Error when any certificate cannot be used
   */
  async packNow(wanted: Wanted): Promise<Envelope> {
    const { precedence } = this.#parts
    return await precedence.first(() =>
      this.#pack(wanted, async (members, sessionKey) => {
        const packets = await this.#packAll(members, sessionKey)
        const more = await this.#others(wanted, sessionKey)
        return armorPackets(more.length === 0 ? packets : Buffer.concat([packets, more]))
      }),
    )
  }

  async #packAll(members: Buffer, sessionKey: SessionKey): Promise<Buffer> {
    if (members.length <= FEW * MEMBER_BYTES) return pack(members, sessionKey)
    const { threads } = this.#parts
    const shared = layOut(members, sessionKey)
    const lanes = Array.from({ length: threads.count }, async () => {
      while (await threads.pack(shared, BLOCKS_NOW));
    })
    for (const lane of await Promise.allSettled(lanes)) {
      if (lane.status === 'rejected' && !(lane.reason instanceof JobKilled)) throw lane.reason
    }
    return await gather(shared)
  }

  /**
   * Makes one ahead of time, when nobody waits for anything.
   * @throws as `packNow`, and when a thread died
   */
  async packAhead(wanted: Wanted): Promise<Envelope> {
    const { precedence, threads } = this.#parts
    return await this.#pack(wanted, async (members, sessionKey) => {
      // Each step of this is short, and none follows another without letting others in.
      await immediate()
      const shared = layOut(members, sessionKey)
      while (await precedence.behind(() => threads.pack(shared, BLOCKS_AHEAD)));
      if (!isWhole(shared)) throw new JobKilled('pack')
      const more = await this.#others(wanted, sessionKey)
      return await precedence.behind(() => threads.armor([shared.packets, more]))
    })
  }

  /** Has the threads make up for the pairs that they have used, behind everything else. */
  async restock(): Promise<void> {
    if (this.#isRestocking) return
    this.#isRestocking = true
    const { precedence, threads } = this.#parts
    try {
      for (let full = 0; full < threads.count;) {
        full = (await precedence.behind(() => threads.restock())) ? 0 : full + 1
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
      return envelopeOf(await packMembers(roster.members, sessionKey), sessionKey)
    } catch (error) {
      sessionKey.data.fill(0)
      throw error
    }
  }

  /** Recipient packets of those who are the library's to seal to. */
  async #others({ roster }: Wanted, sessionKey: SessionKey): Promise<Uint8Array> {
    const { others } = roster
    return others.length === 0 ? NONE : await this.#parts.packetsFor(others, sessionKey)
  }
}
