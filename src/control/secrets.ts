/** Operations on secret keys, and on what they rest under. */
import { OperatorError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Publication } from '../keys/publication.ts'
import type { Transfer } from '../keys/transfer.ts'
import type { Method, Wanted } from '../store/protection.ts'
import type { Store } from '../store/store.ts'
import type { Operations } from './operations.ts'
import { findKey, managed } from './perform-keys.ts'

export interface SecretParts {
  store: Store
  keyring: Keyring
  transfer: Transfer
  /** Null when the sidecar manages no key. */
  publication: Publication | null
}

type SecretOperations = Pick<Operations, 'keyGenerate' | 'keyExport' | 'keyImport' | 'keyProtect'>

/** Makes the operations that touch secret keys. */
export function secretOperations(parts: SecretParts): SecretOperations {
  const { keyring, transfer } = parts
  return {
    keyGenerate: async () => {
      const { fingerprint, state } = await managed(parts.publication).makeFirst()
      return {
        fingerprint,
        state,
        message: 'made, and not published: `postern run` publishes it, or `postern key publish`',
      }
    },
    keyExport: async ({ fingerprint, passphrase }) => {
      const key = findKey(keyring, fingerprint)
      const armored = await transfer.give(key.fingerprint, passphrase)
      return { fingerprint: key.fingerprint, state: key.state, armored }
    },
    keyImport: async ({ file, passphrase }) => {
      const { key, expiresMs } = await managed(parts.publication).adopt(() =>
        transfer.take(Buffer.from(file, 'base64'), passphrase),
      )
      const end = Number.isFinite(expiresMs)
        ? `; it expires on ${new Date(expiresMs).toISOString().slice(0, 10)}`
        : ''
      return {
        fingerprint: key.fingerprint,
        state: key.state,
        message: `imported, and pending: the sidecar publishes it while it runs${end}`,
      }
    },
    keyProtect: async (o) => await protect(parts, o),
  }
}

const NOW: Record<Method, string> = {
  passphrase:
    'the store rests under the new passphrase: give it as key.passphrase from the next start on',
  keychain:
    'the store rests under the OS keychain of this user: set key.protection to keychain, or leave it at auto',
  none: 'the store rests without protection, and whoever reads the disk has the secret keys: set key.protection to none, or the next start is refused',
}

/** What copies that were made before are worth. */
function aboutCopies(before: Method | null, oldEntry: string | null): string {
  if (before === null) return ''
  const copies = '; backups and copies made before'
  if (before === 'none') return `${copies} are still without protection`
  return before === 'passphrase'
    ? `${copies} still open with the old passphrase`
    : `${copies} still need the keychain’s entry ${oldEntry}, which stays`
}

async function protect(
  { store, transfer }: SecretParts,
  { protection, passphrase }: { protection: Method; passphrase: string | null },
): Promise<{ protection: Method; message: string }> {
  const before = store.method
  const { isScrubbed, oldEntry } = await store.move(
    wantedOf(protection, passphrase),
    transfer.relock,
  )
  const left = isScrubbed
    ? ''
    : '; what was locked before stays in the log of the database until the sidecar stops'
  return { protection, message: NOW[protection] + aboutCopies(before, oldEntry) + left }
}

function wantedOf(method: Method, passphrase: string | null): Wanted {
  if (method !== 'passphrase') return { method }
  if (passphrase !== null) return { method, passphrase }
  throw new OperatorError(
    'passphrase',
    'no new passphrase was given',
    'give it as POSTERN_NEW_PASSPHRASE, or name its file in POSTERN_NEW_PASSPHRASE_FILE',
  )
}
