/**
 * Keys of the kinds that people have, good ones and those that nobody can seal to: for phones that
 * a sidecar is tried with. Runs in the calling thread.
 */
import { generateKey, revokeKey, type KeyOptions } from 'openpgp'
import { loadLibrary, type UnlockedKey } from '../../openpgp/index.ts'
import { DAY_MS, KEY_KINDS, type KeyKind } from './keys.ts'

/** Makes a key of a kind. `createdMs` is its date, but of an expired one it is two days before. */
export async function makeKey(o: {
  userId: string
  kind: KeyKind
  createdMs: number
}): Promise<{ certificate: string; key: UnlockedKey }> {
  const { unlockedFrom, withComposite } = await loadLibrary()
  const options: Omit<KeyOptions, 'userIDs' | 'date'> = KEY_KINDS[o.kind]
  const date = new Date(o.createdMs - (o.kind === 'expired' ? 2 * DAY_MS : 0))
  const { privateKey: made } = await generateKey({
    ...options,
    userIDs: [{ name: o.userId }],
    date,
    format: 'object',
  })
  const privateKey = o.kind.startsWith('ml-kem') ? await withComposite(made, date) : made
  const certificate =
    o.kind === 'revoked'
      ? (await revokeKey({ key: privateKey, format: 'object' })).publicKey
      : privateKey.toPublic()
  return { certificate: certificate.armor(), key: unlockedFrom(privateKey) }
}
