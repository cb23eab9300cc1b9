/** The key of ours that signs messages, with its secret or with its holder. */
import type { KeyObject } from 'node:crypto'
import type { SignatureAlgorithm, SigningKey } from '../crypto/algorithm.ts'
import { signatureAlgorithm } from '../crypto/algorithms.ts'
import type { KeyHolder } from '../key-holder.ts'
import { signHeld, type HeldSecret, type HeldSignature } from './held-key.ts'
import type { OwnSecret } from './own-secrets.ts'

/** A key of ours that signs messages, with the algorithm that does. */
export interface MessageSigner {
  key: SigningKey
  /** Of that key, 20 bytes. */
  fingerprint: Buffer
  algorithm: SignatureAlgorithm
  /** Absent where a holder has it. */
  secret?: KeyObject
  holder?: KeyHolder
}

/** Asks for a signature over a digest. @throws KeyHolderUnavailableError */
export async function askSigner(signer: MessageSigner, digest: Uint8Array): Promise<HeldSignature> {
  const { key, holder } = signer
  if (holder === undefined) throw new Error('nobody has the secret')
  return await signHeld(holder, { key, digest })
}

/** Finds the signing key of a description among our secrets; null where it is not there. */
export function signerOf(
  signingKey: SigningKey,
  secrets: ReadonlyMap<string, OwnSecret | HeldSecret>,
): MessageSigner | null {
  for (const own of secrets.values()) {
    const { key, fingerprint } = own
    const isIt = key.algorithm === signingKey.algorithm && key.createdS === signingKey.createdS
    if (isIt && Buffer.from(signingKey.point).equals(key.point)) {
      const algorithm = signatureAlgorithm(signingKey.algorithm)
      const signer = { key: signingKey, fingerprint, algorithm }
      return 'holder' in own ? { ...signer, holder: own.holder } : { ...signer, secret: own.secret }
    }
  }
  return null
}
