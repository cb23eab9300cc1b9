/** The engine in use: natively what is of the common forms, openpgp.js in threads for the rest. */
import { Listeners } from '../util/listeners.ts'
import type { Engine } from './engine.ts'
import { ownIdsOf } from './format/recipient-scan.ts'
import { Library, type LibraryOptions } from './library/library.ts'
import { CertificateCache } from './native/certificate-cache.ts'
import { MessageOpener, unwrapNatively } from './native/opener.ts'
import { NativeOwnKeys } from './native/own-keys.ts'
import { describeCommonKey } from './native/own-secrets.ts'
import { Precomputer, type PrecomputeBounds } from './native/precompute.ts'
import { RecipientPackets } from './native/recipient-packets.ts'
import { MessageSealer } from './native/sealer.ts'
import { CertificateReader, WorkPriority } from './native/threads.ts'
import { unlockQuickly } from './native/unlock.ts'
import { Verifier } from './native/verify.ts'
import type { NativeJobs } from './native/worker.ts'
import { Pool, type PoolEvents, type ThreadLoad } from './pool.ts'
import { openFileStream, type FileOpeningHelpers } from './stream/open-file.ts'

export interface EngineOptions extends LibraryOptions {
  /** False for an engine that leaves everything to openpgp.js; to compare with. */
  native?: boolean
  /** Bounds of what is prepared of next messages; 16 MiB and five minutes by default. */
  precompute?: PrecomputeBounds
  /** Called when a job had to be killed. */
  onThreadKilled?: (job: string) => void
  /** Called when the next message of a place is ready except for its text. */
  onPrepared?: (place: string) => void
}

/** An engine that says what it is doing. */
export interface MeasuredEngine extends Engine {
  /** Calls back with a job's name when its thread had to be killed. */
  onThreadKilled(listener: (job: string) => void): void
  /**
   * Calls back with false when no thread can be started, with true when one can again.
   * @returns what ends that
   */
  onAvailable: (listener: (isAvailable: boolean) => void) => () => void
  /**
   * Calls back once, if the library judges a certificate otherwise than it was read natively; from
   * then on it reads them all.
   */
  onDisagreement(listener: () => void): void
  load(): {
    /** By kind of thread: those at work, and the jobs that wait for one. */
    threads: Record<string, ThreadLoad>
    /** How often a certificate was judged already; null where that is known elsewhere. */
    certificates: { hits: number; misses: number } | null
  }
}

/** What waits for its message, ready except for its text: a hundred of the largest groups. */
const PRECOMPUTE: PrecomputeBounds = { maxBytes: 16 * 1024 * 1024, keepMs: 300_000 }

/** Makes an engine; nothing runs before it is first asked for something. */
export function createEngine(options: EngineOptions = {}): MeasuredEngine {
  const kills = new Listeners<string>()
  const availabilities = new Listeners<boolean>()
  const disagreements = new Listeners()
  if (options.onThreadKilled !== undefined) kills.add(options.onThreadKilled)
  let poolsWithoutThread = 0
  const events: PoolEvents = {
    onKilled: (job) => kills.emit(job),
    onAvailable: (isAvailable) => {
      poolsWithoutThread += isAvailable ? -1 : 1
      availabilities.emit(poolsWithoutThread === 0)
    },
  }
  const library = new Library(options, events)
  const threads = new Pool<NativeJobs>('native/worker', options.threads ?? 2, events)
  const priority = new WorkPriority()
  const certificates = new CertificateCache({
    reader: new CertificateReader(threads),
    priority,
    judge: library.judge,
    onDisagreement: () => disagreements.emit(),
  })
  const own = new NativeOwnKeys(
    async (key, atMs) => describeCommonKey(key, atMs) ?? (await library.describe(key, atMs)),
  )
  const packets = new RecipientPackets({ threads, priority, packetsFor: library.packetsFor })
  const { precompute: bounds = PRECOMPUTE, onPrepared = () => {} } = options
  const sealer = new MessageSealer({
    certificates,
    own,
    packets,
    precomputer: new Precomputer({ packets, bounds, onPrepared }),
    readAes256: library.readAes256,
  })
  let isNative = true
  const endNative = async (): Promise<void> => {
    isNative = false
    certificates[Symbol.dispose]()
    own.clear()
    sealer[Symbol.dispose]()
    await threads[Symbol.asyncDispose]()
  }
  // oxlint-disable-next-line typescript/no-floating-promises -- no thread has started yet
  if (options.native === false) void endNative()
  const opener = new MessageOpener(own, () => isNative)
  const verifier = new Verifier(() => opener.isBusy)
  const sealKnown: Engine['sealKnown'] = async (request) =>
    (await sealer.seal(request)) ?? (await library.seal(request))
  return {
    generate: library.generate,
    unlock: async (...locked) => {
      // in a thread, where it takes time
      const unlocked = isNative
        ? (unlockQuickly(...locked) ?? (await threads.run('unlock', locked)))
        : null
      return unlocked ?? (await library.unlock(...locked))
    },
    relock: library.relock,
    adopt: library.adopt,
    seal: async (request) => (await sealKnown(request)).armored,
    sealKnown,
    judge: async (armored, known) => (await certificates.check(armored, known)).status,
    open: async (armored, keys, signal) => {
      const left = await opener.open({ armored, keys, ids: ownIdsOf(keys), signal })
      return left.outcome === 'encrypted' ? await library.open(left, keys, signal) : left
    },
    openFile: (reader, { form, keys, room }) => {
      const helpers = library.fileOpeningHelpers(keys)
      const unwrap: FileOpeningHelpers['unwrap'] = async (addressed) => {
        const found = isNative ? await unwrapNatively(addressed, keys, own) : null
        return found ?? (await helpers.unwrap(addressed))
      }
      return openFileStream(reader, { form, room, own: ownIdsOf(keys), ...helpers, unwrap })
    },
    verify: async (signed, certificate, nowMs, signal) => {
      const found = isNative ? certificates.infoOf(certificate) : null
      const checked = found instanceof Promise ? await found.catch(() => null) : { info: found }
      const info = checked?.info ?? null
      const isOurs = info !== null && isNative && signal?.aborted !== true
      const results = isOurs ? await verifier.verify(signed, info, nowMs) : null
      return results ?? (await library.verify(signed, certificate, { nowMs, signal }))
    },
    onThreadKilled: (listener) => kills.add(listener),
    onAvailable: (listener) => availabilities.add(listener),
    onDisagreement: (listener) => disagreements.add(listener),
    load: () => ({
      threads: { ...library.load, native: threads.load },
      certificates: certificates.lookups,
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([endNative(), library[Symbol.asyncDispose]()])
    },
  }
}
