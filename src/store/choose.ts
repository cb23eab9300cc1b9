/** Chooses the protection of a store, from the settings and the existing protection. */
import type { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import { readEntry, removeEntry, tryKeychain, writeEntry } from './keychain.ts'
import { noEntry } from './keychain-refusals.ts'
import * as protections from './protection.ts'
import type { NewProtection, OpenProtection, SecretWrapper } from './protection.ts'
import * as refusals from './refusals.ts'
import type { ProtectionMethod, ProtectionTable, Schema } from './schema.ts'
import { sealRows } from './seal-rows.ts'
import type { Stretcher } from './stretcher.ts'

/** The requested protection of a store. */
export interface ProtectionRequest {
  /** The passphrase of the settings, a function that runs the command for it, or null. */
  passphrase: string | (() => Promise<string>) | null
  /** Setting `key.protection`; `auto` when absent. */
  protection?: 'auto' | ProtectionMethod | undefined
  /** For the method `exec`; null or absent where the settings name no command. */
  wrapper?: SecretWrapper | null
  /** The store must have a protection: there are secrets to keep. */
  isRequired?: boolean
  /** The store must have the protection that the setting names. Otherwise any is accepted. */
  isBinding?: boolean
  /** Where several stores share one; a passphrase is stretched for this store alone when absent. */
  stretcher?: Stretcher | undefined
  /** Commands that make a passphrase, for the hint when nothing else is possible. */
  howToMakePassphrase?: string | undefined
}

/**
 * Chooses for a store that has none yet: the method of the setting, or under `auto` the first
 * possible, never `none`.
 * @returns null when nothing was asked for and nothing is required
 * @throws OperatorError `settings`, `keychain`, `key-command`, `store-locked`
 */
export async function chooseProtection(request: ProtectionRequest): Promise<NewProtection | null> {
  const { protection = 'auto', wrapper = null } = request
  if (protection === 'none') return { method: 'none' }
  if (protection === 'exec') {
    if (wrapper === null) throw refusals.noWrapper()
    return { method: 'exec', wrapper }
  }
  if (protection !== 'keychain' && request.passphrase !== null) {
    const passphrase = await passphraseOf(request.passphrase)
    return { method: 'passphrase', passphrase, stretcher: request.stretcher }
  }
  if (protection === 'passphrase') {
    if (request.isRequired === true)
      throw refusals.nothingPossible(null, request.howToMakePassphrase)
    return null
  }
  if (protection === 'auto' && request.isRequired !== true) return null
  await tryKeychain().catch((error: unknown) => {
    if (protection === 'keychain' || !(error instanceof OperatorError)) throw error
    throw refusals.nothingPossible(error, request.howToMakePassphrase)
  })
  return { method: 'keychain' }
}

/**
 * Opens the protection of a store.
 * @throws OperatorError `protection` when it has another than the request names; `store-locked`,
 *   `store-passphrase`, `store-derivation`, `store-corrupt`, `keychain`, `key-command`
 */
export async function openExisting(
  row: ProtectionTable,
  request: ProtectionRequest,
): Promise<OpenProtection> {
  const method = protections.methodOf(row)
  const { protection = 'auto' } = request
  if (request.isBinding === true && protection !== method) {
    if (protection !== 'auto') throw refusals.otherProtection(method, protection)
    if (method === 'none') throw refusals.unprotected()
  }
  const opener = await openerOf(method, row, request)
  return await protections.openProtection(opener, row, request.stretcher)
}

async function openerOf(
  method: ProtectionMethod,
  row: ProtectionTable,
  request: ProtectionRequest,
): Promise<string> {
  if (method === 'none') return protections.unprotectedSecret(row)
  if (method === 'passphrase') {
    if (request.passphrase === null) throw refusals.noPassphrase()
    return await passphraseOf(request.passphrase)
  }
  if (method === 'exec') {
    if (request.wrapper == null) throw refusals.noWrapper()
    return await protections.unwrapOpener(request.wrapper, row)
  }
  const kept = await readEntry(protections.entryOf(row))
  if (kept === null) throw noEntry(protections.entryOf(row))
  return kept
}

const passphraseOf = async (given: string | (() => Promise<string>)): Promise<string> =>
  typeof given === 'string' ? given : await given()

/**
 * Makes a new protection; for the keychain, its secret is in the keychain, and was read back, when
 * this resolves. Write its row, or call `discard`, which removes the keychain entry that was created
 * for it, and never rejects.
 * @throws OperatorError `keychain`, `key-command`, `store-locked`
 */
export async function prepare(wanted: NewProtection, rowKey?: Buffer) {
  const { held, row, opener } = await protections.createProtection(wanted, rowKey)
  if (held.method !== 'keychain') return { held, row, discard: () => Promise.resolve() }
  const entry = protections.entryOf(row)
  await writeEntry(entry, opener)
  return { held, row, discard: () => removeEntry(entry).catch(() => {}) }
}

/**
 * Writes the first protection of a store, which holds no secret yet; of two at once, one is kept.
 * @throws as `prepare` and `openExisting` do
 */
export async function protect(
  db: Kysely<Schema>,
  wanted: NewProtection,
  request: ProtectionRequest,
): Promise<OpenProtection> {
  const made = await prepare(wanted)
  let isKept = false
  try {
    isKept = await db.transaction().execute(async (transaction) => {
      const first = transaction.insertInto('protection').values(made.row).returning('id')
      const kept = await first.onConflict((conflict) => conflict.doNothing()).execute()
      if (kept.length === 0) return false
      await sealRows(transaction, made.held.rowKey)
      return true
    })
    if (isKept) return made.held
  } finally {
    if (!isKept) await made.discard()
  }
  const row = await db.selectFrom('protection').selectAll().executeTakeFirst()
  if (row === undefined) throw refusals.corrupt('the record of its protection is gone')
  return await openExisting(row, request)
}
