/** Makes of a passphrase the key that opens a store, at the cost of a guess. */
import { argon2, argon2Sync, hash, randomBytes, scrypt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Mutex } from '../util/scheduling.ts'
import { writeDurably } from './files.ts'
import { noArgon2 } from './refusals.ts'
import type { KeyDerivation } from './schema.ts'

export const SALT_BYTES = 32
const KEY_BYTES = 32
const SALT_FILE = 'passphrase-salt'

const deriveByScrypt = promisify<string, Uint8Array, number, object, Buffer>(scrypt)

/** Parameters of one derivation. */
type StretchParameters = KeyDerivation & { salt: Uint8Array }

/** How passphrases are stretched. */
export interface Stretcher {
  /** @throws OperatorError `store-derivation` where this Node.js lacks the derivation */
  stretch(opener: string, parameters: StretchParameters): Promise<Buffer>
  /** The salt of a new store. */
  salt(): Buffer
}

/** For one store: each derivation is made, each salt is new. */
export const STRETCHER: Stretcher = {
  async stretch(opener, { derivation, n, r, p, salt }) {
    if (derivation === 'scrypt') {
      const maxmem = 129 * n * r * p + 2 ** 20
      return await deriveByScrypt(opener, salt, KEY_BYTES, { N: n, r, p, maxmem })
    }
    if (!hasArgon2()) throw noArgon2()
    return await promisify(argon2)('argon2id', argon2Parameters(opener, { n, r, p, salt }))
  },
  salt: () => randomBytes(SALT_BYTES),
}

/** False where Node.js was built on an OpenSSL before 3.2, or one that does not allow Argon2id. */
export function hasArgon2(): boolean {
  try {
    argon2Sync('argon2id', argon2Parameters('', { n: 8, r: 1, p: 1, salt: Buffer.alloc(8) }))
    return true
  } catch {
    return false
  }
}

function argon2Parameters(message: string, o: Omit<StretchParameters, 'derivation'>) {
  const { n: memory, r: passes, p: parallelism, salt: nonce } = o
  return { message, nonce, memory, passes, parallelism, tagLength: KEY_BYTES }
}

/**
 * For the stores of one process: new ones share one salt, so that stores of one passphrase need one
 * derivation together. Each store still has a random master secret of its own. One guess tests the
 * passphrase of all these stores, as one passphrase for all does in any case. Derivations run one
 * after the other, since each needs much memory.
 * @param dataDir of the process, where the salt is kept: one that is lost costs derivations alone
 */
export function sharedStretcher(dataDir: string): Stretcher {
  const file = join(dataDir, SALT_FILE)
  const turns = new Mutex()
  /** By a hash of their inputs. */
  const made = new Map<string, Promise<Buffer>>()
  return {
    stretch(opener, parameters) {
      const { derivation, n, r, p, salt } = parameters
      const inputs = [opener, derivation, n, r, p, Buffer.from(salt).toString('base64')]
      const name = hash('sha256', JSON.stringify(inputs))
      const known = made.get(name)
      if (known !== undefined) return known
      const derived = turns.run(() => STRETCHER.stretch(opener, parameters))
      made.set(name, derived)
      derived.catch(() => made.delete(name))
      return derived
    },
    /** @throws an error of node:fs */
    salt() {
      const kept = existsSync(file)
        ? Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
        : null
      if (kept?.length === SALT_BYTES) return kept
      const salt = STRETCHER.salt()
      writeDurably(file, `${salt.toString('base64')}\n`)
      return salt
    },
  }
}
