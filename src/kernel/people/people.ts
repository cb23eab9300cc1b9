import type { ForgottenPeople, Keys, Memory, Records, SignedKind } from '../memory.ts'

export interface Pair {
  fingerprint: string
  userId: number
}

/** Owners of certificates by the operator's decision, and all people with a signature. */
export class People {
  readonly #memory: Memory
  readonly #ownerOf = new Map<string, number>()
  /** Grows with every change of owners, pins, policies and listings, by this process or another. */
  readonly epoch = { value: 0 }
  readonly #signed = { words: new Set<number>(), file: new Set<number>() }
  /** Of these, who is not on disk yet. */
  readonly #unwritten = { words: new Set<number>(), file: new Set<number>() }

  forgotten: ForgottenPeople | undefined

  private constructor(memory: Memory) {
    this.#memory = memory
  }

  static async load(memory: Memory, forgotten?: ForgottenPeople): Promise<People> {
    const people = new People(memory)
    people.forgotten = forgotten
    const { words, file } = people.#unwritten
    memory.writeFirst({
      isDue: () => words.size + file.size > 0,
      save: (records) => people.#saveUnwritten(records),
    })
    await memory.keep('certificates', (records, keys) => people.#readOwners(records, keys))
    await memory.keep('people', (records, keys) => people.#readSigned(records, keys))
    return people
  }

  async #readOwners({ certificates }: Records, fingerprints: Keys): Promise<void> {
    const owners = await certificates.owners(fingerprints)
    this.epoch.value++
    for (const fingerprint of fingerprints ?? []) this.#ownerOf.delete(fingerprint)
    for (const { fingerprint, userId } of owners) this.#ownerOf.set(fingerprint, userId)
  }

  async #readSigned({ signers }: Records, userIds: Keys): Promise<void> {
    const signed = await signers.of(userIds)
    for (const userId of userIds ?? []) {
      for (const known of Object.values(this.#signed)) known.delete(Number(userId))
    }
    for (const { userId, kinds } of signed) for (const kind of kinds) this.#signed[kind].add(userId)
  }

  /** The owner by the operator's decision; undefined without one. */
  ownerOf(fingerprint: string): number | undefined {
    return this.#ownerOf.get(fingerprint)
  }

  isOthers({ fingerprint, userId }: Pair): boolean {
    const owner = this.#ownerOf.get(fingerprint)
    return owner !== undefined && owner !== userId
  }

  ownerSaved({ userId, fingerprint }: Pair): void {
    this.#ownerOf.set(fingerprint, userId)
  }

  /** Whether the person has ever signed this kind, and must go on signing. */
  hasSigned(userId: number, kind: SignedKind): boolean {
    const isForgotten = this.forgotten?.hasSigned(userId, kind) === true
    return isForgotten || this.#signed[kind].has(userId) || this.#unwritten[kind].has(userId)
  }

  /** Counts from the call on, also when this rejects. @throws Refusal `postern_store_unwritable` */
  async rememberSigned(userIds: number[], kind: SignedKind): Promise<void> {
    const unwritten = this.#unwritten[kind]
    for (const userId of userIds) if (!this.#signed[kind].has(userId)) unwritten.add(userId)
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

  signedForgotten(userId: number): void {
    this.forgotten?.startOver(userId)
    for (const signed of Object.values(this.#signed)) signed.delete(userId)
  }
}
