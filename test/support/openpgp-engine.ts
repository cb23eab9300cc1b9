/** What `createEngine` does with a message, in this process: without threads and their start. */
import type { Opened, SealRequest, UnlockedKey } from '../../src/openpgp/engine.ts'
import { open } from '../../src/openpgp/library/open.ts'
import { applyProfile } from '../../src/openpgp/library/profile.ts'
import { seal } from '../../src/openpgp/library/seal.ts'
import { parseMessage, parseMessageBytes } from '../../src/openpgp/format/encrypted-message.ts'
import type { EncryptedMessage } from '../../src/openpgp/format/encrypted-message.ts'
import { ownIdsOf } from '../../src/openpgp/format/recipient-scan.ts'
import { armor } from './openpgp-framing.ts'
import { literal } from './openpgp-inner.ts'
import { concat } from './openpgp-bytes.ts'
import { bot } from './openpgp-people.ts'
import { pkesk, seipd, sessionKey, type SessionKey } from './openpgp-sealed.ts'

applyProfile()

/** The session key of most messages of the tests. */
export const KEY: SessionKey = sessionKey('usual')

/** What the header walk knows of own keys. */
export const idsOf = ownIdsOf

/** Opens an armored text as the bot, or with the keys given. */
export async function openArmored(armored: string, keys = [bot.unlocked]): Promise<Opened> {
  const encrypted = parseMessage(armored, idsOf(keys))
  return encrypted.outcome === 'encrypted' ? await open(encrypted, keys) : encrypted
}

/** Seals as if our clock showed `nowMs`; gives the armored message. */
export const sealHere = async (request: SealRequest, nowMs: number): Promise<string> =>
  (await seal(request, nowMs)).armored

/** Opens packets as the bot, or with the keys given. */
export const openPackets = async (packets: Uint8Array, keys?: UnlockedKey[]): Promise<Opened> =>
  await openArmored(armor(packets), keys)

/** The header walk alone, as the bot. */
export const parsePackets = (
  packets: Uint8Array,
  keys = [bot.unlocked],
): ReturnType<typeof parseMessageBytes> => parseMessageBytes(packets, idsOf(keys))

/** Packets of a message to the bot with these packets inside. */
export const toBot = (inner: Uint8Array): Buffer =>
  concat(pkesk(bot.subkey, KEY), seipd(inner, KEY))

/** Opens what stands inside a message to the bot. */
export const openInner = async (inner: Uint8Array): Promise<Opened> =>
  await openPackets(toBot(inner))

/** A message to the bot that opens as `hello`. */
export const hello = (): Buffer => toBot(literal('hello'))

/** The outcome in one line: `opened`, or outcome and reason. */
export function outcomeOf(opened: Opened | EncryptedMessage): string {
  const why = 'reason' in opened ? opened.reason : undefined
  return why === undefined ? opened.outcome : `${opened.outcome}: ${why}`
}
