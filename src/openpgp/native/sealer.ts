/**
 * Seals natively: from a prepared message where a list is used again, at once where not. Each list
 * of certificates is converted to recipient keys once.
 */
import { hash } from 'node:crypto'
import { hexOf } from '../bytes.ts'
import { packRecipientKeys } from '../crypto/recipient.ts'
import type { Cipher } from '../format/ciphers.ts'
import type { SealRequest } from '../engine.ts'
import type { Sealed } from '../format/armor-writer.ts'
import { recipientNames } from '../format/packet-writer.ts'
import type { CertificateCache } from './certificate-cache.ts'
import type { NativeOwnKey, NativeOwnKeys } from './own-keys.ts'
import type { Precomputer } from './precompute.ts'
import { sealPrepared } from './prepared-message.ts'
import { FEW, type RecipientList, type RecipientPackets } from './recipient-packets.ts'
import { holdsAt, type CheckedCertificate } from '../certificate-statuses.ts'
import type { CertificateInfo } from '../certificate-info.ts'

const NO_NAMES = Buffer.alloc(0)

/** With the time of the signature. */
export type DatedRequest = SealRequest & { atMs: number }

export interface MessageSealerParts {
  certificates: CertificateCache
  own: NativeOwnKeys
  packets: RecipientPackets
  precomputer: Precomputer
  /** Whether certificates that are the library's to seal to all list AES-256. */
  readAes256(certificates: string[]): Promise<boolean>
  /** Called for every sealed message, with the kind of its recipient list. */
  onSealed?: ((request: DatedRequest, sealed: Sealed, kind: string) => void) | undefined
}

export class MessageSealer implements Disposable {
  readonly #parts: MessageSealerParts
  readonly #lists: RecipientLists
  #isClosed = false
  /** By owner, the state that prepared messages depend on: the key, and certificate statuses. */
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
    const { atMs = this.#parts.certificates.nowMs() } = asked
    const sealed = await sealPrepared(prepared, { text, signer: seals.signer, names, atMs })
    if (place !== undefined) precomputer.request(place, request)
    const kind = `${list.kind} ${request.cipher} ${names.length > 0} ${ready !== null}`
    this.#parts.onSealed?.({ ...asked, atMs }, sealed, kind)
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

type Sealing = NonNullable<NativeOwnKey['seals']>

/** Recipient lists by the very array of certificates that they are made of, which must not change. */
export class RecipientLists {
  readonly #certificates: CertificateCache
  readonly #known = new WeakMap<
    readonly string[],
    { list: RecipientList; by: Sealing; epoch: number }
  >()

  constructor(certificates: CertificateCache) {
    this.#certificates = certificates
  }

  /**
   * Gives the list for armored certificates and our own key: everybody once.
   * @throws Error when any certificate cannot be sealed to: nobody is left out silently
   */
  async of(certificates: readonly string[], by: Sealing): Promise<RecipientList> {
    const known = this.#known.get(certificates)
    const isCurrent = known?.by === by && known.epoch === this.#certificates.epoch
    if (isCurrent && holdsAt(known.list, this.#certificates.nowMs())) return known.list
    const { epoch } = this.#certificates
    const list = await this.#make(certificates, by)
    this.#known.set(certificates, { list, by, epoch })
    return list
  }

  async #make(certificates: readonly string[], by: Sealing): Promise<RecipientList> {
    const recipients = new Map<string, Recipient>()
    for (const one of await this.#recipientsOf([...new Set(certificates)])) {
      recipients.set(one.fingerprint, one)
    }
    const own = hexOf(by.info.fingerprint)
    recipients.delete(own)
    recipients.set(own, { fingerprint: own, info: by.info })
    return listOf([...recipients.values()], by)
  }

  async #recipientsOf(texts: string[]): Promise<Recipient[]> {
    const found = texts.map((armored) => this.#certificates.infoOf(armored))
    const checked = await Promise.all(found.filter((one) => one instanceof Promise))
    return found.map((one) => {
      if (one instanceof Promise) return recipientOf(checked.shift(), this.#certificates.nowMs())
      return { fingerprint: hexOf(one.fingerprint), info: one }
    })
  }
}

type Recipient = { fingerprint: string } & ({ info: CertificateInfo } | { armored: string })

/** @throws Error when it cannot be sealed to */
function recipientOf(checked: CheckedCertificate | undefined, nowMs: number): Recipient {
  const { fingerprint, unusable, armored } = checked?.status ?? {}
  if (!checked || !fingerprint || unusable !== null || armored === undefined) {
    throw new Error('a certificate cannot be sealed to')
  }
  const { info } = checked
  return info !== null && holdsAt(info, nowMs) ? { fingerprint, info } : { fingerprint, armored }
}

function listOf(recipients: Recipient[], by: Sealing): RecipientList {
  const infos = recipients.flatMap((one) => ('info' in one ? [one.info] : []))
  const others = recipients.flatMap((one) => ('info' in one ? [] : [one.armored]))
  const recipientKeys = packRecipientKeys(infos.map(({ recipientKey }) => recipientKey))
  const digests = others.map((armored) => hash('sha256', armored, 'buffer'))
  const all = Buffer.concat([by.signer.fingerprint, recipientKeys, ...digests])
  const algorithms = new Set(infos.map(({ recipientKey }) => recipientKey.algorithm))
  return {
    name: hash('sha256', all, 'base64'),
    kind: `${[...algorithms].toSorted((a, b) => a - b).join(' ')} ${others.length > 0} ${infos.length > FEW}`,
    recipientKeys,
    others,
    names: recipientNames(recipients.map(({ fingerprint }) => fingerprint)),
    readAes256: infos.every(({ readsAes256 }) => readsAes256),
    fromS: Math.max(...infos.map(({ fromS }) => fromS)),
    untilS: Math.min(...infos.map(({ untilS }) => untilS)),
  }
}
