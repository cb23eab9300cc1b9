/** The ciphers that node:crypto has, by their names and numbers (RFC 9580, 9.3). */

/** A cipher (RFC 9580, 9.3); all others are the library's. */
export interface CipherInfo {
  keyBytes: number
  blockBytes: number
  /** Names in OpenSSL; ECB only where the block is four words. */
  cfb: string
  ecb?: string
}

/** By the names that openpgp.js has for them. */
export const CIPHERS = {
  aes128: { keyBytes: 16, blockBytes: 16, cfb: 'aes-128-cfb', ecb: 'aes-128-ecb' },
  aes192: { keyBytes: 24, blockBytes: 16, cfb: 'aes-192-cfb', ecb: 'aes-192-ecb' },
  aes256: { keyBytes: 32, blockBytes: 16, cfb: 'aes-256-cfb', ecb: 'aes-256-ecb' },
  tripledes: { keyBytes: 24, blockBytes: 8, cfb: 'des-ede3-cfb' },
} as const satisfies Record<string, CipherInfo>

/** AES by number: the ciphers of session keys that are wrapped and unwrapped natively. */
export const CIPHER_NAME = { 7: 'aes128', 8: 'aes192', 9: 'aes256' } as const
export type CipherId = keyof typeof CIPHER_NAME

/** Ciphers that a sealed message may use. */
export type Cipher = 'aes256' | 'aes128'

export const CIPHER_ID = { aes128: 7, aes256: 9 } as const satisfies Record<Cipher, CipherId>

export const isCipher = (id: number): id is CipherId => Object.hasOwn(CIPHER_NAME, id)

export const keyBytesOf = (id: CipherId): number => CIPHERS[CIPHER_NAME[id]].keyBytes

/** A key by the name of its cipher. */
export interface SymmetricKey {
  algorithm: string
  data: Uint8Array
}

/** The cipher of a key; null where node:crypto has none of that name, or the key does not fit it. */
export function cipherOf({ algorithm, data }: SymmetricKey): CipherInfo | null {
  if (!Object.hasOwn(CIPHERS, algorithm)) return null
  const cipher = CIPHERS[algorithm as keyof typeof CIPHERS]
  return cipher.keyBytes === data.length ? cipher : null
}
