/** The keys of an agent: a store of its own, protected as that of a sidecar is. */
import { Keyring } from '../keys/keyring.ts'
import { createTransfer } from '../keys/transfer.ts'
import type { OwnKeyRecord } from '../kernel/index.ts'
import { createEngine, createLocalKeys } from '../openpgp/index.ts'
import type { KeyHolder, LocalKeys } from '../openpgp/index.ts'
import { memoryOf } from '../store/memory.ts'
import { openStore, type StoreOpening } from '../store/open-store.ts'
import { SYSTEM_TIME } from '../util/clock.ts'

/** Several bots, each with its key and former ones. */
const KEYS_MAX = 512

/** What opens the store of an agent. */
export type KeysOpening = Pick<StoreOpening, 'dataDir' | 'passphrase' | 'protection' | 'wrapper'>

export type AgentKeys = Awaited<ReturnType<typeof openAgentKeys>>

/**
 * Opens the keys of an agent. None of them is published by it: in its store all of them are keys that
 * open and were never a bot's (`retired`).
 * @throws OperatorError as `openStore` does
 */
export async function openAgentKeys(opening: KeysOpening) {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(
    await openStore({ ...opening, mode: 'create', isRequired: true, isBinding: true }),
  )
  const engine = stack.use(createEngine({ threads: 1 }))
  const memory = memoryOf(store, () => Date.now())
  const keyring = await Keyring.load(memory, engine, {
    retainMs: Infinity,
    time: SYSTEM_TIME,
    serviceNowMs: () => null,
    opensMost: KEYS_MAX,
  })
  const local: LocalKeys = stack.use(await createLocalKeys())
  for (const key of keyring.unlocked) local.add(key)
  const transfer = createTransfer({ memory, engine, keyring, ownerOf: () => null })
  const added = (key: OwnKeyRecord): OwnKeyRecord => {
    if (key.unlocked !== null) local.add(key.unlocked)
    return key
  }
  const resources = stack.move()
  return {
    /** Uses the keys. */
    local,
    /** Newest first, the destroyed ones too. */
    list: (): readonly OwnKeyRecord[] => keyring.all,
    /** @throws Error for a certifying key that is not here; OperatorError `refused` when there are too many */
    make: async ({ certifiedBy, ...asked }: Parameters<KeyHolder['make']>[0]) => {
      const certifier = certifiedBy === null ? undefined : keyring.find(certifiedBy)?.unlocked
      if (certifier === null || (certifiedBy !== null && certifier === undefined)) {
        throw new Error('the certifying key is not here')
      }
      const made = await keyring.takeRetired(({ passphrase }) =>
        engine.generate({ ...asked, passphrase, isRandom: true, certifiedBy: certifier }),
      )
      return added(made)
    },
    /** Imports a secret key. @throws as `Transfer.takeRetired` does */
    importKey: async (file: Uint8Array, passphrase: string | null): Promise<OwnKeyRecord> =>
      added(await transfer.takeRetired({ file, passphrase }, null)),
    /** Destroys the secret of a key for good. @throws Error for one that is not here */
    destroy: (fingerprint: string): Promise<void> => keyring.destroy(fingerprint),
    [Symbol.asyncDispose]: (): Promise<void> => resources.disposeAsync(),
  }
}
