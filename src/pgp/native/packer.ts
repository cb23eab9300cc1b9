/** Makes envelopes: a fresh session key, given to everybody on a roster. */
import type { Cipher } from '../engine.ts'
import { eachAtOnce } from './at-once.ts'
import { makeEnvelope, type Envelope } from './envelope.ts'
import { recipientBytes, writeRecipient } from './recipient-packet.ts'
import type { Roster } from './roster.ts'
import { freshSessionKey, type SessionKey } from './session-key.ts'
import type { Ephemeral } from './x25519.ts'

/** How one envelope is made. */
export interface Making {
  /** Recipients that are worked on side by side. */
  atOnce: number
  /** Gives a pair that was never used. */
  pair: () => Promise<Ephemeral>
  /** Recipient packets for armored certificates, made by the library. */
  packetsFor: (certificates: string[], sessionKey: SessionKey) => Promise<Uint8Array>
}

/**
 * Makes an envelope for everybody on a roster, each exactly once.
 * @throws Error when any of them cannot be sealed to
 */
export async function packEnvelope(
  roster: Roster,
  cipher: Cipher,
  { atOnce, pair, packetsFor }: Making,
): Promise<Envelope> {
  const sessionKey = freshSessionKey(cipher)
  try {
    const others =
      roster.others.length === 0 ? Buffer.alloc(0) : await packetsFor(roster.others, sessionKey)
    const places: number[] = []
    let length = 0
    for (const { key } of roster.natives) {
      places.push(length)
      length += recipientBytes(key, sessionKey.cipher)
    }
    const packets = Buffer.alloc(length + others.length)
    packets.set(others, length)
    await eachAtOnce({ count: roster.natives.length, atOnce }, async (index) => {
      const recipient = roster.natives[index]
      const at = places[index]
      if (recipient === undefined || at === undefined) throw new Error('no such recipient')
      await writeRecipient(sessionKey, await pair(), { recipient, target: packets, at })
    })
    return makeEnvelope(packets, sessionKey)
  } catch (error) {
    sessionKey.data.fill(0)
    throw error
  }
}
