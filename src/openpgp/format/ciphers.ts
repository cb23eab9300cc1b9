/** The ciphers that node:crypto has (RFC 9580, 9.3); all others are the library's. */

export interface CipherInfo {
  id: number
  keyBytes: number
  blockBytes: number
  /** Names in OpenSSL; ECB only where the block is four words. */
  cfb: string
  ecb?: string
}

/** By the names that openpgp.js has for them, or would have. */
export const CIPHERS = {
  aes128: { id: 7, keyBytes: 16, blockBytes: 16, cfb: 'aes-128-cfb', ecb: 'aes-128-ecb' },
  aes192: { id: 8, keyBytes: 24, blockBytes: 16, cfb: 'aes-192-cfb', ecb: 'aes-192-ecb' },
  aes256: { id: 9, keyBytes: 32, blockBytes: 16, cfb: 'aes-256-cfb', ecb: 'aes-256-ecb' },
  tripledes: { id: 2, keyBytes: 24, blockBytes: 8, cfb: 'des-ede3-cfb' },
  camellia128: { id: 11, keyBytes: 16, blockBytes: 16, cfb: 'camellia-128-cfb' },
  camellia192: { id: 12, keyBytes: 24, blockBytes: 16, cfb: 'camellia-192-cfb' },
  camellia256: { id: 13, keyBytes: 32, blockBytes: 16, cfb: 'camellia-256-cfb' },
} as const satisfies Record<string, CipherInfo>

/** AES by number: the ciphers of session keys that are wrapped and unwrapped natively. */
export const CIPHER_NAME = { 7: 'aes128', 8: 'aes192', 9: 'aes256' } as const
export type CipherId = keyof typeof CIPHER_NAME

/** Every cipher that is read, by number: all but IDEA (1). */
export const CIPHER_NAMES: ReadonlyMap<number, string> = new Map([
  [3, 'cast5'],
  [4, 'blowfish'],
  [10, 'twofish'],
  ...Object.entries(CIPHERS).map(([name, { id }]): [number, string] => [id, name]),
])

/** Ciphers that a sealed message may use. */
export type Cipher = 'aes256' | 'aes128'

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
