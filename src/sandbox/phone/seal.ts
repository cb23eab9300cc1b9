import type { Engine, UnlockedKey } from '../../openpgp/index.ts'
import type { KeyKind } from './library-keys.ts'
import type { FileForm } from './seal-file.ts'

/** A phone's own key. */
export interface PhoneIdentity {
  certificate: string
  key: UnlockedKey
  kind: KeyKind
  /** Keys that it had before, newest first: they still open what was sealed to them. */
  former: UnlockedKey[]
}

/** All keys that open what is sealed to a phone, the newest first. */
export const keysOf = ({ key, former }: PhoneIdentity): UnlockedKey[] => [key, ...former]

/** How a file is sealed otherwise than usual. */
export interface FileSealingOptions {
  form?: FileForm | undefined
  /** Whose key signs, instead of the phone's own. */
  signer?: UnlockedKey | undefined
  /** Certificates of those who alone can open it, instead of all who should. */
  to?: string[] | undefined
}

/** Seals for a phone: signs with its key and encrypts to the given certificates and its own. */
export class PhoneSealer {
  readonly #engine: Engine
  readonly #nowMs: () => number
  readonly #usable = new Map<string, Promise<boolean>>()

  /** The phone's own keys. */
  identity: PhoneIdentity

  /** @param nowMs the time at the service, by which a phone signs */
  constructor(engine: Engine, identity: PhoneIdentity, nowMs: () => number) {
    this.#engine = engine
    this.identity = identity
    this.#nowMs = nowMs
  }

  /** Gives an armored message. Unusable certificates are left out. */
  async sealText(text: string, certificates: string[]): Promise<string> {
    return await this.#engine.seal({
      text,
      certificates: await this.#usableCertificates(certificates),
      signer: this.identity.key,
      atMs: this.#nowMs(),
      cipher: 'aes256',
      isUnnamed: true,
    })
  }

  /** Gives the file as OpenPGP data. Unusable certificates are left out. */
  async sealFile(
    file: Uint8Array,
    certificates: string[],
    { form = {}, signer, to }: FileSealingOptions = {},
  ): Promise<Uint8Array> {
    const { sealFile } = await import('./seal-file.ts')
    const own = to === undefined ? [this.identity.certificate] : []
    return await sealFile({
      file,
      certificates: [...(await this.#usableCertificates(to ?? certificates)), ...own],
      signer: signer ?? this.identity.key,
      atMs: this.#nowMs(),
      form,
    })
  }

  async #usableCertificates(certificates: string[]): Promise<string[]> {
    const usable = await Promise.all(certificates.map((one) => this.#isUsable(one)))
    return certificates.filter((_, index) => usable[index])
  }

  #isUsable(certificate: string): Promise<boolean> {
    const isUsable =
      this.#usable.get(certificate) ??
      this.#engine.judge(certificate).then(({ unusable }) => unusable === null)
    this.#usable.set(certificate, isUsable)
    return isUsable
  }
}
