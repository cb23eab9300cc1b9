/** Messages to the bot that differ in everything that usual programs differ in. */
import { curve25519, type SigningKey, type EncryptionKey } from './openpgp-key.ts'
import { compressed, literal, signedLiteral, type SigningOptions } from './openpgp-inner.ts'
import type { Random } from './openpgp-mutate.ts'
import { concat, seeded } from './openpgp-bytes.ts'
import { oldPacket, packet, partialPacket } from './openpgp-framing.ts'
import { pkeskBody, seipdBody, sessionKey, strangerPkesk, type CipherId } from './openpgp-sealed.ts'
import {
  expiresAfter,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  notation,
  subpacket,
} from './openpgp-signature.ts'
import { x25519Pkesk } from './openpgp-x25519.ts'
import { MADE_MS, NOW_MS, bot, mallory } from './openpgp-people.ts'

const pick = <T>(random: Random, ...some: [T, ...T[]]): T => some[random(some.length)] ?? some[0]
const rarely = (random: Random): boolean => random(15) === 0

export interface VariedMessage {
  packets: Buffer
  text: string
}

/**
 * A message, most of the time of the common form.
 * @param to the bot's keys, one of which is chosen; `signers` one of whom signs
 */
export function variedMessage(
  random: Random,
  { to, signers }: { to: EncryptionKey[]; signers: SigningKey[] },
): VariedMessage {
  const label = `varied ${random(100_000)}`
  const cipher = pick<CipherId>(
    random,
    9,
    7,
    9,
    7,
    8,
    ...(rarely(random) ? ([2, 11, 13] as const) : []),
  )
  const key = sessionKey(label, cipher)
  const [first = bot.subkey] = to
  const recipient = to[random(to.length)] ?? first
  const body =
    recipient.body[5] === 25
      ? bodyOf(x25519Pkesk(recipient, key, label))
      : pkeskBody(recipient, key, label)
  const ours = rarely(random) ? oldPacket(1, body, 1) : packet(1, body)
  const before = Array.from({ length: random(4) }, (_, index) => strangerPkesk(`${label} ${index}`))
  const text = pick(random, 'hello', 'one\ntwo\r\nthree\rfour\n', 'grüße 🌍', '', 'x'.repeat(3000))
  const inner = innerOf(random, text, signers)
  const container = seipdBody(inner, key)
  const sealed =
    rarely(random) && container.length > 600
      ? partialPacket(18, container, [9])
      : packet(18, container)
  const marker = rarely(random) ? [packet(10, Buffer.from('PGP'))] : []
  const twice = rarely(random) ? [packet(1, body)] : []
  return { packets: concat(...marker, ...before, ours, ...twice, sealed), text }
}

const bodyOf = (framed: Buffer): Buffer => framed.subarray(2)

function innerOf(random: Random, text: string, signers: SigningKey[]): Buffer {
  const options = {
    format: pick(random, 'u', 'b', 't', 'm'),
    name: Buffer.from(pick(random, '', 'a', 'notes.txt')),
    atMs: random(2) * NOW_MS,
  }
  const [first = bot.primary] = signers
  const signer = signers[random(signers.length)] ?? first
  if (random(8) === 0) return literal(text, options)
  const signing = signatureOf(random, signer)
  const signed = signedLiteral(text, rarely(random) ? [signing, signing] : signing, options)
  if (rarely(random)) return compressed(signed, pick(random, 0, 1, 2))
  if (rarely(random)) return compressed(compressed(signed, 1), 2)
  if (rarely(random)) return concat(packet(60, seeded('odd', 9)), signed)
  return signed
}

/** How a signature was made: by whom, when, over which hash, and what it says beside. */
function signatureOf(random: Random, signer: SigningKey): SigningOptions {
  const hashed: Buffer[] = []
  if (random(3) === 0) hashed.push(issuerFingerprint(signer.fingerprint))
  if (random(3) === 0)
    hashed.push(notation('salt@notations.openpgpjs.org', 'abcdefgh', rarely(random)))
  if (random(4) === 0) hashed.push(intendedRecipient(bot.primary.fingerprint, random(2) === 0))
  if (rarely(random)) hashed.push(expiresAfter(pick(random, 0, 60, 10_000_000)))
  if (rarely(random)) hashed.push(subpacket(28, Buffer.from('alice')))
  if (rarely(random)) hashed.push(subpacket(100, concat(1), random(2) === 0))
  const lies = rarely(random)
  const unhashed = lies ? [issuer(mallory.primary.fingerprint)] : [issuer(signer.fingerprint)]
  return {
    signer,
    hash: pick(
      random,
      'sha256',
      'sha512',
      'sha384',
      ...(rarely(random) ? (['sha1'] as const) : []),
    ),
    type: pick(random, 0, 1, 0, 1, ...(rarely(random) ? [2] : [])),
    atMs: pick(
      random,
      NOW_MS,
      NOW_MS - 1000,
      MADE_MS + 1000,
      ...(rarely(random) ? [MADE_MS - 1000, NOW_MS + 400_000] : []),
    ),
    hashed,
    unhashed: random(6) === 0 ? [] : unhashed,
  }
}

/** A stranger's key, to which nobody has the secret here. */
export const stranger = curve25519('stranger', MADE_MS)
