/** Our own keys in native code: their description, by native code or the library, and secrets. */
import type { SignatureAlgorithm, SigningKey } from '../crypto/algorithm.ts'
import type { UnlockedKey } from '../engine.ts'
import { readHeldSecrets, type HeldSecret } from './held-key.ts'
import { readOwnSecrets, type OwnSecret } from './own-secrets.ts'
import { holdsAt } from '../certificate-statuses.ts'
import type { CertificateInfo, OwnKeyInfo } from '../certificate-info.ts'
import { signatureAlgorithm } from '../crypto/public-key.ts'

/** The key of ours that signs messages, with its secret or with its holder. */
export type MessageSigner = (OwnSecret<SigningKey> | HeldSecret<SigningKey>) & {
  algorithm: SignatureAlgorithm
}

/** A key of ours, as far as it is of the common forms. */
export interface NativeOwnKey {
  /** Secrets that messages may be opened with, by key id. */
  opens: ReadonlyMap<string, OwnSecret | HeldSecret>
  /** Null when it cannot seal natively now. */
  seals: { info: CertificateInfo; signer: MessageSigner } | null
  /** Of its certificate, as it was described. */
  info: CertificateInfo | null
}

export type DescribeOwnKey = (key: UnlockedKey, atMs: number) => Promise<OwnKeyInfo>

/** Known for as long as the unlocked key itself is held: a key that is given up is forgotten. */
export class NativeOwnKeys {
  readonly #describe: DescribeOwnKey
  readonly #nowMs: () => number
  #known = new WeakMap<UnlockedKey, Promise<NativeOwnKey | null>>()

  constructor(describe: DescribeOwnKey, nowMs = (): number => Date.now()) {
    this.#describe = describe
    this.#nowMs = nowMs
  }

  /** Describes the native use of a key now; null without a description. */
  async of(key: UnlockedKey): Promise<NativeOwnKey | null> {
    const kept = await this.#known.get(key)
    if (kept !== undefined && this.#isCurrent(kept)) return kept
    const asked = this.#ask(key)
    this.#known.set(key, asked)
    return await asked
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#known = new WeakMap()
  }

  async #ask(key: UnlockedKey): Promise<NativeOwnKey | null> {
    try {
      const { opens, info } = await this.#describe(key, this.#nowMs())
      const secrets: NativeOwnKey['opens'] = key.holder
        ? readHeldSecrets(key.bytes, key.holder)
        : readOwnSecrets(key.bytes)
      const signer = info?.signingKey ? signerOf(info.signingKey, secrets) : null
      const opening = [...secrets].filter(([keyId]) => opens.includes(keyId))
      return { opens: new Map(opening), seals: signer && info && { info, signer }, info }
    } catch {
      return null
    }
  }

  /** An answer about a key is computed again when something in the key begins or ends. */
  #isCurrent(described: NativeOwnKey | null): boolean {
    return described?.info == null || holdsAt(described.info, this.#nowMs())
  }
}

/** Finds the signing key of a description among our secrets; null where it is not there. */
function signerOf(signingKey: SigningKey, secrets: NativeOwnKey['opens']): MessageSigner | null {
  for (const own of secrets.values()) {
    const { algorithm, createdS, point } = own.key
    const isIt = algorithm === signingKey.algorithm && createdS === signingKey.createdS
    if (!isIt || !Buffer.from(signingKey.point).equals(point)) continue
    return { ...own, key: signingKey, algorithm: signatureAlgorithm(algorithm) }
  }
  return null
}
