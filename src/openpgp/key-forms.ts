/** Keys of the common forms, for the phones of the sandbox: a door of its own, so that the other one loads none of it. */
export { ALGORITHM } from './crypto/algorithm.ts'
export { EDDSA_LEGACY } from './crypto/ed25519.ts'
export { fingerprintOf, publicKeyBody } from './crypto/public-key.ts'
export { checksum } from './bytes.ts'
export { trailerOf } from './format/packet-writer.ts'
