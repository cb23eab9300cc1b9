/** The floor: OpenSSL's own speed for the primitives, on as many threads as the engine can use. */
import { diffieHellman, generateKeyPairSync, sign, verify, randomBytes } from 'node:crypto'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'

/** What is counted: key pairs made, secrets agreed on, signatures verified. */
interface Work {
  pairs?: number
  secrets?: number
  signatures?: number
}

const fixed = generateKeyPairSync('x25519')
const signer = generateKeyPairSync('ed25519')
const digest = randomBytes(64)
const signature = sign(null, digest, signer.privateKey)

function compute({ pairs = 0, secrets = 0, signatures = 0 }: Work): void {
  let pair = fixed
  for (let done = 0; done < Math.max(pairs, secrets); done++) {
    if (done < pairs) pair = generateKeyPairSync('x25519')
    if (done < secrets) diffieHellman({ privateKey: pair.privateKey, publicKey: fixed.publicKey })
  }
  for (let done = 0; done < signatures; done++) verify(null, digest, signer.publicKey, signature)
}

if (!isMainThread) {
  parentPort?.on('message', (work: Work) => {
    compute(work)
    parentPort?.postMessage('done')
  })
}

/** Two threads, this one and another. */
export class Floor implements AsyncDisposable {
  readonly #other = new Worker(new URL(import.meta.url))

  /** The work shared between both. */
  async onTwo(work: Work): Promise<void> {
    const { pairs = 0, secrets = 0, signatures = 0 } = work
    const half = (count: number): number => Math.floor(count / 2)
    const theirs = { pairs: half(pairs), secrets: half(secrets), signatures: half(signatures) }
    const done = new Promise((resolve) => this.#other.once('message', resolve))
    this.#other.postMessage(theirs)
    compute({
      pairs: pairs - theirs.pairs,
      secrets: secrets - theirs.secrets,
      signatures: signatures - theirs.signatures,
    })
    await done
  }

  /** All of the work here. */
  onOne(work: Work): Promise<void> {
    compute(work)
    return Promise.resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#other.terminate()
  }
}
