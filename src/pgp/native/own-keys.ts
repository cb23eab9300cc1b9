/** Our own keys as they are used natively: what the library says of each, with its secrets. */
import type { UnlockedKey } from '../engine.ts'
import type { OwnFacts } from '../library/own-key-info.ts'
import type { SigningKey } from '../crypto/public-key.ts'
import { holdsAt, type CertificateFacts } from './certificate-info.ts'
import { readOwnSecrets, type OwnSecret } from './own-secrets.ts'

/** A key of ours, as far as it is of the common forms. */
export interface OwnKey {
  /** Secrets that messages may be opened with, by key id. */
  opens: ReadonlyMap<string, OwnSecret>
  /** Null when it cannot seal natively now. */
  seals: { facts: CertificateFacts; signer: OwnSecret<SigningKey> } | null
  /** Whether the library takes session keys of a cipher beyond AES-128 and AES-256. */
  reads(cipher: number): boolean
}

interface Described extends OwnKey {
  facts: CertificateFacts | null
}

/** Known for as long as the unlocked key itself is held: a key that is given up is forgotten. */
export class OwnKeys {
  readonly #describe: (key: UnlockedKey, atMs: number) => Promise<OwnFacts>
  #asked = new WeakMap<UnlockedKey, Promise<Described | null>>()
  #known = new WeakMap<UnlockedKey, Described | null>()

  /** @param describe asks the library */
  constructor(describe: (key: UnlockedKey, atMs: number) => Promise<OwnFacts>) {
    this.#describe = describe
  }

  /** Gives what a key can do natively now; null when nothing is known of it. */
  async of(key: UnlockedKey): Promise<OwnKey | null> {
    const kept = await this.#asked.get(key)
    if (kept !== undefined && isCurrent(kept)) return kept
    const asked = this.#ask(key)
    this.#asked.set(key, asked)
    const answer = await asked
    if (this.#asked.get(key) === asked) this.#known.set(key, answer)
    return answer
  }

  /** The same where it is known already; undefined where it must be asked for. */
  now(key: UnlockedKey): OwnKey | null | undefined {
    const kept = this.#known.get(key)
    return kept !== undefined && isCurrent(kept) ? kept : undefined
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#asked = new WeakMap()
    this.#known = new WeakMap()
  }

  async #ask(key: UnlockedKey): Promise<Described | null> {
    try {
      const { opens, ciphers, facts } = await this.#describe(key, Date.now())
      const secrets = readOwnSecrets(key.bytes)
      const opening = [...secrets].filter(([keyId]) => opens.includes(keyId))
      return {
        opens: new Map(opening),
        seals: sealingWith(facts, secrets),
        reads: (cipher) => facts !== null && holdsAt(facts, Date.now()) && ciphers.includes(cipher),
        facts,
      }
    } catch {
      return null
    }
  }
}

/** What was said of a key at a time is asked again when something in it begins or ends. */
function isCurrent(described: Described | null): boolean {
  return described?.facts == null || holdsAt(described.facts, Date.now())
}

function sealingWith(
  facts: CertificateFacts | null,
  secrets: ReadonlyMap<string, OwnSecret>,
): OwnKey['seals'] {
  const signing = facts?.signing
  if (!facts || !signing) return null
  for (const { key, fingerprint, secret } of secrets.values()) {
    const isIt = key.algorithm === signing.algorithm && key.createdS === signing.createdS
    if (isIt && Buffer.from(signing.point).equals(key.point)) {
      return { facts, signer: { key: signing, fingerprint, secret } }
    }
  }
  return null
}
