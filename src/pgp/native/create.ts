/** What is done natively, put together. */
import type { UnlockedKey } from '../engine.ts'
import type { OwnKeyInfo } from '../library/own-key-info.ts'
import { Precomputer, type PrecomputeBounds } from './precompute.ts'
import type { CheckedCertificate } from './certificate-info.ts'
import { CertificateCache } from './certificate-cache.ts'
import { OwnKeys } from './own-keys.ts'
import { RecipientPackets } from './recipient-packets.ts'
import { WorkPriority } from './work-priority.ts'
import { CertificateReader } from './certificate-reader.ts'
import { Sealer } from './sealer.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import { Threads } from './threads.ts'

/** What is asked of openpgp.js. */
export interface NativeLibrary {
  judge(armored: string, atMs: number, known?: string): Promise<CheckedCertificate>
  describe(key: UnlockedKey, atMs: number): Promise<OwnKeyInfo>
  packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>
  readAes256(certificates: string[]): Promise<boolean>
}

export interface NativeOptions {
  /** Threads at most; they are started when first needed. */
  threads: number
  bounds: PrecomputeBounds
  onThreadKilled: (job: string) => void
  onPrepared: (place: string) => void
  onDisagreement: () => void
}

/** The parts that the engine is made of. */
export interface Native extends AsyncDisposable {
  certificates: CertificateCache
  own: OwnKeys
  sealer: Sealer
  threads: Threads
}

/** Puts the parts together; nothing runs before it is first asked for something. */
export function createNative(library: NativeLibrary, options: NativeOptions): Native {
  const { bounds, onThreadKilled, onPrepared, onDisagreement } = options
  const threads = new Threads(options.threads, onThreadKilled)
  const priority = new WorkPriority()
  const certificates = new CertificateCache({
    reader: new CertificateReader(threads),
    priority,
    judge: (armored, atMs, known) => library.judge(armored, atMs, known),
    onDisagreement,
  })
  const own = new OwnKeys((key, atMs) => library.describe(key, atMs))
  const packets = new RecipientPackets({
    threads,
    priority,
    packetsFor: (texts, sessionKey) => library.packetsFor(texts, sessionKey),
  })
  const sealer = new Sealer({
    certificates,
    own,
    packets,
    precomputer: new Precomputer({ packets, bounds, onPrepared }),
    readAes256: (texts) => library.readAes256(texts),
  })
  return {
    certificates,
    own,
    sealer,
    threads,
    async [Symbol.asyncDispose]() {
      certificates[Symbol.dispose]()
      own.clear()
      sealer[Symbol.dispose]()
      await threads[Symbol.asyncDispose]()
    },
  }
}
