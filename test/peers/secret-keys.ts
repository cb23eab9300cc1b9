/** Secret keys as their owners bring them from other programs: each reads a message to it. */
import { concat, seeded } from '../support/openpgp-bytes.ts'
import { boundSubkey, subkeyPacket, userId } from '../support/openpgp-certificate.ts'
import type { SelfSignature } from '../support/openpgp-certificate.ts'
import { packet } from '../support/openpgp-framing.ts'
import { literal } from '../support/openpgp-inner.ts'
import { curve25519Of, ecdh, ecdsa, ed25519 } from '../support/openpgp-key.ts'
import type { EncryptionKey, SigningKey } from '../support/openpgp-key.ts'
import { pkesk, seipd, sessionKey, type SessionKey } from '../support/openpgp-sealed.ts'
import { CURVES, LONG_HASH } from './certificates/algorithms.ts'
import { KEY, MADE_MS, NAME, WORDS, primary, subkey, usual, type Shape } from './shape.ts'

const secretOf = (
  one: SigningKey,
  encryption: EncryptionKey,
  options: SelfSignature = LONG_HASH,
): Buffer =>
  concat(
    packet(5, one.secretBody),
    userId(one, NAME, options),
    packet(7, encryption.secretBody),
    boundSubkey(one, encryption, LONG_HASH).subarray(subkeyPacket(encryption).length),
  )

const written = secretOf(primary, subkey)
const [, curve = '', oid = ''] = CURVES[0] ?? []
/** Its secret number has a zero byte first, which an integer of OpenPGP leaves out. */
const zero = (): SigningKey => {
  const isZero = (label: string): boolean => seeded(`ed25519 ${label}`, 32)[0] === 0
  const found = Array.from({ length: 5000 }, (_, n) => `peers ${n}`).find(isZero)
  return ed25519(found ?? '', MADE_MS)
}
const scalar = concat(seeded('peers scalar', 31), 0)
const short = curve25519Of(scalar, MADE_MS)
const small = ecdh(curve, oid, MADE_MS, 0)

const ENTRIES: [string, Buffer, EncryptionKey, SessionKey?][] = [
  ['of Ed25519 and Curve25519', written, subkey],
  [
    'that lists no AES-192, which seals',
    secretOf(primary, subkey, { ciphers: [9, 7] }),
    subkey,
    sessionKey('peers', 8),
  ],
  ['behind a marker', concat(packet(10, Buffer.from('PGP')), written), subkey],
  ['with its certificate behind', concat(written, usual), subkey],
  ['behind its certificate', concat(usual, written), subkey],
  ['of Ed25519 that begins with a zero', secretOf(zero(), subkey), subkey],
  ['of Curve25519 that begins with a zero', secretOf(primary, short), short],
  ['of P-256 that begins with a zero', secretOf(ecdsa(curve, oid, MADE_MS), small), small],
  ...CURVES.map(([name, one, id]): [string, Buffer, EncryptionKey] => {
    const encryption = ecdh(one, id, MADE_MS)
    return [`of ${name}`, secretOf(ecdsa(one, id, MADE_MS), encryption), encryption]
  }),
]

export const SECRET_KEYS: Shape[] = ENTRIES.map(([name, secret, encryption, key = KEY]) => ({
  group: 'secret key',
  name,
  certificate: usual,
  message: concat(pkesk(encryption, key), seipd(literal(WORDS), key)),
  secret,
}))
