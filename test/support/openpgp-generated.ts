/** Certificates of kinds that the writer of the tests does not make, by the library. */
import { generateKey, type EllipticCurveName } from 'openpgp'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { unlockedFrom } from '../../src/openpgp/library/secret-key.ts'
import { concat, seeded } from './openpgp-bytes.ts'
import { rsaBody } from './openpgp-key.ts'
import { MADE_MS } from './openpgp-people.ts'

export interface Generated {
  certificate: string
  unlocked: UnlockedKey
}

/** A fresh key pair: ECDSA and ECDH on a curve, or of one of the library's types. */
export async function generated(
  kind: { curve: EllipticCurveName } | { type: 'curve25519' | 'curve448' },
  createdMs = MADE_MS,
): Promise<Generated> {
  const { privateKey, publicKey } = await generateKey({
    ...('curve' in kind ? { type: 'ecc', curve: kind.curve } : kind),
    userIDs: [{ name: 'generated' }],
    date: new Date(createdMs),
    format: 'object',
  })
  return { certificate: publicKey.armor(), unlocked: unlockedFrom(privateKey) }
}

/** The public packet of an RSA key of a size, to which nobody has the secret. */
export function paperRsa(bits: number, createdMs = MADE_MS): Buffer {
  const modulus = seeded(`modulus ${bits}`, bits / 8)
  modulus[0] = (modulus[0] ?? 0) | 0x80
  modulus[modulus.length - 1] = (modulus.at(-1) ?? 0) | 1
  return rsaBody(modulus, concat('010001'), createdMs)
}
