/** The engine in use: natively what is of the common forms, openpgp.js in threads for the rest. */
import { openFileStream, type FileOpeningHelpers } from './stream/open-file.ts'
import type { Engine, UnlockedKey } from './engine.ts'
import { Library, type LibraryOptions } from './library/library.ts'
import type { PrecomputeBounds } from './native/precompute.ts'
import { createNative } from './native/create.ts'
import type { CertificateInfo } from './native/certificate-info.ts'
import type { CertificateCache } from './native/certificate-cache.ts'
import { MessageOpener } from './native/opener.ts'
import { unwrapNatively } from './native/open.ts'
import type { Threads } from './native/threads.ts'
import { unlockQuickly } from './native/unlock.ts'
import { Verifier } from './native/verify.ts'
import { Listeners } from '../util/listeners.ts'
import type { PoolEvents, ThreadLoad } from './pool.ts'
import type { OwnIds } from './format/encrypted-message.ts'

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
  const nothing = (): void => {}
  const threads = options.threads ?? 2
  const native = createNative(library, {
    threads,
    bounds: options.precompute ?? PRECOMPUTE,
    events,
    onPrepared: options.onPrepared ?? nothing,
    onDisagreement: () => disagreements.emit(),
  })
  const { certificates, own, sealer } = native
  let isNative = options.native ?? true
  if (!isNative) void native[Symbol.asyncDispose]()
  const opener = new MessageOpener(own, () => isNative)
  const verifier = new Verifier(() => opener.isBusy)
  const sealKnown: Engine['sealKnown'] = async (request) =>
    (await sealer.seal(request)) ?? (await library.seal(request))
  return {
    generate: (made) => library.generate(made),
    unlock: async (locked, passphrase) =>
      (isNative ? await unlockIn(native.threads, locked, passphrase) : null) ??
      (await library.unlock(locked, passphrase)),
    relock: (locked, o) => library.relock(locked, o),
    adopt: (file, secrets) => library.adopt(file, secrets),
    seal: async (request) => (await sealKnown(request)).armored,
    sealKnown,
    judge: async (armored, known) => (await certificates.check(armored, known)).status,
    open: async (armored, keys, signal) => {
      const left = await opener.open({ armored, keys, ids: idsOf(keys), signal })
      return left.outcome === 'encrypted' ? await library.open(left, keys, signal) : left
    },
    openFile: (reader, { form, keys, room }) => {
      const helpers = library.fileOpeningHelpers(keys)
      const unwrap: FileOpeningHelpers['unwrap'] = async (addressed) => {
        const found = isNative ? await unwrapNatively(addressed, keys, own) : null
        return found ?? (await helpers.unwrap(addressed))
      }
      return openFileStream(reader, { form, room, own: idsOf(keys), ...helpers, unwrap })
    },
    verify: async (signed, certificate, nowMs, signal) => {
      const found = isNative ? infoOf(certificates, certificate) : null
      const info = found instanceof Promise ? await found : found
      const isOurs = info !== null && isNative && signal?.aborted !== true
      const results = isOurs ? await verifier.verify(signed, info, nowMs) : null
      return results ?? (await library.verify(signed, certificate, { nowMs, signal }))
    },
    onThreadKilled: (listener) => kills.add(listener),
    onAvailable: (listener) => availabilities.add(listener),
    onDisagreement: (listener) => disagreements.add(listener),
    load: () => ({
      threads: { ...library.load, native: native.threads.load },
      certificates: certificates.lookups,
    }),
    async [Symbol.asyncDispose]() {
      isNative = false
      await Promise.all([native[Symbol.asyncDispose](), library[Symbol.asyncDispose]()])
    },
  }
}

/** Here where it takes no time, else in a thread. */
async function unlockIn(
  threads: Threads,
  locked: string,
  passphrase: string,
): Promise<UnlockedKey | null> {
  return unlockQuickly(locked, passphrase) ?? (await threads.unlock(locked, passphrase))
}

/** What is known of a signer, or is found out; null where it is the library's to use. */
function infoOf(
  certificates: CertificateCache,
  certificate: string,
): CertificateInfo | Promise<CertificateInfo | null> {
  const found = certificates.infoOf(certificate)
  return found instanceof Promise ? found.then(({ info }) => info).catch(() => null) : found
}

/** Of one key alone, for as long as it is held. */
const idsOfOne = new WeakMap<UnlockedKey, OwnIds>()

function idsOf(keys: UnlockedKey[]): OwnIds {
  const [first] = keys
  if (first === undefined || keys.length > 1) return idsOfAll(keys)
  const known = idsOfOne.get(first) ?? idsOfAll(keys)
  idsOfOne.set(first, known)
  return known
}

function idsOfAll(keys: UnlockedKey[]): OwnIds {
  return {
    keyIds: new Set(keys.flatMap((key) => key.keyIds)),
    fingerprints: new Set(keys.flatMap((key) => key.fingerprints)),
    keyCount: keys.length,
  }
}
