/** What is done natively, put together. */
import type { UnlockedKey } from '../engine.ts'
import type { OwnFacts } from '../library/own-key-info.ts'
import { Ahead } from './precompute.ts'
import type { EnvelopeBounds } from './prepared-messages.ts'
import type { Judged } from './certificate-info.ts'
import { Gate } from './certificate-cache.ts'
import { OwnKeys } from './own-keys.ts'
import { Packer } from './recipient-packets.ts'
import { Precedence } from './work-priority.ts'
import { Reader } from './certificate-reader.ts'
import { Sealer } from './sealer.ts'
import type { SessionKey } from '../crypto/session-key.ts'
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
