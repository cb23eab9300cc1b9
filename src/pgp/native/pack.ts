/** Gives a session key to recipients: runs here for a few, in threads for many. */
import { membersOf } from './member.ts'
import { recipientBytes, writeRecipient } from './recipient-packet.ts'
import type { SessionKey } from './session-key.ts'
import { freshPair, type Ephemeral } from './x25519.ts'

/** Pairs made ahead in this thread, each for one recipient of one message. */
const stock: Ephemeral[] = []
/** As many as half of a message to the largest group takes. */
const STOCK_MAX = 500
/** Some milliseconds of work. */
const STOCK_STEP = 64

/**
 * Makes recipient packets.
 * @param members of `writeMembers`
 * @param sessionKey whose octets are zeroed afterwards where they are a thread's own copy
 */
export function pack(members: Uint8Array, sessionKey: SessionKey): Buffer {
  const recipients = [...membersOf(members)]
  const length = recipients.reduce(
    (sum, { algorithm }) => sum + recipientBytes(algorithm, sessionKey.cipher),
    0,
  )
  const target = Buffer.alloc(length)
  let at = 0
  for (const recipient of recipients) {
    at = writeRecipient(sessionKey, stock.pop() ?? freshPair(), { recipient, target, at })
  }
  return target
}

/** Makes some pairs ahead. @returns whether there is room for more */
export function restock(): boolean {
  for (let made = 0; made < STOCK_STEP && stock.length < STOCK_MAX; made++) stock.push(freshPair())
  return stock.length < STOCK_MAX
}
