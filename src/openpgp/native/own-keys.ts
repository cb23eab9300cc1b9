/** Our own keys as they are used natively: what the library says of each, with its secrets. */
import type { SignatureAlgorithm, SigningKey } from '../crypto/algorithm.ts'
import { signatureAlgorithm } from '../crypto/algorithms.ts'
import type { UnlockedKey } from '../engine.ts'
import type { OwnKeyInfo } from '../library/certificate-info.ts'
import type { CertificateInfo } from './certificate-info.ts'
import { holdsAt } from '../certificate-statuses.ts'
import { readOwnSecrets, type OwnSecret } from './own-secrets.ts'

/** A key of ours that signs messages, with the algorithm that does. */
export interface MessageSigner extends OwnSecret<SigningKey> {
  algorithm: SignatureAlgorithm
}

/** A key of ours, as far as it is of the common forms. */
export interface NativeOwnKey {
  /** Secrets that messages may be opened with, by key id. */
  opens: ReadonlyMap<string, OwnSecret>
  /** Null when it cannot seal natively now. */
  seals: { info: CertificateInfo; signer: MessageSigner } | null
  /** Whether the library takes session keys of a cipher beyond AES-128 and AES-256. */
  reads(cipher: number): boolean
}

interface Described extends NativeOwnKey {
  info: CertificateInfo | null
}

interface DescribedKey {
  asked: Promise<Described | null>
  /** Undefined until it is there. */
  answer: Described | null | undefined
}

/** Known for as long as the unlocked key itself is held: a key that is given up is forgotten. */
export class NativeOwnKeys {
  readonly #describe: (key: UnlockedKey, atMs: number) => Promise<OwnKeyInfo>
  readonly #nowMs: () => number
  #known = new WeakMap<UnlockedKey, DescribedKey>()

  /** @param describe asks the library */
  constructor(
    describe: (key: UnlockedKey, atMs: number) => Promise<OwnKeyInfo>,
    nowMs = (): number => Date.now(),
  ) {
    this.#describe = describe
    this.#nowMs = nowMs
  }

  /** Gives what a key can do natively now; null when nothing is known of it. */
  async of(key: UnlockedKey): Promise<NativeOwnKey | null> {
    const before = this.#known.get(key)
    const kept = await before?.asked
    if (kept !== undefined && this.#isCurrent(kept)) return kept
    const known: DescribedKey = { asked: this.#ask(key), answer: undefined }
    this.#known.set(key, known)
    known.answer = await known.asked
    return known.answer
  }

  /** The same where it is known already; undefined where it must be asked for. */
  now(key: UnlockedKey): NativeOwnKey | null | undefined {
    const kept = this.#known.get(key)?.answer
    return kept !== undefined && this.#isCurrent(kept) ? kept : undefined
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#known = new WeakMap()
  }

  async #ask(key: UnlockedKey): Promise<Described | null> {
    try {
      const { opens, ciphers, info } = await this.#describe(key, this.#nowMs())
      const secrets = readOwnSecrets(key.bytes)
      const opening = [...secrets].filter(([keyId]) => opens.includes(keyId))
      return {
        opens: new Map(opening),
        seals: sealingWith(info, secrets),
        reads: (cipher) =>
          info !== null && holdsAt(info, this.#nowMs()) && ciphers.includes(cipher),
        info,
      }
    } catch {
      return null
    }
  }

  /** An answer about a key is computed again when something in the key begins or ends. */
  #isCurrent(described: Described | null): boolean {
    return described?.info == null || holdsAt(described.info, this.#nowMs())
  }
}

function sealingWith(
  info: CertificateInfo | null,
  secrets: ReadonlyMap<string, OwnSecret>,
): NativeOwnKey['seals'] {
  const signingKey = info?.signingKey
  if (!info || !signingKey) return null
  for (const { key, fingerprint, secret } of secrets.values()) {
    const isIt = key.algorithm === signingKey.algorithm && key.createdS === signingKey.createdS
    if (isIt && Buffer.from(signingKey.point).equals(key.point)) {
      const algorithm = signatureAlgorithm(signingKey.algorithm)
      return { info, signer: { key: signingKey, fingerprint, secret, algorithm } }
    }
  }
  return null
}
