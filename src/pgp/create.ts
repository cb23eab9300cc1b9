/** The engine in use: natively what is of the common forms, openpgp.js in threads for the rest. */
import { openBulk, type BulkHelpers } from './bulk/open.ts'
import type { Engine, UnlockedKey } from './engine.ts'
import { Library, type LibraryOptions } from './library.ts'
import type { EnvelopeBounds } from './native/envelopes.ts'
import { Gate } from './native/gate.ts'
import { openNatively } from './native/open.ts'
import { OwnKeys } from './native/own-keys.ts'
import { Sealer } from './native/sealer.ts'
import { Turns } from './native/turns.ts'
import { unwrapNatively } from './native/unwrap.ts'
import { verifyNatively } from './native/verify.ts'
import { walkMessage, type OwnIds } from './walk.ts'

export interface EngineOptions extends LibraryOptions {
  /** False for an engine that leaves everything to openpgp.js; to compare with. */
  native?: boolean
  /** Bounds of what is made ahead of a message; 16 MiB and five minutes by default. */
  ahead?: EnvelopeBounds
  /** Called when the next message of a place is ready but for its words. */
  prepared?: (place: string) => void
  /**
   * Called once, if the library judges a certificate otherwise than it was read natively; from
   * then on it reads them all.
   */
  disagreed?: () => void
}

/** What waits for its message, ready but for its words: a hundred of the largest groups, or fewer. */
const AHEAD: EnvelopeBounds = { maxBytes: 16 * 1024 * 1024, keepMs: 300_000 }
/** Messages that are opened at once, and as many verified: the loop has its turn in between. */
const AT_ONCE = 16

/** Makes an engine; nothing runs before it is first asked for something. */
export function createEngine(options: EngineOptions = {}): Engine {
  const library = new Library(options)
  let isNative = options.native ?? true
  const gate = new Gate({
    judge: (armored, atMs, known) => library.judge(armored, atMs, known),
    disagreed: options.disagreed ?? (() => {}),
  })
  const own = new OwnKeys((key, atMs) => library.describe(key, atMs))
  const opening = new Turns(AT_ONCE)
  const verifying = new Turns(AT_ONCE)
  if (!isNative) gate[Symbol.dispose]()
  const sealer = new Sealer({
    gate,
    own,
    library,
    bounds: options.ahead ?? AHEAD,
    prepared: options.prepared ?? (() => {}),
  })
  if (!isNative) sealer[Symbol.dispose]()
  const sealKnown: Engine['sealKnown'] = async (request) =>
    (await sealer.seal(request)) ?? (await library.seal(request))
  return {
    generate: (made) => library.generate(made),
    unlock: (locked, passphrase) => library.unlock(locked, passphrase),
    relock: (locked, passphrases) => library.relock(locked, passphrases),
    adopt: (file, secrets) => library.adopt(file, secrets),
    seal: async (request) => (await sealKnown(request)).armored,
    sealKnown,
    judge: async (armored, known) => (await gate.look(armored, known)).judgement,
    open: async (armored, keys, signal) => {
      const left = await opening.run(async (where) => {
        const walked = walkMessage(armored, idsOf(keys))
        if (walked.outcome !== 'encrypted' || !isNative || signal?.aborted === true) return walked
        return (await openNatively(walked, keys, { own, where })) ?? walked
      })
      return left.outcome === 'encrypted' ? await library.open(left, keys, signal) : left
    },
    openFile: (reader, { form, keys, room }) => {
      const helpers = library.bulkHelpers(keys)
      const unwrap: BulkHelpers['unwrap'] = async (addressed) => {
        const found = isNative ? await unwrapNatively(addressed, keys, own) : null
        return found ?? (await helpers.unwrap(addressed))
      }
      return openBulk(reader, { form, room, own: idsOf(keys), ...helpers, unwrap })
    },
    verify: async (signed, certificate, nowMs, signal) => {
      const judged = isNative ? await gate.look(certificate).catch(() => null) : null
      const facts = judged?.facts ?? null
      const results = await verifying.run(async (where) => {
        if (facts === null || !isNative || signal?.aborted === true) return null
        return await verifyNatively(signed, facts, { nowMs, where })
      })
      return results ?? (await library.verify(signed, certificate, { nowMs, signal }))
    },
    async [Symbol.asyncDispose]() {
      isNative = false
      gate[Symbol.dispose]()
      own.clear()
      sealer[Symbol.dispose]()
      await library[Symbol.asyncDispose]()
    },
  }
}

function idsOf(keys: UnlockedKey[]): OwnIds {
  return {
    keyIds: new Set(keys.flatMap((key) => key.keyIds)),
    fingerprints: new Set(keys.flatMap((key) => key.fingerprints)),
    keyCount: keys.length,
  }
}
