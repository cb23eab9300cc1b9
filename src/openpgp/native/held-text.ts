/** Signs a text in the open with a key that a holder has. */
import { isSigningKey, signatureAlgorithm } from '../crypto/algorithms.ts'
import type { UnlockedKey } from '../engine.ts'
import { armorBlock } from '../format/armor-writer.ts'
import type { KeyHolder } from '../key-holder.ts'
import { proveSignature, readHeldSecrets, signHeld } from './held-key.ts'
import { writeSignature } from './write-certificate.ts'

/** A signature over text, in which a line ends with CR LF (RFC 9580, 5.2.1.2). */
const TEXT = 1

/** As `Engine.signText`. @throws KeyHolderUnavailableError */
export async function signHeldText(
  text: string,
  { bytes, holder }: UnlockedKey & { holder: KeyHolder },
  atMs: number,
): Promise<string> {
  // the primary key is the first
  const [{ key, fingerprint } = {}] = readHeldSecrets(bytes, holder).values()
  if (key === undefined || fingerprint === undefined || !isSigningKey(key)) {
    throw new Error('a key of this kind signs no text')
  }
  const sign = async (digest: Uint8Array): Promise<Buffer> => {
    const made = await signHeld(holder, { key, digest })
    await proveSignature(made)
    return made.numbers
  }
  const over = Buffer.from(text.replaceAll(/[ \t]+$/gm, '').replaceAll('\n', '\r\n'))
  const packet = await writeSignature(
    { fingerprint, sign, algorithm: signatureAlgorithm(key.algorithm) },
    { type: TEXT, over, createdS: Math.floor(atMs / 1000) },
    [],
  )
  const escaped = text.replaceAll(/^-/gm, '- -')
  const begin = '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n'
  return `${begin}${escaped}\n${armorBlock('SIGNATURE', packet)}`
}
