/**
 * Opens messages of the common form natively; the library opens all others. Messages requested at
 * once are opened a few at a time, step by step, with a pause for other work in between.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import type { RecipientKey } from '../crypto/algorithm.ts'
import { openRecipient, readRecipient, sharedWith } from '../crypto/recipient.ts'
import type { RecipientForm } from '../crypto/recipient.ts'
import { bufferOf } from '../bytes.ts'
import { openVersion1 } from '../crypto/seipd.ts'
import { CIPHERS, CIPHER_NAME, isCipher, keyBytesOf, type SymmetricKey } from '../format/ciphers.ts'
import type { Opened, UnlockedKey } from '../engine.ts'
import { openedText, readUncompressed } from '../format/decrypted-message.ts'
import { parseMessage, type EncryptedMessage } from '../format/encrypted-message.ts'
import { packetAt } from '../format/packets.ts'
import type { FoundKey, OwnIds, ScannedRecipients } from '../format/recipient-scan.ts'
import { unwrapWith, type HeldSecret } from './held-key.ts'
import type { NativeOwnKeys } from './own-keys.ts'
import { isRecipientSecret, type OwnSecret } from './own-secrets.ts'

/** A message that somebody wants to read. */
export interface OpenRequest {
  armored: string
  keys: UnlockedKey[]
  ids: OwnIds
  signal: AbortSignal | undefined
}

/** The result; the parsed message where the library must open it. */
export type OpenResult = Opened | EncryptedMessage

interface PendingOpen extends PromiseWithResolvers<OpenResult> {
  message: OpenRequest
}

/** A message that can be opened natively. */
export interface BegunMessage extends BegunRecipient {
  encrypted: EncryptedMessage
}

/** Opening as many needs a millisecond, unless they are long. */
const TOGETHER = 8
const TOGETHER_CHARS = 65_536
/** As many before all others, so that their signatures are verified beside the next ones. */
const AT_FIRST = 2

export class MessageOpener {
  readonly #own: NativeOwnKeys
  readonly #isNative: () => boolean
  readonly #onIdle: () => void
  readonly #waiting: PendingOpen[] = []
  /** Whether anything is being opened, waits for its turn, or was just opened beside others. */
  isBusy = false

  /**
   * @param isNative false when everything is the library's to open
   * @param onIdle called when nothing waits for its turn any more
   */
  constructor(own: NativeOwnKeys, isNative: () => boolean, onIdle = (): void => {}) {
    this.#own = own
    this.#isNative = isNative
    this.#onIdle = onIdle
  }

  /** Opens a message in its turn, in the order of the calls. */
  open(message: OpenRequest): Promise<OpenResult> {
    const pending = { message, ...Promise.withResolvers<OpenResult>() }
    this.#waiting.push(pending)
    if (!this.isBusy) queueMicrotask(() => void this.#openAll())
    this.isBusy = true
    return pending.promise
  }

  async #openAll(): Promise<void> {
    for (let most = AT_FIRST; ; most = TOGETHER) {
      const some = this.#next(most)
      await this.#openSome(some)
      // A single message needs no pause; in a batch, callers process its results before the next.
      const isAlone = some.length === 1 && this.#waiting.length === 0
      if (!isAlone) await immediate()
      if (this.#waiting.length === 0) break
    }
    this.isBusy = false
    this.#onIdle()
  }

  /** Those whose turn it is. */
  #next(most: number): PendingOpen[] {
    let count = 0
    for (let chars = 0; count < most && count < this.#waiting.length; count++) {
      chars += this.#waiting[count]?.message.armored.length ?? 0
      if (chars > TOGETHER_CHARS && count > 0) break
    }
    return this.#waiting.splice(0, count)
  }

  /** Runs each step for the whole batch before the next step: similar work shares CPU caches. */
  async #openSome(some: PendingOpen[]): Promise<void> {
    // all begin before any is waited for: their holder is asked for them together
    const begun = await Promise.all(some.map((one) => this.#begin(one.message).catch(one.reject)))
    const shared = begun.map((one) => (one && 'recipient' in one ? agree(one.recipient) : null))
    for (const [index, { resolve, reject }] of some.entries()) {
      const one = begun[index]
      if (!one) continue
      try {
        resolve('recipient' in one ? (finish(one, shared[index] ?? null) ?? one.encrypted) : one)
      } catch (error) {
        reject(error)
      }
    }
  }

  /** @returns the result at once where the message cannot be opened here */
  async #begin({ armored, keys, ids, signal }: OpenRequest): Promise<BegunMessage | OpenResult> {
    const encrypted = parseMessage(armored, ids)
    const isOurs = encrypted.outcome === 'encrypted' && this.#isNative() && signal?.aborted !== true
    if (!isOurs || encrypted.container[0] !== 1) return encrypted
    const begun = await recipientIn(encrypted, keys, this.#own)
    return begun === null ? encrypted : { encrypted, ...begun }
  }
}

/** The recipient packet that names a key of ours, and the secret that opens it. */
interface OwnRecipient {
  form: RecipientForm
  secret: OwnSecret<RecipientKey> | HeldSecret<RecipientKey>
  openedWith: string
}

/** The packet for a key of ours, and the answer of the key's holder where it has one. */
interface BegunRecipient {
  recipient: OwnRecipient
  held: UnwrappedKey | null
}

/** @returns null where our key, or the one packet that names it, is not of the common form */
export async function recipientIn(
  { named, recipientPackets }: ScannedRecipients,
  keys: UnlockedKey[],
  own: NativeOwnKeys,
): Promise<BegunRecipient | null> {
  const [packet] = recipientPackets
  if (!named || packet === undefined || recipientPackets.length > 1) return null
  const form = readRecipient(packetAt(packet, 0).body)
  if (form === null || (form.cipher !== null && !isCipher(form.cipher))) return null
  const isNamed = ({ keyIds }: UnlockedKey): boolean => keyIds.includes(form.keyId)
  const key = keys.find(isNamed)
  if (key === undefined || key !== keys.findLast(isNamed)) return null
  const secret = (await own.of(key))?.opens.get(form.keyId)
  if (secret?.key.algorithm !== form.algorithm || !isRecipientSecret(secret)) return null
  const recipient = { form, secret, openedWith: key.fingerprint }
  return { recipient, held: 'holder' in secret ? await unwrappedByHolder(secret, packet) : null }
}

interface UnwrappedKey {
  cipher: number
  data: Buffer
}

/** @returns null where it does not open */
async function unwrappedByHolder(
  secret: HeldSecret<RecipientKey>,
  packet: Uint8Array,
): Promise<UnwrappedKey | null> {
  const [first] = await unwrapWith(secret, packet)
  const [, cipher] = Object.entries(CIPHERS).find(([name]) => name === first?.algorithm) ?? []
  return first ? { cipher: cipher?.id ?? 0, data: bufferOf(first.data) } : null
}

/** Computes the shared secret of our key and the sender's point: most of the work. */
export const agree = ({ form, secret }: OwnRecipient): Buffer | null =>
  'holder' in secret ? null : sharedWith(form, secret)

/**
 * Decrypts the message.
 * @param shared of `agree`
 * @returns null, before decryption or after an intact one, where the form is not the
 *   common one; a failed decryption is damaged, and the library does not try again
 */
export function finish(
  { encrypted, recipient, held }: BegunMessage,
  shared: Buffer | null,
): Opened | null {
  const sessionKey = sessionKeyOf(recipient, shared, held)
  if (sessionKey === null) return null
  const packets = sessionKey === 'damaged' ? null : openVersion1(encrypted.container, sessionKey)
  if (sessionKey !== 'damaged') sessionKey.data.fill(0)
  if (packets === null) return { outcome: 'damaged', reason: 'decryption' }
  const decrypted = readUncompressed(packets)
  const { dataDigest, recipients } = encrypted
  const { openedWith } = recipient
  return decrypted && openedText(decrypted, { dataDigest, openedWith, recipients })
}

/** The session key; `damaged` when the packet does not open, null where it is the library's. */
function sessionKeyOf(
  { form, secret }: OwnRecipient,
  shared: Buffer | null,
  held: UnwrappedKey | null,
): SymmetricKey | 'damaged' | null {
  const opened = 'holder' in secret ? held : openRecipient(form, secret, shared)
  if (opened === null) return 'damaged'
  const { cipher, data } = opened
  if (!isCipher(cipher) || data.length !== keyBytesOf(cipher)) return null
  return { algorithm: CIPHER_NAME[cipher], data }
}

/**
 * Gives the session key of an attachment that a recipient packet holds for us, or none when it does
 * not open.
 * @returns null where the form is not the common one: then the library must be asked
 */
export async function unwrapNatively(
  recipients: ScannedRecipients,
  keys: UnlockedKey[],
  own: NativeOwnKeys,
): Promise<FoundKey[] | null> {
  const begun = await recipientIn(recipients, keys, own)
  if (begun === null) return null
  const { recipient, held } = begun
  const sessionKey = sessionKeyOf(recipient, agree(recipient), held)
  if (sessionKey === null) return null
  return sessionKey === 'damaged' ? [] : [{ ...sessionKey, fingerprint: recipient.openedWith }]
}
