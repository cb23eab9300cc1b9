/**
 * Compares results of native code with openpgp.js alone. A difference counts only where the
 * library just showed that it works here: a lack of memory fails like broken cryptography.
 */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { decrypt, readKey, readMessage, type Key, type SessionKey } from 'openpgp'
import type { OpenedText, Signed, SignedAtLength, SignatureResult, UnlockedKey } from '../engine.ts'
import { parseMessage } from '../format/encrypted-message.ts'
import { algorithmIn, ownIdsOf, type FoundKey } from '../format/recipient-scan.ts'
import { COMPOSITE } from '../format/packets.ts'
import { works } from './adopt.ts'
import { isComposite } from './composite.ts'
import { certificateOf, secretKeyOf } from './key-cache.ts'
import { open } from './open.ts'
import { encryptionKey, termsOf } from './owner-terms.ts'
import { generate, unlock } from './secret-key.ts'
import { verify } from './verify.ts'

/** `unchecked`: the library could not do it; nothing is known of native code. */
export type CheckResult = 'same' | 'differs' | 'unchecked'

/** A message that was sealed natively. */
export interface CheckedMessage {
  armored: string
  text: string
  signer: UnlockedKey
  atMs: number
  /** Some of the people's certificates that it was sealed to. */
  certificates: readonly string[]
  /** Of how many different ones. */
  of: number
  /** The session keys for the signer, where a holder has its secret. */
  held?: FoundKey[]
}

/** Opens a message with the bot's own key, verifies it, and compares its recipient packets. */
export async function compareSealed(sealed: CheckedMessage): Promise<CheckResult> {
  const key = await ownKeyOf(sealed.signer, sealed.held).catch(() => null)
  if (key === null || isBeyond(sealed.armored, sealed.signer)) return 'unchecked'
  return await compared(() => isAsSealed(sealed, key))
}

/** Whether a key of ours opens it with a composite subkey, which the library cannot. */
function isBeyond(armored: string, key: UnlockedKey): boolean {
  const encrypted = parseMessage(armored, ownIdsOf([key]))
  if (encrypted.outcome !== 'encrypted') return false
  return encrypted.recipientPackets.some((packet) => algorithmIn(packet) === COMPOSITE)
}

/** The whole key, or its certificate where session keys were unwrapped elsewhere. */
const ownKeyOf = async (key: UnlockedKey, held: FoundKey[] = []): Promise<Key> =>
  held.length === 0 ? await secretKeyOf(key) : await readKey({ binaryKey: key.bytes })

async function isAsSealed(sealed: CheckedMessage, key: Key): Promise<boolean> {
  const { armored, text, certificates, of, held = [] } = sealed
  const date = new Date(sealed.atMs)
  const message = await readMessage({ armoredMessage: armored })
  const keyIds = message.getEncryptionKeyIDs().map((id) => id.toHex())
  const people = [...(await Promise.all(certificates.map(certificateOf))), key.toPublic()]
  const terms = await Promise.all(people.map((person) => termsOf(person, sealed.atMs)))
  const found = terms.map((one) => encryptionKey(one, sealed.atMs))
  const expected = found.map((one) => (typeof one === 'string' ? '' : one.part.getKeyID().toHex()))
  const all = new Set(certificates.length === of ? expected : [...keyIds, ...expected])
  const isSame = all.size === keyIds.length && keyIds.every((id) => all.has(id))
  // The library does not know which composite subkeys are sealed to.
  if (!isSame && !people.some(({ subkeys }) => subkeys.some(isComposite))) return false
  if (keyIds.length > of + 1) return false
  const { data, signatures } = await decrypt({
    message,
    ...(key.isPrivate() ? { decryptionKeys: key } : { sessionKeys: held as SessionKey[] }),
    verificationKeys: key.toPublic(),
    date,
    format: 'binary',
  })
  const verified = await Promise.all(signatures.map((one) => one.verified))
  return verified.length === 1 && Buffer.from(text).equals(data)
}

/** Opens a message again with the key that opened it. */
export async function compareOpened(
  armored: string,
  key: UnlockedKey,
  opened: OpenedText,
  held: FoundKey[] = [],
): Promise<CheckResult> {
  const isKnown = (await ownKeyOf(key, held).catch(() => null)) !== null
  if (!isKnown || isBeyond(armored, key)) return 'unchecked'
  return await compared(async () => {
    const encrypted = parseMessage(armored, ownIdsOf([key]))
    const again =
      encrypted.outcome === 'encrypted'
        ? await open({ ...encrypted, found: held }, held.length === 0 ? [key] : [])
        : encrypted
    return isDeepStrictEqual(structuredClone(again), opened)
  })
}

/** Verifies signatures again. */
export const compareVerified = async (
  signed: Signed | SignedAtLength,
  certificate: string,
  { nowMs, results }: { nowMs: number; results: SignatureResult[] },
): Promise<CheckResult> =>
  await compared(async () => isDeepStrictEqual(await verify(signed, certificate, nowMs), results))

async function compared(isSame: () => Promise<boolean>): Promise<CheckResult> {
  if (await isSame().catch(() => false)) return 'same'
  return (await isWorking().catch(() => false)) ? 'differs' : 'unchecked'
}

/** Whether the library seals, opens and verifies with a key that nothing else uses. */
async function isWorking(): Promise<boolean> {
  const passphrase = randomBytes(32).toString('hex')
  const createdMs = Date.now()
  const key = await generate({ userId: 'check', createdMs, passphrase, isRandom: true })
  return await works(await unlock(key.locked, passphrase), key.certificate, createdMs)
}
