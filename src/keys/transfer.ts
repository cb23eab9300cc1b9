/** Secret keys on their way out, in, and from one protection to another. */
import { isOwnFailure, type OperatorError, refusedError } from '../errors.ts'
import { isHeld, type AdoptSecrets, type Adopted, type Engine } from '../openpgp/index.ts'
import type { Memory, OwnKeyRecord, ReadyKey } from '../kernel/index.ts'
import type { Keyring } from './keyring.ts'
import { unfitKey } from './unfit.ts'
import { tryKey, type Locking } from './make-key.ts'

export interface TransferParts {
  memory: Memory
  engine: Engine
  keyring: Keyring
  /** The name of another bot of the process that has a key of this fingerprint; null when none has. */
  ownerOf: (fingerprint: string) => string | null
}

/** A secret key from elsewhere. */
export interface KeyFile {
  /** Armored or binary. */
  file: Uint8Array
  /** Null when it has none, or none was given. */
  passphrase: string | null
}

/** A published key that ends sooner is of no use: nobody seals to it from then on. */
const MIN_LIFE_MS = 86_400_000

export type Transfer = ReturnType<typeof createTransfer>

/** Exports and imports secret keys. */
export function createTransfer({ memory, engine, keyring, ownerOf }: TransferParts) {
  const adopt = async (
    { file, passphrase: from }: KeyFile,
    { passphrase: to, certifiedBy }: Locking,
    more: Pick<AdoptSecrets, 'mayHaveExpired'> = {},
  ): Promise<Extract<Adopted, { outcome: 'adopted' }>> => {
    const adopted = await engine.adopt(file, { from, to, isRandom: true, certifiedBy, ...more })
    if (adopted.outcome === 'unfit') throw unfitKey(adopted.reason)
    const { fingerprint } = adopted.key
    const known = keyring.find(fingerprint)
    if (known !== undefined) {
      const problem = `${fingerprint} is ours already, and ${known.state}`
      throw refusedError(problem, '`postern key list` shows our keys')
    }
    // bots with one key could be given each other's messages by the service
    const owner = ownerOf(fingerprint)
    if (owner === null) return adopted
    throw refusedError(
      `${fingerprint} is the key of the bot ${owner}: each bot has keys of its own`,
      'leave it there; `postern run` makes a key for a bot that has none',
    )
  }

  return {
    /**
     * Exports a secret key, armored and locked under a passphrase of its own, as gpg imports it.
     * @param fingerprint one of ours
     * @throws OperatorError `refused` when its secret is destroyed
     */
    give: async (fingerprint: string, passphrase: string): Promise<string> => {
      const { locked, from } = await memory.read(async ({ ownKeys }) => {
        const [key] = await ownKeys.of([fingerprint])
        if (key === undefined) throw new Error('no such key')
        return { locked: key.locked, from: memory.masterSecret ?? '' }
      })
      if (isHeld(locked)) {
        throw refusedError(
          'the secret of this key is not in this store: the agent of key.agent has it',
          'nothing exports a secret key from an agent; `postern key show` prints the certificate',
        )
      }
      if (locked !== '') return await engine.relock(locked, { from, to: passphrase })
      throw refusedError(
        'the secret of this key is destroyed',
        '`postern key list` shows which keys still open',
      )
    },
    /**
     * Makes a key from elsewhere the pending one; it is on disk when this resolves.
     * @param o `mayEndSoon`: also one that ends within a day
     * @throws OperatorError `refused`, `passphrase` with the reason; Refusal
     *   `postern_store_unwritable`
     */
    take: async (given: KeyFile, { mayEndSoon }: { mayEndSoon: boolean }) => {
      let expiresMs = Infinity
      const key = await keyring.takePending(async (locking) => {
        const adopted = await adopt(given, locking)
        expiresMs = adopted.expiresMs
        if (!mayEndSoon && expiresMs < Date.now() + MIN_LIFE_MS) throw endsSoon(expiresMs)
        return adopted.key
      })
      return { key, expiresMs }
    },
    /**
     * Imports a foreign key that opens and never becomes the bot's, also one that has expired;
     * it is on disk when this resolves.
     * @param shown fingerprint of the key that the service shows, which cannot be a retired one
     * @throws as `take` does
     */
    takeRetired: (given: KeyFile, shown: string | null): Promise<ReadyKey> =>
      keyring.takeRetired(async (locking) => {
        const { key } = await adopt(given, locking, { mayHaveExpired: true })
        if (key.fingerprint === shown) throw stillShown(shown)
        return key
      }),
    /**
     * Gives a key of ours to the holder that signs and opens with it too, and overwrites the secret in this
     * store; a backup still has it.
     * @returns null where the file is not the certificate of a key whose secret is here
     * @throws KeyHolderUnavailableError; OperatorError `refused` where it does not open, or the
     *   certificate lacks a subkey;
     *   Refusal `postern_store_unwritable`
     */
    entrust: async ({ file }: Pick<KeyFile, 'file'>): Promise<OwnKeyRecord | null> => {
      const certificate = Buffer.from(file).toString('utf8')
      const { fingerprint } = isHeld(certificate) ? await engine.judge(certificate) : {}
      const known = keyring.find(fingerprint ?? '')
      if (known?.unlocked == null || known.unlocked.holder !== undefined) return null
      const unlocked = await engine.unlock(certificate, '')
      await tryKey(engine, { certificate, unlocked }, memory.nowMs()).catch((error: unknown) => {
        throw isOwnFailure(error) ? error : noOpener()
      })
      // a subkey that the file lacks would open nothing more
      const { fingerprints } = known.unlocked
      if (!fingerprints.every((one) => unlocked.fingerprints.includes(one))) throw otherSubkeys()
      await memory.write(({ ownKeys }) => ownKeys.replaceSecret(known.fingerprint, certificate))
      keyring.entrust(known.fingerprint, unlocked)
      await memory.scrub()
      return known
    },
    /** Locks keys anew for a store that is moved to another protection. */
    relock: (locked: string, secrets: { from: string; to: string }): Promise<string> =>
      engine.relock(locked, { ...secrets, isRandom: true }),
  }
}

const noOpener = (): OperatorError =>
  refusedError(
    'the agent does not open what is sealed to this certificate',
    'import the whole secret key into the agent; the secret is still in this store',
  )

const otherSubkeys = (): OperatorError =>
  refusedError(
    'the certificate lacks a subkey of ours, whose secret would be lost',
    'export it where the secret is: `postern agent list --certificates`',
  )

const endsSoon = (expiresMs: number): OperatorError =>
  refusedError(
    `the key ends at ${new Date(expiresMs).toISOString()}, within a day: nobody seals to it from then on`,
    'give it a later expiry (`gpg --quick-set-expire FINGERPRINT never`, for its subkeys too) and export it again; ' +
      '`--retired` takes it in for opening alone, `--force` as it is',
  )

const stillShown = (fingerprint: string): OperatorError =>
  refusedError(
    `${fingerprint} is the key that the service shows for this bot: it is not retired`,
    'import it without `--retired` to go on with it, or put ours in its place first: `postern key publish --replace`',
  )
