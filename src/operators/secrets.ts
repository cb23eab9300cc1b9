/** Operations on secret keys, and on their protection. */
import { z } from 'zod'
import { OperatorError } from '../errors.ts'
import type { NewProtection, SecretWrapper } from '../store/protection.ts'
import { METHODS, type ProtectionMethod } from '../store/schema.ts'
import { findKey } from './keys.ts'
import { fingerprint, iso, nothing, operation, passphrase } from './operation.ts'
import { MAX_ARMORED_BYTES } from './protocol.ts'
import { managed } from './rotation.ts'

const PROTECTED: Record<ProtectionMethod, string> = {
  passphrase:
    'the store rests under the new passphrase: give it as key.passphrase, or by key.passphraseCommand, from the next start on',
  keychain:
    'the store rests under the OS keychain of this user: set key.protection to keychain, or leave it at auto',
  exec: 'the store rests under a new secret, which the command of key.protection wrapped: keep that setting',
  none: 'the store rests without protection, and whoever reads the disk has the secret keys: set key.protection to none, or the next start is refused',
}

const ExportInput = z.strictObject({ fingerprint: fingerprint.optional(), passphrase })
const ImportInput = z.strictObject({
  file: z.base64().max(MAX_ARMORED_BYTES),
  passphrase: passphrase.nullable(),
  /** For opening alone: it is never published. */
  isRetired: z.boolean().optional(),
  /** Also one that ends within a day. */
  mayEndSoon: z.boolean().optional(),
})
const ProtectInput = z.strictObject({
  protection: z.enum(METHODS),
  passphrase: passphrase.nullable(),
})

export const SECRETS = {
  /** Makes the bot’s first key and does not publish it. */
  keyGenerate: operation(nothing, async ({ publication }) => {
    const { fingerprint: made, state } = await managed(publication).makeFirst()
    const message = 'made, and not published: `postern run` publishes it, or `postern key publish`'
    return { fingerprint: made, state, message }
  }),
  /** A secret key (the active one when none is named), locked under `passphrase`. */
  keyExport: operation(ExportInput, async ({ keyring, transfer }, input) => {
    const key = findKey(keyring, input.fingerprint)
    const armored = await transfer.give(key.fingerprint, input.passphrase)
    return { fingerprint: key.fingerprint, state: key.state, armored }
  }),
  /** Imports an exported secret key: `file` in base64, `passphrase` null where it has none. */
  keyImport: operation(ImportInput, async ({ publication, transfer, keyring }, input) => {
    const { isRetired = false, mayEndSoon = false } = input
    const given = { file: Buffer.from(input.file, 'base64'), passphrase: input.passphrase }
    const manager = managed(publication)
    const entrusted = await transfer.entrust(given)
    if (entrusted !== null) {
      const { fingerprint: of, state } = entrusted
      const message = 'the agent has this key from now on, and its secret is gone from this store'
      return { fingerprint: of, state, message: `${message}; ${RESTART}` }
    }
    if (isRetired) {
      const key = await manager.adoptRetired((shown) => transfer.takeRetired(given, shown))
      const until = day(keyring.opensUntilMs(key))
      const message = `imported for opening alone: it is never published, and opens until ${until} (key.retainDays)`
      return { fingerprint: key.fingerprint, state: key.state, message }
    }
    const { key, expiresMs } = await manager.adopt(() => transfer.take(given, { mayEndSoon }))
    const end = Number.isFinite(expiresMs) ? `; it expires on ${day(expiresMs)}` : ''
    const message = `imported, and pending: the sidecar publishes it while it runs${end}`
    return { fingerprint: key.fingerprint, state: key.state, message }
  }),
  /** Moves the store under another protection; `passphrase` is the new one, or null. */
  keyProtect: operation(ProtectInput, async ({ store, transfer, wrapper }, input) => {
    const { protection } = input
    const before = store.method
    const { isScrubbed, oldEntry } = await store.move(
      wantedProtection(input, wrapper),
      (locked, change) => transfer.relock(locked, change),
    )
    const left = isScrubbed
      ? ''
      : '; what was locked before stays in the log of the database until the sidecar stops'
    return { protection, message: PROTECTED[protection] + aboutCopies(before, oldEntry) + left }
  }),
}

const RESTART = 'start every sidecar of the store anew, which drops it from memory'

const day = (ms: number): string => iso(ms).slice(0, 10)

/** Describes how earlier copies of the store open. */
function aboutCopies(before: ProtectionMethod | null, oldEntry: string | null): string {
  if (before === null) return ''
  const copies = '; backups and copies made before'
  if (before === 'none') return `${copies} are still without protection`
  if (before === 'exec') return `${copies} still need the command, and the key that it used`
  return before === 'passphrase'
    ? `${copies} still open with the old passphrase`
    : `${copies} still need the keychain’s entry ${oldEntry}, which stays`
}

function wantedProtection(
  { protection: method, passphrase: given }: z.output<typeof ProtectInput>,
  wrapper: SecretWrapper | null,
): NewProtection {
  if (method === 'exec') {
    if (wrapper !== null) return { method, wrapper }
    throw new OperatorError(
      'settings',
      'key.protection names no command that wraps the secret of the store',
      'stop the sidecar, set key.protection to {exec: [...]}, run this command again, and start it',
    )
  }
  if (method !== 'passphrase') return { method }
  if (given !== null) return { method, passphrase: given }
  throw new OperatorError(
    'passphrase',
    'no new passphrase was given',
    'give it as POSTERN_NEW_PASSPHRASE, or name its file in POSTERN_NEW_PASSPHRASE_FILE',
  )
}
