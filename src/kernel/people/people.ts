import type { Memory, Records, SignedKind } from '../memory.ts'

/** A certificate, and the person who is its claimed owner. */
export interface Pair {
  fingerprint: string
  userId: number
}

/**
 * What is remembered of people for good: whose a certificate is by the operator's decision, and who
 * has ever signed. Only the operator changes either.
 */
export class People {
  readonly #memory: Memory
  readonly #ownerOf = new Map<string, number>()
  /** How often owners were read again since the start. */
  changes = 0
  readonly #signed = { words: new Set<number>(), file: new Set<number>() }
  /** Of these, who is not on disk yet. */
  readonly #unwritten = { words: new Set<number>(), file: new Set<number>() }

  private constructor(memory: Memory) {
    this.#memory = memory
  }

  static async load(memory: Memory): Promise<People> {
    const people = new People(memory)
    memory.follow('certificates', (records, keys) => people.#rereadOwners(records, keys))
    memory.follow('people', (records, keys) => people.#rereadSigned(records, keys.map(Number)))
    memory.writeFirst({
      get isDue() {
        return people.#unwritten.words.size + people.#unwritten.file.size > 0
      },
      save: (records) => people.#saveUnwritten(records),
    })
    const owners = await memory.read(({ certificates }) => certificates.owners())
    for (const { fingerprint, userId } of owners) people.#ownerOf.set(fingerprint, userId)
    people.#takeSigned(await memory.read(({ signers }) => signers.all()))
    return people
  }

  async #rereadOwners({ certificates }: Records, fingerprints: readonly string[]): Promise<void> {
    const owners = await certificates.owners(fingerprints)
    this.changes++
    for (const fingerprint of fingerprints) this.#ownerOf.delete(fingerprint)
    for (const { fingerprint, userId } of owners) this.#ownerOf.set(fingerprint, userId)
  }

  async #rereadSigned({ signers }: Records, userIds: readonly number[]): Promise<void> {
    const signed = await signers.of(userIds)
    for (const userId of userIds) this.signedForgotten(userId)
    this.#takeSigned(signed)
  }

  #takeSigned(signers: readonly { userId: number; kinds: SignedKind[] }[]): void {
    for (const { userId, kinds } of signers) {
      for (const kind of kinds) this.#signed[kind].add(userId)
    }
  }

  /** Whose certificate it is by the operator's decision; undefined without one. */
  ownerOf(fingerprint: string): number | undefined {
    return this.#ownerOf.get(fingerprint)
  }

  /** Whether the operator has named somebody else as the owner of a certificate. */
  isOthers({ fingerprint, userId }: Pair): boolean {
    const owner = this.#ownerOf.get(fingerprint)
    return owner !== undefined && owner !== userId
  }

  /** Remembers an owner that the operator has named, once it is on disk. */
  ownerSaved({ userId, fingerprint }: Pair): void {
    this.#ownerOf.set(fingerprint, userId)
  }

  /** Whether the person has ever signed such a thing; from then on, one without is not theirs. */
  hasSigned(userId: number, kind: SignedKind): boolean {
    return this.#signed[kind].has(userId) || this.#unwritten[kind].has(userId)
  }

  /** It counts from the call on, also when this rejects. @throws Refusal `postern_store_unwritable` */
  async rememberSigned(userIds: number[], kind: SignedKind): Promise<void> {
    const unwritten = this.#unwritten[kind]
    for (const userId of userIds) {
      if (!this.#signed[kind].has(userId)) unwritten.add(userId)
    }
    if (userIds.some((userId) => unwritten.has(userId))) await this.#memory.settle()
  }

  async #saveUnwritten({ signers }: Records): Promise<() => void> {
    const kinds = ['words', 'file'] as const
    const written = kinds.flatMap((kind) =>
      [...this.#unwritten[kind]].map((userId) => ({ kind, userId })),
    )
    for (const { kind, userId } of written) await signers.add(userId, kind)
    return () => {
      for (const { kind, userId } of written) {
        this.#signed[kind].add(userId)
        this.#unwritten[kind].delete(userId)
      }
    }
  }

  /** Forgets that a person once signed, once that is forgotten on disk: the person begins anew. */
  signedForgotten(userId: number): void {
    for (const signed of Object.values(this.#signed)) signed.delete(userId)
  }
}
