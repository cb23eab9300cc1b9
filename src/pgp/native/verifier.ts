/** Verifying signatures of the common form: one alone here, many beside each other. */
import type { Statement } from '../crypto/algorithm.ts'
import type { Signed, SignedAtLength, SignatureResult } from '../engine.ts'
import { signatureAlgorithm } from '../crypto/algorithms.ts'
import type { CertificateInfo } from './certificate-info.ts'
import { checkClaims } from './verify.ts'

/** On libuv's pool at once: all else that uses it gets its turn. */
const AT_ONCE = 16

interface Asked {
  statement: Statement
  resolve: (holds: boolean) => void
  reject: (error: Error) => void
}

export class Verifier {
  readonly #isBusy: () => boolean
  readonly #waiting: Asked[] = []
  #running = 0

  /** @param isBusy whether there is anything else to do here that signatures can be verified beside */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy
  }

  /**
   * Judges signatures against what is known of a certificate, as `verify` of the library does.
   * @returns null where any of them is not of the common form, before any is verified
   */
  async verify(
    signed: Signed | SignedAtLength,
    info: CertificateInfo,
    nowMs: number,
  ): Promise<SignatureResult[] | null> {
    const all = checkClaims(signed, info, nowMs)
    if (all === null) return null
    const results: SignatureResult[] = []
    for (const one of all) {
      results.push(typeof one === 'string' ? one : (await this.#holds(one)) ? 'valid' : 'bad')
    }
    return results
  }

  #holds(statement: Statement): boolean | Promise<boolean> {
    if (this.#running === 0 && !this.#isBusy()) {
      // Alone it is sooner verified here than on libuv's pool; one in a turn of the loop, no more.
      this.#running++
      setImmediate(() => this.#end())
      return signatureAlgorithm(statement.algorithm).holds(statement)
    }
    return new Promise((resolve, reject) => {
      const asked = { statement, resolve, reject }
      if (this.#running >= AT_ONCE) this.#waiting.push(asked)
      else this.#start(asked)
    })
  }

  #start({ statement, resolve, reject }: Asked): void {
    this.#running++
    signatureAlgorithm(statement.algorithm).holdsAside(statement, (error, isTrue) => {
      this.#end()
      if (error === null) resolve(isTrue)
      else reject(error)
    })
  }

  #end(): void {
    this.#running--
    const next = this.#waiting.shift()
    if (next !== undefined) this.#start(next)
  }
}
