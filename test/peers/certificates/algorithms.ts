/** Keys of each algorithm. */
import { readFileSync } from 'node:fs'
import { concat } from '../../support/openpgp-bytes.ts'
import {
  type SelfSignature,
  boundSubkey,
  keyPacket,
  subkeyRevocation,
  userId,
} from '../../support/openpgp-certificate.ts'
import { dsa, ecdh, ecdsa, rsa } from '../../support/openpgp-key.ts'
import type { PacketKey, SigningKey } from '../../support/openpgp-key.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { DAY_S, MADE_MS, NAME, subkey } from '../shape.ts'
import { type Entry, named } from './parts.ts'

const keyOf = (one: SigningKey, encryption: PacketKey, options: SelfSignature = {}): Buffer =>
  concat(keyPacket(one), userId(one, NAME, options), boundSubkey(one, encryption, options))
/** By the names of OpenSSL, and the identifiers of OpenPGP. */
export const CURVES: [string, string, string][] = [
  ['P-256', 'prime256v1', '082a8648ce3d030107'],
  ['P-384', 'secp384r1', '052b81040022'],
  ['P-521', 'secp521r1', '052b81040023'],
  ['Brainpool 256', 'brainpoolP256r1', '092b2403030208010107'],
  ['Brainpool 384', 'brainpoolP384r1', '092b240303020801010b'],
  ['Brainpool 512', 'brainpoolP512r1', '092b240303020801010d'],
  ['secp256k1', 'secp256k1', '052b8104000a'],
]
/** GnuPG wants a hash as long as the curve. */
export const LONG_HASH = { hash: 'sha512' } as const
const curved = CURVES.map(([name, curve, oid]): Entry => {
  const signer = ecdsa(curve, oid, MADE_MS)
  return [`a key of ${name}`, keyOf(signer, ecdh(curve, oid, MADE_MS), LONG_HASH), signer]
})
const pemOf = (name: string): string =>
  readFileSync(new URL(`../../vectors/keys/${name}.pem`, import.meta.url), 'utf8')
const rsaOf = (bits: number, createdMs = MADE_MS): SigningKey =>
  rsa(pemOf(`rsa-${bits}`), createdMs)
const RSA = [1024, 2048, 3072, 4096, 8192].map((bits): Entry => [
  `RSA of ${bits} bits`,
  keyOf(rsaOf(bits), rsaOf(bits, MADE_MS + 1000)),
  rsaOf(bits),
])
const rsaAlone = rsaOf(3072)
const dsaKey = dsa(pemOf('dsa-2048'), MADE_MS)
const native = ed25519Native('peers native', MADE_MS)
export const algorithms: Entry[] = [
  ...curved,
  ...RSA,
  [
    'RSA that signs and encrypts, no subkey',
    concat(keyPacket(rsaAlone), userId(rsaAlone, NAME, { flags: 0x0f })),
    rsaAlone,
  ],
  [
    'RSA without flags, no subkey',
    concat(keyPacket(rsaAlone), named(NAME, { signer: rsaAlone, hashed: [] })),
    rsaAlone,
  ],
  [
    'RSA that signs alone, no subkey',
    concat(keyPacket(rsaAlone), userId(rsaAlone, NAME)),
    rsaAlone,
  ],
  ['RSA with a subkey of Curve25519', keyOf(rsaAlone, subkey), rsaAlone],
  [
    'RSA with a subkey that was revoked over sha1',
    concat(
      keyOf(rsaAlone, subkey),
      subkeyRevocation(rsaAlone, subkey, { atMs: MADE_MS + DAY_S * 1000, hash: 'sha1' }),
    ),
    rsaAlone,
  ],
  [
    'RSA without flags, with a subkey bound over sha1',
    concat(
      keyPacket(rsaAlone),
      named(NAME, { signer: rsaAlone, hashed: [] }),
      boundSubkey(rsaAlone, subkey, { hash: 'sha1' }),
    ),
    rsaAlone,
  ],
  [
    'RSA for everything, with a subkey bound over sha1',
    concat(
      keyPacket(rsaAlone),
      userId(rsaAlone, NAME, { flags: 0x0f }),
      boundSubkey(rsaAlone, subkey, { hash: 'sha1' }),
    ),
    rsaAlone,
  ],
  ['DSA with a subkey of Curve25519', keyOf(dsaKey, subkey), dsaKey],
  [
    'Ed25519 and X25519 of RFC 9580 in version 4',
    keyOf(native, x25519Native('peers native', MADE_MS)),
    native,
  ],
  ['Ed25519 of RFC 9580 with Curve25519 of before', keyOf(native, subkey), native],
]
