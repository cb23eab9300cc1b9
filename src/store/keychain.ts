/**
 * The operating system's keychain, through keytar: an optional package, loaded when it is first
 * needed. It keeps master secrets and nothing else, one entry for each protection of a store.
 */
import { randomUUID } from 'node:crypto'
import { OperatorError } from '../errors.ts'
import { keychainRefusal, type KeychainTrouble } from './keychain-refusals.ts'

const SERVICE = 'postern'
/** A keychain may ask its person to unlock it; nobody answers on a machine without a screen. */
const ANSWER_MS = 60_000

type Keytar = typeof import('keytar')

/**
 * Reads an entry.
 * @param account its name, `protection.ts` makes it
 * @returns null when the keychain can be used and has no such entry
 * @throws OperatorError `keychain`; `store-locked` when the keychain is locked
 */
export async function readEntry(account: string): Promise<string | null> {
  const found = await using((keytar) => keytar.getPassword(SERVICE, account))
  // A locked keychain returns the same as an empty one. Only a write distinguishes them: listing
  // the entries of a locked one ends the process (keytar 7.9.0 and 7.10.6).
  if (found === null) await tryKeychain()
  return found
}

/**
 * Writes an entry, and reads it back.
 * @throws OperatorError `keychain`, also when another value was read; `store-locked`
 */
export async function writeEntry(account: string, secret: string): Promise<void> {
  const kept = await using(async (keytar) => {
    await keytar.setPassword(SERVICE, account, secret)
    return await keytar.getPassword(SERVICE, account)
  })
  if (kept !== secret) throw keychainRefusal('forgetful')
}

/** Removes an entry. @throws OperatorError `keychain`, `store-locked` */
export async function removeEntry(account: string): Promise<void> {
  await using((keytar) => keytar.deletePassword(SERVICE, account))
}

/**
 * Sees whether the keychain keeps things, by an entry that is gone when this returns.
 * @throws OperatorError `keychain`, `store-locked`
 */
export async function tryKeychain(): Promise<void> {
  const account = `trial-${randomUUID()}`
  await writeEntry(account, 'trial')
  await removeEntry(account)
}

async function using<T>(use: (keytar: Keytar) => Promise<T>): Promise<T> {
  const keytar = await load()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(keychainRefusal('silent')), ANSWER_MS)
  try {
    return await Promise.race([use(keytar), late.promise])
  } catch (error) {
    throw error instanceof OperatorError ? error : keychainRefusal(troubleOf(error), error)
  } finally {
    clearTimeout(timer)
  }
}

async function load(): Promise<Keytar> {
  try {
    const loaded: Keytar & { default?: Keytar } = await import('keytar')
    return loaded.default ?? loaded
  } catch (error) {
    const { code } = error as { code?: unknown }
    const absent = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    throw keychainRefusal(absent ? 'not-installed' : 'no-library', error)
  }
}

/** Classifies errors of libsecret and GDBus by their text, which is all that they have. */
function troubleOf(error: unknown): KeychainTrouble {
  const words = error instanceof Error ? error.message : ''
  if (/locked/i.test(words)) return 'locked'
  if (/timeout was reached|timed out/i.test(words)) return 'silent'
  if (/object does not exist|no such (object|collection)/i.test(words)) return 'no-collection'
  if (/ServiceUnknown|not provided by any/i.test(words)) return 'no-service'
  if (/D-?Bus|could not connect|connection (refused|is closed)/i.test(words)) return 'no-bus'
  return 'other'
}
