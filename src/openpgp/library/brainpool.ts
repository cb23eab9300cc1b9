/**
 * Replaces `eckey-utils`, a package that openpgp.js imports without depending on it: without it no
 * signature on a curve that WebCrypto lacks verifies. Import this file before verifying.
 */
import { registerHooks } from 'node:module'

const ASKED_FOR = 'eckey-utils'
/** Of each curve, all of a public key in DER up to its point (RFC 5480, 2; RFC 5639, 4.1). */
const BEFORE_POINT: Record<string, string> = {
  brainpoolP256r1: '305a301406072a8648ce3d020106092b2403030208010107034200',
  brainpoolP384r1: '307a301406072a8648ce3d020106092b240303020801010b036200',
  brainpoolP512r1: '30819b301406072a8648ce3d020106092b240303020801010d03818200',
}

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === ASKED_FOR
      ? { url: import.meta.url, shortCircuit: true }
      : next(specifier, context),
})

/**
 * Gives the public key in DER (RFC 5480, 2), from a curve by its name in OpenSSL and a point.
 * @throws Error for a curve that is not in the profile
 */
export function generateDer(key: { curveName: string; publicKey: Uint8Array }): {
  publicKey: Buffer
} {
  const before = BEFORE_POINT[key.curveName]
  if (before === undefined) throw new Error('curve')
  return { publicKey: Buffer.concat([Buffer.from(before, 'hex'), key.publicKey]) }
}
