/** An engine that uses keys whose secrets a holder has. */
import { OperatorError, refusedError } from '../errors.ts'
import { isHeld, type Engine, type KeyHolder, type UnlockedKey } from '../openpgp/index.ts'
import type { StatefulHolder, TokenPin } from './holders.ts'

/**
 * An engine whose new keys are made by the holder and stay with it. Keys whose secrets are in the
 * store go on as before.
 * @param holder null where `key.agent` is not set: then a held key does not open
 */
export function engineWithHolder<E extends Engine>(engine: E, holder: KeyHolder | null): E {
  const unlock: Engine['unlock'] = async (locked, passphrase) => {
    if (!isHeld(locked)) return await engine.unlock(locked, passphrase)
    if (holder === null) throw noHolder()
    return await engine.unlock(locked, passphrase, holder)
  }
  const relock: Engine['relock'] = async (locked, o) =>
    isHeld(locked) ? locked : await engine.relock(locked, o)
  const here = { ...engine, unlock, relock }
  return holder === null ? here : { ...here, ...keysOf(holder, here) }
}

/** Making and importing keys, with the secrets at a holder. */
function keysOf(holder: KeyHolder, engine: Engine): Pick<Engine, 'generate' | 'adopt'> {
  /** The holder certifies with its own keys, and only a key that it makes. */
  const certify = async (certificate: string, by: UnlockedKey | undefined): Promise<string> =>
    by === undefined || by.holder !== undefined
      ? certificate
      : await engine.certify(certificate, by)
  return {
    async generate({ algorithm, userId, createdMs, certifiedBy }) {
      const certifier = certifiedBy?.holder === undefined ? null : certifiedBy.fingerprint
      const made = await holder.make({ algorithm, userId, createdMs, certifiedBy: certifier })
      const certificate = await certify(made, certifiedBy)
      const { fingerprint } = await engine.unlock(certificate, '')
      return { fingerprint, certificate, locked: certificate }
    },
    async adopt(file, { certifiedBy, mayHaveExpired = false }) {
      const given = Buffer.from(file).toString('utf8')
      if (!isHeld(given)) throw secretGiven()
      const { unusable, expiresMs } = await engine.judge(given)
      const isUsable = unusable === null || (unusable === 'expired' && mayHaveExpired)
      if (!isUsable) throw refusedError(`the certificate cannot be used: ${unusable}`, EXPORT)
      const certificate = await certify(given, certifiedBy)
      const { fingerprint } = await engine.unlock(certificate, '')
      const key = { fingerprint, certificate, locked: certificate }
      return { outcome: 'adopted', key, expiresMs }
    },
  }
}

const EXPORT = 'export the certificate where the secret is: `postern agent list --certificates`'

const noHolder = (): OperatorError =>
  new OperatorError(
    'settings',
    'the secret of a key is held by an agent, and key.agent is not set',
    'set `key.agent` to the agent that has it; `postern agent list` shows the keys of an agent',
  )

const secretGiven = (): OperatorError =>
  refusedError(
    'with key.agent no secret key is imported into this store',
    'give it to the agent (`postern agent import FILE`), and import its certificate here',
  )

/** Connects to the holder of the secret keys; null where they are in the store. */
export async function holderOf(
  address: string | undefined,
  pin: TokenPin | undefined,
): Promise<StatefulHolder | null> {
  if (address === undefined) return null
  const { connectHolder } = await import('./holders.ts')
  return connectHolder(address, pin)
}
