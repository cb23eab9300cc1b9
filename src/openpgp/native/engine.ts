/** Sealing, opening, verifying and unlocking of the common forms, with their caches and threads. */
import type { Engine, UnlockedKey } from '../engine.ts'
import { ownIdsOf, type FoundKey, type ScannedRecipients } from '../format/recipient-scan.ts'
import { isHeld } from '../key-holder.ts'
import { Pool, type PoolEvents } from '../pool.ts'
import { CertificateCache, type CertificateCacheParts } from './certificate-cache.ts'
import * as containers from './container.ts'
import { unlockHeld } from './held-key.ts'
import { MessageOpener, unwrapNatively, type OpenResult } from './opener.ts'
import { NativeOwnKeys, type DescribeOwnKey } from './own-keys.ts'
import { describeCommonKey, FEW_BYTES, unlockNatively } from './own-secrets.ts'
import { Precomputer, type PrecomputeBounds } from './precompute.ts'
import { RecipientPackets, type RecipientPacketsParts } from './recipient-packets.ts'
import { MessageSealer, type MessageSealerParts } from './sealer.ts'
import { CertificateReader, WorkPriority } from './threads.ts'
import { Verifier } from './verify.ts'
import type { NativeJobs } from './worker.ts'

export interface NativeEngineParts {
  /** The work of the library for native code. */
  library: {
    judgeForNative: CertificateCacheParts['judge']
    describe: DescribeOwnKey
    packetsFor: RecipientPacketsParts['packetsFor']
    readAes256: MessageSealerParts['readAes256']
  }
  /** Threads at most. */
  threads: number
  events: PoolEvents
  bounds: PrecomputeBounds
  nowMs: () => number
  onPrepared: (place: string) => void
  /** Called once, when the library and native code read a certificate differently. */
  onDisagreement: () => void
  /** Called for every message that was sealed here, with the kind of its recipient list. */
  onSealed: MessageSealerParts['onSealed']
}

/** Native code for all common forms; null for any other form, which is the library's. */
export class NativeEngine implements AsyncDisposable {
  readonly threads: Pool<NativeJobs>
  readonly certificates: CertificateCache
  readonly #own: NativeOwnKeys
  readonly sealer: MessageSealer
  readonly #opener: MessageOpener
  readonly #verifier: Verifier
  #isEnded = false
  readonly containers = containers

  constructor(parts: NativeEngineParts) {
    const { library, threads, events, bounds, nowMs, onPrepared, onDisagreement, onSealed } = parts
    this.threads = new Pool('native/worker', threads, events)
    const priority = new WorkPriority()
    this.certificates = new CertificateCache({
      reader: new CertificateReader(this.threads, nowMs),
      priority,
      judge: library.judgeForNative,
      nowMs,
      onDisagreement,
    })
    this.#own = new NativeOwnKeys(
      async (key, atMs) => describeCommonKey(key, atMs) ?? (await library.describe(key, atMs)),
      nowMs,
    )
    const packets = new RecipientPackets({
      threads: this.threads,
      priority,
      packetsFor: library.packetsFor,
    })
    this.sealer = new MessageSealer({
      certificates: this.certificates,
      own: this.#own,
      packets,
      precomputer: new Precomputer({ packets, bounds, onPrepared }),
      readAes256: library.readAes256,
      onSealed,
    })
    const isNative = (): boolean => !this.#isEnded
    this.#opener = new MessageOpener(this.#own, isNative, () => this.#verifier.help())
    this.#verifier = new Verifier(() => this.#opener.isBusy)
  }

  /** A slow lock is opened in a thread. */
  async unlock(...[locked, passphrase, holder]: Parameters<Engine['unlock']>) {
    if (holder !== undefined && isHeld(locked)) return await unlockHeld(locked, holder)
    const quickly = unlockNatively(locked, passphrase, FEW_BYTES)
    return quickly ?? (await this.threads.run('unlock', [locked, passphrase]))
  }

  open(armored: string, keys: UnlockedKey[], signal?: AbortSignal): Promise<OpenResult> {
    return this.#opener.open({ armored, keys, ids: ownIdsOf(keys), signal })
  }

  unwrap(addressed: ScannedRecipients, keys: UnlockedKey[]): Promise<FoundKey[] | null> {
    return unwrapNatively(addressed, keys, this.#own)
  }

  async verify(...[signed, certificate, nowMs, signal]: Parameters<Engine['verify']>) {
    const found = this.certificates.infoOf(certificate)
    const checked = found instanceof Promise ? await found.catch(() => null) : { info: found }
    const info = checked?.info ?? null
    if (info === null || this.#isEnded || signal?.aborted === true) return null
    return await this.#verifier.verify(signed, info, nowMs)
  }

  /** Forgets every secret and everything that was read. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true
    this.certificates[Symbol.dispose]()
    this.#own.clear()
    this.sealer[Symbol.dispose]()
    await this.threads[Symbol.asyncDispose]()
  }
}
