/** What is done natively, put together. */
import type { UnlockedKey } from '../engine.ts'
import type { OwnFacts } from '../own-facts.ts'
import { Ahead } from './ahead.ts'
import type { EnvelopeBounds } from './envelopes.ts'
import type { Judged } from './facts.ts'
import { Gate } from './gate.ts'
import { OwnKeys } from './own-keys.ts'
import { Packer } from './packer.ts'
import { Precedence } from './precedence.ts'
import { Reader } from './reader.ts'
import { Sealer } from './sealer.ts'
import type { SessionKey } from './session-key.ts'
import { Threads } from './threads.ts'

/** What is asked of openpgp.js. */
export interface Judge {
  judge(armored: string, atMs: number, known?: string): Promise<Judged>
  describe(key: UnlockedKey, atMs: number): Promise<OwnFacts>
  packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>
  readAes256(certificates: string[]): Promise<boolean>
}

export interface NativeOptions {
  /** Threads at most; they are started when first needed. */
  threads: number
  killed: (job: string) => void
  bounds: EnvelopeBounds
  prepared: (place: string) => void
  disagreed: () => void
}

/** The parts that the engine is made of. */
export interface Native extends AsyncDisposable {
  gate: Gate
  own: OwnKeys
  sealer: Sealer
  threads: Threads
}

/** Puts the parts together; nothing runs before it is first asked for something. */
export function createNative(library: Judge, options: NativeOptions): Native {
  const threads = new Threads(options.threads, options.killed)
  const precedence = new Precedence()
  const gate = new Gate({
    reader: new Reader(threads),
    precedence,
    judge: (armored, atMs, known) => library.judge(armored, atMs, known),
    disagreed: options.disagreed,
  })
  const own = new OwnKeys((key, atMs) => library.describe(key, atMs))
  const packer = new Packer({
    threads,
    precedence,
    packetsFor: (certificates, sessionKey) => library.packetsFor(certificates, sessionKey),
  })
  const { bounds, prepared } = options
  const sealer = new Sealer({
    gate,
    own,
    packer,
    ahead: new Ahead({ packer, bounds, prepared }),
    readAes256: (certificates) => library.readAes256(certificates),
  })
  return {
    gate,
    own,
    sealer,
    threads,
    async [Symbol.asyncDispose]() {
      gate[Symbol.dispose]()
      own.clear()
      sealer[Symbol.dispose]()
      await threads[Symbol.asyncDispose]()
    },
  }
}
