import type { MadeKeyRecord, Time } from '../kernel/index.ts'
import type { Engine, OwnKeyAlgorithm, UnlockedKey } from '../openpgp/index.ts'

/** Keys are dated back, so that a phone whose clock is behind accepts them. */
export const BACKDATE_MS = 300_000

const TRIAL = 'a key is tried before it is published'

/** The passphrase that locks a new key, and the key before it, which certifies it. */
export interface Locking {
  passphrase: string
  certifiedBy: UnlockedKey | undefined
}

/** A key that was made and tested, and its record for the store. */
export interface MadeKey {
  made: MadeKeyRecord
  unlocked: UnlockedKey
}

/**
 * Makes a key and tests it: a message sealed to its certificate must open and verify with the
 * unlocked key. The key is not stored yet.
 * @param o `createdAtMs` now; `algorithm` of its subkeys; `passphrase` the store's master secret; `certifiedBy` the former key
 * @throws Error when the key is of no use
 */
export async function makeKey(
  engine: Engine,
  time: Time,
  o: Locking & { userId: string; createdAtMs: number; algorithm?: OwnKeyAlgorithm | undefined },
): Promise<MadeKey> {
  const { createdAtMs, ...how } = o
  const { fingerprint, certificate, locked } = await engine.generate({
    ...how,
    isRandom: true,
    createdMs: createdAtMs - BACKDATE_MS,
  })
  const unlocked = await engine.unlock(locked, o.passphrase)
  await tryKey(engine, { certificate, unlocked }, time.nowMs())
  if (unlocked.fingerprint !== fingerprint) throw useless()
  return { made: { fingerprint, createdAtMs, certificate, locked }, unlocked }
}

/**
 * Seals to a certificate, opens and verifies with its unlocked key.
 * @throws Error when the key is of no use; KeyHolderUnavailableError
 */
export async function tryKey(
  engine: Engine,
  { certificate, unlocked }: { certificate: string; unlocked: UnlockedKey },
  nowMs: number,
): Promise<void> {
  const sealed = await engine.seal({
    text: TRIAL,
    certificates: [certificate],
    signer: unlocked,
    cipher: 'aes256',
  })
  const opened = await engine.open(sealed, [unlocked])
  const words = opened.outcome === 'opened' ? opened : null
  const signed = words && (await engine.verify(words.signed, certificate, nowMs))
  if (words?.text !== TRIAL || signed?.join() !== 'valid') throw useless()
}

const useless = (): Error => new Error('the new key does not open what was sealed to it')
