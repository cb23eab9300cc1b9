import type { Engine } from '../../openpgp/engine.ts'

/** The one OpenPGP engine of a sandbox's phones, in all its worlds. It is loaded when first used. */
export class SharedEngine implements AsyncDisposable {
  #engine: Promise<Engine> | null = null

  get(): Promise<Engine> {
    this.#engine ??= startEngine()
    return this.#engine
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#engine)?.[Symbol.asyncDispose]()
  }
}

async function startEngine(): Promise<Engine> {
  const { createEngine } = await import('../../openpgp/create.ts')
  return createEngine({ threads: 1 })
}
