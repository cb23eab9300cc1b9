import type { Engine, UnlockedKey } from '../pgp/engine.ts'
import type { KeyKind } from '../pgp/library/key-kinds.ts'
import type { FileForm } from '../pgp/library/seal-file.ts'

/** A phone's own key. */
export interface Identity {
  certificate: string
  key: UnlockedKey
  kind: KeyKind
  /** Keys that it had before, newest first: they still open what was sealed to them. */
  former: UnlockedKey[]
}

/** What is unusual about a sealed file; nothing when absent. */
export interface FileSealing {
  form?: FileForm | undefined
  /** Whose key signs, instead of the phone's own. */
  signer?: UnlockedKey | undefined
  /** Certificates of those who alone can open it, instead of all who should. */
  to?: string[] | undefined
}

/** How a phone seals: signed with its own key, to whoever is named and to itself. */
export class Sealer {
  readonly #engine: Engine
  readonly #usable = new Map<string, Promise<boolean>>()

  /** What it signs with. */
  identity: Identity

  constructor(engine: Engine, identity: Identity) {
    this.#engine = engine
    this.identity = identity
  }

  /** Certificates of no use are left out. Gives one armored message. */
  async words(text: string, certificates: string[]): Promise<string> {
    return await this.#engine.seal({
      text,
      certificates: await this.#usableOf(certificates),
      signer: this.identity.key,
      cipher: 'aes256',
    })
  }

  /** Certificates of no use are left out here too. Gives the file as OpenPGP data. */
  async file(
    file: Uint8Array,
    certificates: string[],
    { form = {}, signer, to }: FileSealing = {},
  ): Promise<Uint8Array> {
    const { sealFile } = await import('../pgp/library/seal-file.ts')
    const own = to === undefined ? [this.identity.certificate] : []
    return await sealFile({
      file,
      certificates: [...(await this.#usableOf(to ?? certificates)), ...own],
      signer: signer ?? this.identity.key,
      form,
    })
  }

  async #usableOf(certificates: string[]): Promise<string[]> {
    const usable = await Promise.all(certificates.map((one) => this.#isUsable(one)))
    return certificates.filter((_, index) => usable[index])
  }

  #isUsable(certificate: string): Promise<boolean> {
    const known = this.#usable.get(certificate)
    const judged =
      known ?? this.#engine.judge(certificate).then(({ unusable }) => unusable === null)
    this.#usable.set(certificate, judged)
    return judged
  }
}
