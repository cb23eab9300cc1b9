import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { corrupt, wrongPassphrase } from './refusals.ts'
import type { ProtectionTable } from './schema.ts'

const METHOD = 'passphrase'
/** scrypt: 128 MiB and some tenths of a second for each guess. */
const COST = { n: 2 ** 17, r: 8, p: 1 }
/** The most that a stored record may ask for, so that a forged one cannot exhaust memory. */
const MAX_MEMORY_BYTES = 2 ** 30
const SALT_BYTES = 32
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PROOF_NAME = 'proof'
const PROOF = Buffer.from('postern store protection')

const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt)

/** Seals and opens the named secrets of one store. Holds the key in memory alone. */
export class Protection {
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

  /** Opens what `seal` made under the same name; null when it was not, or was changed. */
  open(name: string, sealed: Uint8Array): Buffer | null {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return null
    const end = sealed.length - TAG_BYTES
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(associated(name))
    decipher.setAuthTag(sealed.subarray(end))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()])
    } catch {
      return null
    }
  }
}

/** Makes a new protection under a passphrase, and the row that lets it be opened again. */
export async function createProtection(
  passphrase: string,
): Promise<{ protection: Protection; row: ProtectionTable }> {
  const salt = randomBytes(SALT_BYTES)
  const protection = new Protection(await stretch(passphrase, { ...COST, salt }))
  const row = { id: 1, method: METHOD, ...COST, salt, proof: protection.seal(PROOF_NAME, PROOF) }
  return { protection, row: { ...row, digest: digestOf(row) } }
}

/**
 * Opens a store's protection.
 * @throws OperatorError `store-locked` when the passphrase is another one, `store-corrupt` when
 *   the row is not as it was written
 */
export async function openProtection(
  passphrase: string,
  row: ProtectionTable,
): Promise<Protection> {
  const { method, n, r, p, digest } = row
  const asWritten = digestOf(row).equals(digest) && method === METHOD
  if (!asWritten || 128 * n * r * p > MAX_MEMORY_BYTES) throw damagedRow()
  const protection = new Protection(await stretch(passphrase, row))
  if (protection.open(PROOF_NAME, row.proof) === null) throw wrongPassphrase()
  return protection
}

function stretch(
  passphrase: string,
  { n, r, p, salt }: { n: number; r: number; p: number; salt: Uint8Array },
): Promise<Buffer> {
  return derive(passphrase, salt, KEY_BYTES, { N: n, r, p, maxmem: 129 * n * r * p + 2 ** 20 })
}

function digestOf(row: Omit<ProtectionTable, 'digest'>): Buffer {
  const { method, n, r, p } = row
  return createHash('sha256')
    .update(JSON.stringify([method, n, r, p]))
    .update(row.salt)
    .update(row.proof)
    .digest()
}

const associated = (name: string) => Buffer.from(`postern/secret/${name}`)
const damagedRow = () => corrupt('the record of its protection was changed')
