/** Certificates by name, for tests of what is done with them once they are judged. */
import type { CertificateStatus } from '../../../src/openpgp/engine.ts'

/** The armored text of a certificate; what judges it here goes by the name alone. */
export const armoredOf = (name: string): string => `-----BEGIN PGP PUBLIC KEY BLOCK----- ${name}`
const nameOf = (armored: string): string => armored.split(' ').at(-1) ?? ''

/** The fingerprint of the certificate of a name. */
export const printOf = (name: string): string =>
  Buffer.from(name).toString('hex').padEnd(40, '0').slice(0, 40)

/** What a certificate is; usable for ever unless told. */
export function statusOf(name: string, more: Partial<CertificateStatus> = {}): CertificateStatus {
  return {
    fingerprint: printOf(name),
    unusable: null,
    notBeforeMs: 0,
    expiresMs: Infinity,
    revocations: false,
    encryptionKeys: [printOf(`${name}-seals`)],
    recipientBytes: { aes256: 96, aes128: 80 },
    algorithm: 'Curve25519',
    armored: armoredOf(name),
    ...more,
  }
}

/** Judges certificates by name. `special`: what those of some names are instead. */
export const judging =
  (special: Record<string, Partial<CertificateStatus>> = {}) =>
  async (armored: string): Promise<CertificateStatus> => {
    const name = nameOf(armored)
    return statusOf(name, special[name])
  }

/** A record of a key list, as the service writes it. */
export const recordOf = (userId: number, name: string, fingerprint = printOf(name)) => ({
  userId,
  fingerprint,
  publicKey: armoredOf(name),
})
