/** Certificates that differ in everything that a common one may differ in, and in what it may not. */
import { ed25519Native, x25519Native } from './openpgp-x25519.ts'
import { curve25519, ed25519, type SigningKey } from './openpgp-key.ts'
import type { Random } from './openpgp-mutate.ts'
import { concat, u16, u32 } from './openpgp-bytes.ts'
import { packet } from './openpgp-framing.ts'
import {
  TYPE,
  expiresAfter,
  issuer,
  issuerFingerprint,
  keyExpiresAfter,
  keyFlags,
  notation,
  preferredCiphers,
  signature,
  subpacket,
  type HashName,
} from './openpgp-signature.ts'

const DAY_MS = 86_400_000

const pick = <T>(random: Random, ...some: [T, ...T[]]): T => some[random(some.length)] ?? some[0]
const rarely = (random: Random): boolean => random(30) === 0

/** A certificate around `nowMs`, most of the time of the common shape and valid. */
export function variedCertificate(random: Random, nowMs: number): Buffer {
  const label = `varied ${random(1000)}`
  const madeMs = nowMs - pick(random, 1, 30, 400) * DAY_MS + (rarely(random) ? 401 * DAY_MS : 0)
  const primary = pick(random, ed25519, ed25519Native)(label, madeMs)
  const subkey = pick(random, curve25519, x25519Native)(label, madeMs + random(3) * 1000)
  const id = Buffer.from(
    pick(random, 'Alice', 'Bob', 'Zoë <z@example.org>', '\ufeffmark', 'x'.repeat(300)),
  )
  const over = concat(0x99, u16(primary.body.length), primary.body)
  const overSubkey = concat(0x99, u16(subkey.body.length), subkey.body)
  const certification = signature({
    ...self(random, primary, madeMs),
    over: concat(over, 0xb4, u32(id.length), id),
    type: pick(random, 0x13, 0x10, 0x11, 0x12, ...(rarely(random) ? [0x18] : [])),
    hashed: hashedSubpackets(random, rarely(random) ? 0x21 : 0x03),
  })
  const binding = signature({
    ...self(random, primary, madeMs),
    over: concat(over, overSubkey),
    type: TYPE.subkeyBinding,
    hashed: hashedSubpackets(
      random,
      pick(random, 0x0c, 0x04, 0x08, ...(rarely(random) ? [0x02] : [])),
    ),
  })
  const parts = [packet(6, primary.body), packet(13, id), certification]
  if (rarely(random)) parts.push(certification)
  parts.push(packet(14, subkey.body), binding)
  if (rarely(random)) parts.push(packet(12, concat(1)))
  return concat(...parts)
}

function self(
  random: Random,
  signer: SigningKey,
  madeMs: number,
): { signer: SigningKey; atMs: number; hash: HashName; unhashed: Buffer[] } {
  const named = [issuer(signer.fingerprint), issuerFingerprint(signer.fingerprint)]
  const wrong = issuer('00112233445566778899aabbccddeeff00112233')
  const unhashed = pick(random, named, named.toReversed(), named.slice(0, 1))
  return {
    signer,
    atMs: madeMs + random(20) * 1000,
    hash: pick<HashName>(
      random,
      'sha256',
      'sha512',
      'sha384',
      ...(rarely(random) ? ['sha1' as const] : []),
    ),
    unhashed: rarely(random) ? [wrong, ...unhashed] : unhashed,
  }
}

/** Hashed subpackets of a self-signature. */
function hashedSubpackets(random: Random, flags: number): Buffer[] {
  const all = [keyFlags(flags), preferredCiphers(...pick(random, [9, 8, 7], [7], [9]))]
  if (random(4) === 0) all.push(keyExpiresAfter(pick(random, 0, 5, 365 * 86_400, 900 * 86_400)))
  if (random(3) === 0) all.push(subpacket(30, concat(1)), subpacket(21, concat(10, 8)))
  if (random(6) === 0) all.push(notation('salt@example.org', 'x', rarely(random)))
  if (random(4) === 0) all.push(subpacket(25, concat(1), true))
  if (rarely(random)) all.push(expiresAfter(pick(random, 0, 3600, 3600 * 86_400)))
  if (rarely(random)) all.push(subpacket(101, concat(1), random(2) === 0))
  if (rarely(random)) all.push(keyFlags(0x03))
  if (rarely(random)) all.push(subpacket(12, concat(0x80, 22, '00'.repeat(20))))
  return all
}
