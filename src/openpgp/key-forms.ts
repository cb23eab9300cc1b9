/** Keys of the common forms, for the phones of the sandbox: a door of its own, so that the other one loads none of it. */
export { fingerprintOf } from './crypto/public-key.ts'
export { checksum } from './bytes.ts'
export { armoredCertificate, certificateParts } from './native/write-certificate.ts'
export { newKeys, transferable } from './native/write-certificate.ts'
