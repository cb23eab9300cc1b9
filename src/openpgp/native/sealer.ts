/** Sealing natively: with what was prepared where a list is used again, at once where not. */
import type { Cipher, SealRequest } from '../engine.ts'
import type { Sealed } from '../sealed.ts'
import type { CertificateCache } from './certificate-cache.ts'
import type { NativeOwnKeys } from './own-keys.ts'
import type { Precomputer } from './precompute.ts'
import { sealPrepared } from './prepared-message.ts'
import { RecipientLists, type RecipientList } from './recipient-list.ts'
import type { RecipientPackets } from './recipient-packets.ts'

const NO_NAMES = Buffer.alloc(0)

export interface MessageSealerParts {
  certificates: CertificateCache
  own: NativeOwnKeys
  packets: RecipientPackets
  precomputer: Precomputer
  /** Whether certificates that are the library's to seal to all list AES-256. */
  readAes256(certificates: string[]): Promise<boolean>
}

export class MessageSealer implements Disposable {
  readonly #parts: MessageSealerParts
  readonly #lists: RecipientLists
  #isClosed = false
  /** By owner, what everything was prepared under: the key, and what is known of certificates. */
  readonly #under = new Map<string, string>()

  constructor(parts: MessageSealerParts) {
    this.#parts = parts
    this.#lists = new RecipientLists(parts.certificates)
  }

  /**
   * Seals a message.
   * @returns null, before anything was done, when our own key is the library's to use
   * @throws Error when any certificate cannot be used
   */
  async seal(asked: SealRequest): Promise<Sealed | null> {
    const { text, certificates, signer, cipher, owner } = asked
    const { own, precomputer, packets } = this.#parts
    const seals = (await own.of(signer))?.seals
    if (!seals || this.#isClosed) return null
    const list = await this.#lists.of(certificates, seals)
    // Begins alike for all places of an owner.
    const start = owner === undefined ? '' : `${owner}/`
    this.#dropOutdated(start, signer.fingerprint)
    const place = asked.place === undefined ? undefined : start + asked.place
    const request = { list, cipher: await this.#cipherFor(list, cipher) }
    const ready = place === undefined ? null : precomputer.take(place, request)
    const prepared = ready ?? (await packets.buildNow(request))
    const names = asked.isUnnamed === true ? NO_NAMES : list.names
    const { atMs = Date.now() } = asked
    const sealed = sealPrepared(prepared, { text, signer: seals.signer, names, atMs })
    if (place !== undefined) precomputer.request(place, request)
    return sealed
  }

  /** Forgets every secret, and makes nothing more. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#parts.precomputer.close()
  }

  async #cipherFor({ readAes256, others }: RecipientList, asked: Cipher): Promise<Cipher> {
    if (asked === 'aes128' || !readAes256) return 'aes128'
    if (others.length === 0) return asked
    return (await this.#parts.readAes256(others)) ? asked : 'aes128'
  }

  /**
   * Another key of the owner's, or another word on any certificate, ends all that was made before.
   * @param start of the owner's places
   */
  #dropOutdated(start: string, fingerprint: string): void {
    const under = `${fingerprint} ${this.#parts.certificates.epoch}`
    if (under === this.#under.get(start)) return
    this.#under.set(start, under)
    this.#parts.precomputer.clear(start)
  }
}
