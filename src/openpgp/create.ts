/** The engine in use: native code for the common forms, openpgp.js in threads for all others. */
import { Listeners } from '../util/listeners.ts'
import { Checker, heldSessionKeys } from './checker.ts'
import type { CheckScope, EngineCheck, MeasuredEngine } from './checker.ts'
import type { Engine } from './engine.ts'
import { parseMessage } from './format/encrypted-message.ts'
import { ownIdsOf } from './format/recipient-scan.ts'
import { Library, type LibraryOptions } from './library/library.ts'
import type { NativeEngine } from './native/engine.ts'
import type { PrecomputeBounds } from './native/precompute.ts'
import type { PoolEvents } from './pool.ts'
import { openFileStream } from './stream/open-file.ts'

export interface EngineOptions extends LibraryOptions {
  /** The engine: native code beside openpgp.js (the default), or openpgp.js alone. */
  engine?: 'native' | 'library'
  /** How many operations of native code openpgp.js repeats; none by default. */
  check?: CheckScope | 'off'
  /** Bounds of prepared messages; 16 MiB and five minutes by default. */
  precompute?: PrecomputeBounds
  /** Called when the next message of a place is ready except for its text. */
  onPrepared?: (place: string) => void
}

/** Traces put a span around these calls of an engine, and replace no other method. */
export const TRACED_OF_ENGINE = ['sealKnown'] as const

/** Bounds of messages prepared except for their text: a hundred of the largest groups. */
const PRECOMPUTE: PrecomputeBounds = { maxBytes: 16 * 1024 * 1024, keepMs: 300_000 }

/** Makes an engine; nothing runs before it is first asked for something. */
export function createEngine(options: EngineOptions = {}): MeasuredEngine {
  const kills = new Listeners<string>()
  const availabilities = new Listeners<boolean>()
  const disagreements = new Listeners()
  const checks = new Listeners<EngineCheck>()
  const differences = new Listeners()
  let poolsWithoutThread = 0
  const events: PoolEvents = {
    onKilled: (job) => kills.emit(job),
    onAvailable: (isAvailable) => {
      poolsWithoutThread += isAvailable ? -1 : 1
      availabilities.emit(poolsWithoutThread === 0)
    },
  }
  const library = new Library(options, events)
  const { threads = 2, precompute: bounds = PRECOMPUTE, onPrepared = () => {} } = options
  const { check: scope = 'off', nowMs: time = () => Date.now() } = options
  let isNative = options.engine !== 'library'
  let loading: Promise<NativeEngine> | null = null
  let native: NativeEngine | null = null
  const load = async (): Promise<NativeEngine> => {
    const { NativeEngine: Loaded } = await import('./native/engine.ts')
    const onSealed = checker?.sealed.bind(checker)
    const here = { library, threads, events, bounds, nowMs: time, onPrepared }
    native = new Loaded({ ...here, onSealed, onDisagreement: () => disagreements.emit() })
    return native
  }
  const report = (ended: EngineCheck): void => {
    checks.emit(ended)
    if (ended.result !== 'differs' || !isNative) return
    // oxlint-disable-next-line typescript/no-floating-promises -- a thread that does not end is gone with the process
    endNative()
    differences.emit()
  }
  const checker = scope === 'off' || !isNative ? null : new Checker(scope, report)
  /** Native code, loaded when it is first asked for; null where the library does all of it. */
  const ours = async (): Promise<NativeEngine | null> =>
    isNative ? (native ?? (await (loading ??= load()))) : null
  const endNative = async (): Promise<void> => {
    isNative = false
    await (await loading)?.[Symbol.asyncDispose]()
  }
  const check = async (armored: string, known?: string) =>
    (await ours())?.certificates.check(armored, known) ??
    (await library.certificates.of({ armored, known }))
  const sealKnown: Engine['sealKnown'] = async (request) => {
    const here = await ours()
    const sealed = await here?.sealer.seal(request)
    const unchecked = here === null ? new Set(request.certificates) : []
    const checked = await Promise.all([...unchecked].map((armored) => check(armored)))
    if (checked.some(({ status }) => status.unusable !== null)) {
      throw new Error('a certificate cannot be sealed to')
    }
    return sealed ?? (await library.seal(request))
  }
  return {
    ...library.alone,
    unlock: async (...locked) =>
      (await (await ours())?.unlock(...locked)) ?? (await library.unlock(...locked)),
    signText: async (text, signer, atMs) => {
      const { holder } = signer
      if (holder === undefined) return await library.alone.signText(text, signer, atMs)
      const { signHeldText } = await import('./native/held-key.ts')
      return await signHeldText(text, { ...signer, holder }, atMs)
    },
    seal: async (request) => (await sealKnown(request)).armored,
    sealKnown,
    judge: async (armored, known) => (await check(armored, known)).status,
    certifications: library.certifications,
    open: async (armored, keys, signal) => {
      const natively = (await ours())?.open(armored, keys, signal)
      const left = (await natively) ?? parseMessage(armored, ownIdsOf(keys))
      if (left.outcome === 'opened') checker?.opened(armored, keys, left)
      if (left.outcome !== 'encrypted') return left
      const found = await heldSessionKeys(left, keys)
      return await library.open({ ...left, found }, keys, signal)
    },
    openFile: async (reader, { form, keys, room }) => {
      const here = await ours()
      const helpers = library.fileOpeningHelpers(keys)
      return await openFileStream(reader, {
        form,
        room,
        own: ownIdsOf(keys),
        ...helpers,
        unwrap: async (addressed) =>
          (await here?.unwrap(addressed, keys)) ??
          [await heldSessionKeys(addressed, keys), await helpers.unwrap(addressed)].flat(),
        native: here?.containers ?? null,
      })
    },
    verify: async (signed, certificate, nowMs, signal) => {
      const results = await (await ours())?.verify(signed, certificate, nowMs, signal)
      if (results) checker?.verified(signed, certificate, { nowMs, results })
      return results ?? (await library.verify(signed, certificate, nowMs, signal))
    },
    onThreadKilled: (listener) => kills.add(listener),
    onAvailable: (listener) => availabilities.add(listener),
    onDisagreement: (listener) => disagreements.add(listener),
    onCheck: (listener) => checks.add(listener),
    onDifference: (listener) => differences.add(listener),
    load: () => ({
      threads: { ...library.load, native: native?.threads.load ?? { busy: 0, waiting: 0 } },
      certificates: native?.certificates.lookups ?? library.certificates.lookups,
    }),
    async [Symbol.asyncDispose]() {
      const all = [checker, library].map((part) => part?.[Symbol.asyncDispose]())
      await Promise.all([endNative(), ...all])
    },
  }
}
