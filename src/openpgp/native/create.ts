/** What is done natively, put together. */
import type { SessionKey } from '../crypto/session-key.ts'
import type { UnlockedKey } from '../engine.ts'
import type { PoolEvents } from '../pool.ts'
import type { OwnKeyInfo } from '../library/certificate-info.ts'
import { CertificateCache } from './certificate-cache.ts'
import type { CheckedCertificate } from './certificate-info.ts'
import { CertificateReader } from './certificate-reader.ts'
import { describeCommonKey } from './own-secrets.ts'
import { NativeOwnKeys } from './own-keys.ts'
import { Precomputer, type PrecomputeBounds } from './precompute.ts'
import { RecipientPackets } from './recipient-packets.ts'
import { MessageSealer } from './sealer.ts'
import { WorkPriority, Threads } from './threads.ts'

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
  events: PoolEvents
  onPrepared: (place: string) => void
  onDisagreement: () => void
}

/** The parts that the engine is made of. */
export interface Native extends AsyncDisposable {
  certificates: CertificateCache
  own: NativeOwnKeys
  sealer: MessageSealer
  threads: Threads
}

/** Puts the parts together; nothing runs before it is first asked for something. */
export function createNative(library: NativeLibrary, options: NativeOptions): Native {
  const { bounds, events, onPrepared, onDisagreement } = options
  const threads = new Threads(options.threads, events)
  const priority = new WorkPriority()
  const certificates = new CertificateCache({
    reader: new CertificateReader(threads),
    priority,
    judge: (armored, atMs, known) => library.judge(armored, atMs, known),
    onDisagreement,
  })
  const own = new NativeOwnKeys(
    async (key, atMs) => describeCommonKey(key, atMs) ?? (await library.describe(key, atMs)),
  )
  const packets = new RecipientPackets({
    threads,
    priority,
    packetsFor: (texts, sessionKey) => library.packetsFor(texts, sessionKey),
  })
  const sealer = new MessageSealer({
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
