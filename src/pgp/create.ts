/** The engine in use: natively what is of the common forms, openpgp.js in threads for the rest. */
import { openBulk } from './bulk/open.ts'
import type { Engine, UnlockedKey } from './engine.ts'
import { Library, type LibraryOptions } from './library.ts'
import { Gate } from './native/gate.ts'
import { walkMessage, type OwnIds } from './walk.ts'

export interface EngineOptions extends LibraryOptions {
  /**
   * Called once, if the library judges a certificate otherwise than it was read natively; from
   * then on it reads them all.
   */
  disagreed?: () => void
}

/** Makes an engine; nothing runs before it is first asked for something. */
export function createEngine(options: EngineOptions = {}): Engine {
  const library = new Library(options)
  const gate = new Gate({
    judge: (armored, atMs, known) => library.judge(armored, atMs, known),
    disagreed: options.disagreed ?? (() => {}),
  })
  const sealKnown: Engine['sealKnown'] = (request) => library.seal(request)
  return {
    generate: (made) => library.generate(made),
    unlock: (locked, passphrase) => library.unlock(locked, passphrase),
    relock: (locked, passphrases) => library.relock(locked, passphrases),
    adopt: (file, secrets) => library.adopt(file, secrets),
    seal: async (request) => (await sealKnown(request)).armored,
    sealKnown,
    judge: async (armored, known) => (await gate.look(armored, known)).judgement,
    open: async (armored, keys, signal) => {
      const walked = walkMessage(armored, idsOf(keys))
      if (walked.outcome !== 'encrypted') return walked
      return await library.open(walked, keys, signal)
    },
    openFile: (reader, { form, keys, room }) =>
      openBulk(reader, { form, room, own: idsOf(keys), ...library.bulkHelpers(keys) }),
    verify: (signed, certificate, nowMs, signal) =>
      library.verify(signed, certificate, { nowMs, signal }),
    async [Symbol.asyncDispose]() {
      gate[Symbol.dispose]()
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
