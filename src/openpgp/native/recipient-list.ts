/** A list of recipients as it is sealed to: of each what that needs, and one name for all of it. */
import { hash } from 'node:crypto'
import { hexOf } from '../bytes.ts'
import { packRecipientKeys } from '../crypto/recipient.ts'
import { recipientNames } from '../format/signature-claim.ts'
import type { CertificateCache } from './certificate-cache.ts'
import { holdsAt, type CertificateInfo, type CheckedCertificate } from './certificate-info.ts'
import type { NativeOwnKey } from './own-keys.ts'

/** Holds from `fromS` on and before `untilS`. */
export interface RecipientList {
  /** The same for the same recipients in the same order, and the same key of ours. */
  name: string
  /** Who is sealed to natively, as `packRecipientKeys` wrote them; we are among them, last. */
  recipientKeys: Buffer
  /** Armored certificates of the others, who are the library's to seal to. */
  others: string[]
  /** Subpackets that name everybody, for the signature. */
  names: Buffer
  /** All of `recipientKeys` list AES-256 (RFC 9580, 12.1). */
  readAes256: boolean
  fromS: number
  untilS: number
}

type Sealing = NonNullable<NativeOwnKey['seals']>

interface KnownList {
  list: RecipientList
  by: Sealing
  epoch: number
}

/** Recipient lists by the very array of certificates that they are made of, which must not change. */
export class RecipientLists {
  readonly #certificates: CertificateCache
  readonly #known = new WeakMap<readonly string[], KnownList>()

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
    if (isCurrent && holdsAt(known.list, Date.now())) return known.list
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
      if (one instanceof Promise) return recipientOf(checked.shift())
      return { fingerprint: hexOf(one.fingerprint), info: one }
    })
  }
}

type Recipient = { fingerprint: string } & ({ info: CertificateInfo } | { armored: string })

/** @throws Error when it cannot be sealed to */
function recipientOf(checked: CheckedCertificate | undefined): Recipient {
  const { fingerprint, unusable, armored } = checked?.status ?? {}
  if (!checked || !fingerprint || unusable !== null || armored === undefined) {
    throw new Error('a certificate cannot be sealed to')
  }
  const { info } = checked
  return info !== null && holdsAt(info, Date.now())
    ? { fingerprint, info }
    : { fingerprint, armored }
}

function listOf(recipients: Recipient[], by: Sealing): RecipientList {
  const infos = recipients.flatMap((one) => ('info' in one ? [one.info] : []))
  const others = recipients.flatMap((one) => ('info' in one ? [] : [one.armored]))
  const recipientKeys = packRecipientKeys(infos.map(({ recipientKey }) => recipientKey))
  const digests = others.map((armored) => hash('sha256', armored, 'buffer'))
  const all = Buffer.concat([by.signer.fingerprint, recipientKeys, ...digests])
  return {
    name: hash('sha256', all, 'base64'),
    recipientKeys,
    others,
    names: recipientNames(recipients.map(({ fingerprint }) => fingerprint)),
    readAes256: infos.every(({ readsAes256 }) => readsAes256),
    fromS: Math.max(...infos.map(({ fromS }) => fromS)),
    untilS: Math.min(...infos.map(({ untilS }) => untilS)),
  }
}
