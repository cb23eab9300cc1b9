/**
 * Replaces `eckey-utils`, a package that openpgp.js imports without depending on it: without it no
 * signature on a curve that WebCrypto lacks verifies. Import this file before verifying.
 */
import { registerHooks } from 'node:module'

const ASKED_FOR = 'eckey-utils'
const EC_PUBLIC_KEY = '06072a8648ce3d0201'
/** Object identifiers with their tag and length (RFC 5639, 4.1). */
const CURVES: Record<string, string> = {
  brainpoolP256r1: '06092b2403030208010107',
  brainpoolP384r1: '06092b240303020801010b',
  brainpoolP512r1: '06092b240303020801010d',
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
  const curve = CURVES[key.curveName]
  if (curve === undefined) throw new Error('curve')
  const algorithm = der(0x30, Buffer.from(EC_PUBLIC_KEY + curve, 'hex'))
  const point = der(0x03, Buffer.concat([Buffer.from([0]), key.publicKey]))
  return { publicKey: der(0x30, Buffer.concat([algorithm, point])) }
}

function der(tag: number, body: Uint8Array): Buffer {
  const { length } = body
  const header = length < 128 ? [tag, length] : [tag, 0x81, length]
  return Buffer.concat([Buffer.from(header), body])
}
