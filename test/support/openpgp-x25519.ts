/** Keys of the algorithms 25 and 27 in version 4, and recipient packets for them (RFC 9580, 5.1.6). */
import { createCipheriv, createPublicKey, hkdfSync, sign as signWith } from 'node:crypto'
import { createHash } from 'node:crypto'
import { fromRaw, identify, rawPublic, seconds, shared, unlocked } from './openpgp-key.ts'
import type { EncryptionKey, SigningKey } from './openpgp-key.ts'
import { packet } from './openpgp-framing.ts'
import { concat, seeded } from './openpgp-bytes.ts'
import type { SessionKey } from './openpgp-sealed.ts'

/** Ed25519, algorithm 27. */
export function ed25519Native(label: string, createdMs: number): SigningKey {
  const seed = seeded(`ed25519 ${label}`, 32)
  const secret = fromRaw('302e020100300506032b657004220420', seed)
  const packetKey = identify(concat(4, seconds(createdMs), 27, rawPublic(secret)), createdMs)
  return {
    ...packetKey,
    algorithm: 27,
    secretBody: unlocked(packetKey.body, seed),
    sign: (message, hash) => signWith(null, createHash(hash).update(message).digest(), secret),
  }
}

/** X25519, algorithm 25. */
export function x25519Native(label: string, createdMs: number): EncryptionKey {
  const scalar = seeded(`x25519 ${label}`, 32)
  const secret = fromRaw('302e020100300506032b656e04220420', scalar)
  const point = rawPublic(secret)
  const body = concat(4, seconds(createdMs), 25, point)
  return {
    ...identify(body, createdMs),
    secretBody: unlocked(body, scalar),
    kdfPrefix: point,
    publicKey: createPublicKey(secret),
  }
}

/** A version 3 recipient packet for an X25519 key. */
export function x25519Pkesk(recipient: EncryptionKey, key: SessionKey, label = 'pkesk'): Buffer {
  const { point, secret } = shared(label, recipient)
  const ephemeral = point.subarray(1)
  const input = concat(ephemeral, recipient.kdfPrefix, secret)
  const kek = Buffer.from(hkdfSync('sha256', input, '', 'OpenPGP X25519', 16))
  const cipher = createCipheriv('id-aes128-wrap', kek, Buffer.alloc(8, 0xa6))
  const wrapped = concat(cipher.update(key.data), cipher.final())
  const length = wrapped.length + 1
  return packet(1, concat(3, recipient.keyId, 25, ephemeral, length, key.cipher, wrapped))
}
