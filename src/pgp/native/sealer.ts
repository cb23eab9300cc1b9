/** Sealing natively: with what was made ahead where a list is used again, at once where not. */
import type { Cipher, SealRequest } from '../engine.ts'
import type { Sealed } from '../sealed.ts'
import type { Ahead } from './precompute.ts'
import { sealInto } from './prepared-message.ts'
import type { Gate } from './certificate-cache.ts'
import type { OwnKeys } from './own-keys.ts'
import type { Packer } from './recipient-packets.ts'
import { Rosters, type Roster } from './recipient-list.ts'

export interface SealerParts {
  gate: Gate
  own: OwnKeys
  packer: Packer
  ahead: Ahead
  /** Whether certificates that are the library's to seal to all list AES-256. */
  readAes256(certificates: string[]): Promise<boolean>
}

export class Sealer implements Disposable {
  readonly #parts: SealerParts
  readonly #rosters: Rosters
  #isClosed = false
  /** What everything made ahead was made under: our key, and what the gate knows. */
  #under = ''

  constructor(parts: SealerParts) {
    this.#parts = parts
    this.#rosters = new Rosters(parts.gate)
  }

  /**
   * Seals a message.
   * @returns null, before anything was done, when our own key is the library's to use
   * @throws Error when any certificate cannot be used
   */
  async seal({ text, certificates, signer, cipher, place }: SealRequest): Promise<Sealed | null> {
    const { own, ahead, packer } = this.#parts
    const seals = (await own.of(signer))?.seals
    if (!seals || this.#isClosed) return null
    const roster = await this.#rosters.of(certificates, seals)
    this.#dropOutdated(signer.fingerprint)
    const wanted = { roster, cipher: await this.#cipherFor(roster, cipher) }
    const made = place === undefined ? null : ahead.take(place, wanted)
    const envelope = made ?? (await packer.packNow(wanted))
    const sealed = sealInto(envelope, { text, signer: seals.signer, atMs: Date.now() })
    if (place !== undefined) ahead.want(place, wanted)
    return sealed
  }

  /** Forgets every secret, and makes nothing more. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#parts.ahead.close()
  }

  async #cipherFor({ readAes256, others }: Roster, wanted: Cipher): Promise<Cipher> {
    if (wanted === 'aes128' || !readAes256) return 'aes128'
    if (others.length === 0) return wanted
    return (await this.#parts.readAes256(others)) ? wanted : 'aes128'
  }

  /** Another key of ours, or another word on any certificate, ends all that was made before. */
  #dropOutdated(fingerprint: string): void {
    const under = `${fingerprint} ${this.#parts.gate.epoch}`
    if (under === this.#under) return
    this.#under = under
    this.#parts.ahead.clear()
  }
}
