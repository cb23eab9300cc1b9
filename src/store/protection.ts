import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import { resultOr } from '../errors.ts'
import { PASSPHRASE_COST } from './passphrase-cost.ts'
import { corrupt, otherWrapped, wrongPassphrase } from './refusals.ts'
import { hasArgon2, SALT_BYTES, STRETCHER, type Stretcher } from './stretcher.ts'
import { METHODS } from './schema.ts'
import type { KeyDerivation, ProtectionMethod, ProtectionTable } from './schema.ts'

/** A random secret cannot be guessed at any speed. */
const RANDOM_COST = { scrypt: { n: 2, r: 8, p: 1 } }
/** The most that a stored record may ask for, so that a forged one exhausts neither memory nor time. */
const HIGHEST_COST = { argon2id: { n: 2 ** 20, r: 16, p: 4 }, scrypt: { n: 2 ** 20, r: 8, p: 1 } }
type Cost = (typeof HIGHEST_COST)['scrypt']
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PROOF_NAME = 'proof'
const PROOF = Buffer.from('postern store protection')
const MASTER_NAME = 'protection/master'
/** Labels of keys derived from the master secret, each for one use (RFC 5869, 3.2). */
const FOR_SECRETS = 'postern/master/secrets'
const FOR_OWN_KEYS = 'postern/master/own-keys'

/** An open protection: the secret that locks OpenPGP keys, and the sealer of all other secrets. */
export interface OpenProtection {
  method: ProtectionMethod
  /** The secret that OpenPGP keys are locked under: 256 random bits. */
  masterSecret: string
  sealer: SecretSealer
  /** The entry of the keychain that holds the master secret; null for the other methods. */
  entry: string | null
  /** What the MACs of rows are made with (`row-seal.ts`): the same for the life of the store. */
  rowKey: Buffer
}

/** Seals and opens the named secrets of one store. Holds the key in memory alone. */
export class SecretSealer {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Seals bytes under a name: AES-256-GCM, nonce ‖ ciphertext ‖ tag, the name authenticated. */
  seal(name: string, secret: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    cipher.setAAD(associated(name))
    return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  }

  /** The same as `open`. @throws OperatorError `store-corrupt` for other or changed bytes */
  unseal(name: string, sealed: Uint8Array): Buffer {
    const secret = this.open(name, sealed)
    if (secret === null) throw corrupt('a sealed secret was changed')
    return secret
  }

  /** Undoes `seal` under the same name; null for other or changed bytes. */
  open(name: string, sealed: Uint8Array): Buffer | null {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return null
    const end = sealed.length - TAG_BYTES
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(associated(name))
    decipher.setAuthTag(sealed.subarray(end))
    const parts = () => [decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]
    return resultOr(() => Buffer.concat(parts()), null)
  }
}

/** Wraps secrets by a key that another program or service holds. Its errors are the caller's. */
export interface SecretWrapper {
  /** @param context names the store: a wrapped secret unwraps with the same context alone */
  wrap(secret: Buffer, context: string): Promise<string>
  unwrap(wrapped: string, context: string): Promise<Buffer>
}

/** A protection to be made. */
export type NewProtection =
  | { method: 'passphrase'; passphrase: string; stretcher?: Stretcher | undefined }
  | { method: 'keychain' }
  | { method: 'exec'; wrapper: SecretWrapper }
  | { method: 'none' }

/**
 * Makes a new protection, and the row that lets it be opened again.
 * @param rowKey of the store; a new one when absent
 * @returns `opener`: the secret that opens it. For the keychain, the caller keeps it in the entry
 *   `entryOf(row)`
 * @throws OperatorError `key-command` when a wrapped secret does not unwrap to itself; the wrapper's
 */
export async function createProtection(
  wanted: NewProtection,
  rowKey: Buffer = randomBytes(KEY_BYTES),
): Promise<{ held: OpenProtection; row: ProtectionTable; opener: string }> {
  const { method } = wanted
  const stretcher = (method === 'passphrase' ? wanted.stretcher : undefined) ?? STRETCHER
  const salt = stretcher.salt()
  const random = method === 'none' ? salt : randomBytes(KEY_BYTES)
  const opener = wanted.method === 'passphrase' ? wanted.passphrase : random.toString('base64url')
  const cost = newDerivation(method)
  const outer = new SecretSealer(await stretcher.stretch(opener, { ...cost, salt }))
  const master = randomBytes(KEY_BYTES)
  const sealed = {
    proof: outer.seal(PROOF_NAME, PROOF),
    master: outer.seal(MASTER_NAME, Buffer.concat([master, rowKey])),
  }
  const wrapped = wanted.method === 'exec' ? await wrapOpener(wanted.wrapper, opener, salt) : null
  const row = { id: 1, method, ...cost, salt, ...sealed, wrapped }
  const held = heldBy({ master, rowKey }, row)
  return { held, row: { ...row, digest: digestOf(row) }, opener }
}

async function wrapOpener(wrapper: SecretWrapper, opener: string, salt: Buffer): Promise<string> {
  const wrapped = await wrapper.wrap(Buffer.from(opener, 'base64url'), entryOf({ salt }))
  if ((await unwrapOpener(wrapper, { wrapped, salt })) !== opener) throw otherWrapped()
  return wrapped
}

/** Opens the secret of a row with the method `exec`. @throws the wrapper's error */
export const unwrapOpener = async (
  wrapper: SecretWrapper,
  { wrapped, salt }: Pick<ProtectionTable, 'wrapped' | 'salt'>,
): Promise<string> => (await wrapper.unwrap(wrapped ?? '', entryOf({ salt }))).toString('base64url')

function newDerivation(method: ProtectionMethod): KeyDerivation {
  if (method === 'passphrase' && hasArgon2()) {
    return { derivation: 'argon2id', ...PASSPHRASE_COST.argon2id }
  }
  return { derivation: 'scrypt', ...leastCostOf(method).scrypt }
}

function heldBy(
  { master, rowKey }: Record<'master' | 'rowKey', Buffer>,
  row: Omit<ProtectionTable, 'digest'>,
): OpenProtection {
  const method = row.method as ProtectionMethod
  const masterSecret = derived(master, FOR_OWN_KEYS).toString('base64url')
  const sealer = new SecretSealer(derived(master, FOR_SECRETS))
  master.fill(0)
  const entry = method === 'keychain' ? entryOf(row) : null
  return { method, masterSecret, sealer, entry, rowKey }
}

const derived = (master: Buffer, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', master, '', use, KEY_BYTES))

/**
 * The method of a row's protection.
 * @throws OperatorError `store-corrupt` when the row is not as it was written, or makes guesses of
 *   a passphrase cheap, or an opening dear
 */
export function methodOf(row: ProtectionTable): ProtectionMethod {
  const method = METHODS.find((known) => known === row.method)
  const asWritten = digestOf(row).equals(row.digest)
  const isWhole = (method === 'exec') === (row.wrapped !== null)
  if (method === undefined || !asWritten || !isWhole || !isDerivable(method, row)) {
    throw corrupt('the record of its protection was changed')
  }
  return method
}

const leastCostOf = (method: ProtectionMethod): { scrypt: Cost; argon2id?: Cost } =>
  method === 'passphrase' ? PASSPHRASE_COST : RANDOM_COST

/** True when the derivation accepts the row's parameters, and their cost is within bounds. */
function isDerivable(method: ProtectionMethod, row: ProtectionTable): boolean {
  const least = leastCostOf(method)[row.derivation]
  const most = HIGHEST_COST[row.derivation]
  if (least === undefined || row.salt.length !== SALT_BYTES) return false
  if (row.derivation === 'scrypt' && !Number.isInteger(Math.log2(row.n))) return false
  const names = ['n', 'r', 'p'] as const
  return names.every((name) => row[name] >= least[name] && row[name] <= most[name])
}

/**
 * Opens a store's protection: the one slow derivation of a start.
 * @param opener the passphrase, or the random secret of the other methods
 * @param stretcher where several stores share one
 * @throws OperatorError `store-passphrase` when the passphrase is another one; `store-corrupt`
 *   when the row is not as it was written, or a kept secret is another one; `key-command` when an
 *   unwrapped one is; `store-derivation` when this Node.js lacks its derivation
 */
export async function openProtection(
  opener: string,
  row: ProtectionTable,
  stretcher: Stretcher = STRETCHER,
): Promise<OpenProtection> {
  const method = methodOf(row)
  const outer = new SecretSealer(await stretcher.stretch(opener, row))
  if (outer.open(PROOF_NAME, row.proof) === null) {
    if (method === 'exec') throw otherWrapped()
    throw method === 'passphrase'
      ? wrongPassphrase()
      : corrupt('its master secret is not the one that it was made with')
  }
  const opened = outer.open(MASTER_NAME, row.master)
  if (opened?.length !== 2 * KEY_BYTES) throw corrupt('its sealed master secret was changed')
  return heldBy({ master: opened.subarray(0, KEY_BYTES), rowKey: opened.subarray(KEY_BYTES) }, row)
}

/** The name of the keychain's entry for a row with the method `keychain`, and of what a command wraps. */
export const entryOf = ({ salt }: { salt: Uint8Array }): string =>
  `store-${Buffer.from(salt).toString('hex').slice(0, 32)}`

/** The secret of a row with the method `none`, stored beside the sealed master secret. */
export const unprotectedSecret = ({ salt }: ProtectionTable): string =>
  Buffer.from(salt).toString('base64url')

/** True when two rows are the same protection. */
export function isSameProtection(a: ProtectionTable | null, b: ProtectionTable | null): boolean {
  if (a === null || b === null) return a === b
  return Buffer.from(a.digest).equals(b.digest)
}

function digestOf(row: Omit<ProtectionTable, 'digest'>): Buffer {
  const { method, derivation, n, r, p, wrapped } = row
  const more = [derivation === 'scrypt' ? null : derivation, wrapped].filter((one) => one !== null)
  const text = Buffer.from(JSON.stringify([method, n, r, p, ...more]))
  return hash('sha256', Buffer.concat([text, row.salt, row.proof, row.master]), 'buffer')
}

const associated = (name: string) => Buffer.from(`postern/secret/${name}`)
