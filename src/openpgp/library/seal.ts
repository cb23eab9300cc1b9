/** Sealing: sign, then encrypt to every recipient (RFC 9580, 10.3). */
import { hash, randomBytes } from 'node:crypto'
import { config, createMessage, encrypt, enums, sign } from 'openpgp'
import type { MaybeStream, Message, PrivateKey, PublicKey } from 'openpgp'
import { CIPHERS, CIPHER_NAME, type CipherId, type Cipher } from '../format/ciphers.ts'
import type { SealRequest } from '../engine.ts'
import { armorMessage, type SealedDigests } from '../format/armor-writer.ts'
import { TAG, packetAt, packetsOf } from '../format/packets.ts'
import { parseSignature } from '../format/signature-claim.ts'
import { recipientNames, subpacketArea } from '../format/packet-writer.ts'
import { recipientOf } from './certificate.ts'
import { certificateOf, secretKeyOf } from './key-cache.ts'
import { termsOf, unfitness } from './owner-terms.ts'

/**
 * Seals a text to the certificates and to the signer, each of them once.
 * Gives one armored message and its digests: recipient packets (v3), then one container of version
 * 1, which every OpenPGP program reads.
 * @throws Error when any certificate cannot be used: nobody is left out silently
 */
export async function seal(
  request: SealRequest,
  nowMs: number,
): Promise<SealedDigests & { armored: string }> {
  const signer = await secretKeyOf(request.signer)
  const certificates = await Promise.all([...new Set(request.certificates)].map(certificateOf))
  const recipients = distinct([...certificates, signer.toPublic()])
  const document = Buffer.from(request.text)
  const message = await createMessage({ binary: document, format: 'utf8' })
  const date = new Date(request.atMs ?? nowMs)
  const signed = await sign({ message, signingKeys: signer, date, format: 'object' })
  if (request.isUnnamed !== true) {
    const names = recipientNames(recipients.map((one) => one.getFingerprint()))
    await signAgainNaming(names, signed, { signer, date })
  }
  const algorithm = await cipherFor(recipients, request.cipher, nowMs)
  const data = randomBytes(CIPHERS[algorithm].keyBytes)
  const sessionKey = { data, algorithm }
  const container = await encrypt({ message: signed, sessionKey, format: 'binary' })
  const forRecipients = await packetsFor(recipients, sessionKey, nowMs)
  data.fill(0)
  return {
    armored: armorMessage(Buffer.concat([forRecipients, container])),
    dataDigest: hash('sha256', packetAt(container, 0).body, 'hex'),
    statementDigest: statementDigestOf(signed.write() as Uint8Array, document),
  }
}

/**
 * Gives recipient packets of certificates alone, for a message that is otherwise sealed natively.
 * @param sessionKey in memory shared with the caller; copies made here are zeroed
 */
export async function recipientPackets(
  certificates: string[],
  { cipher, data }: { cipher: CipherId; data: Uint8Array },
  nowMs: number,
): Promise<Uint8Array> {
  const own = { data: Uint8Array.from(data), algorithm: CIPHER_NAME[cipher] }
  try {
    const recipients = await Promise.all(certificates.map(certificateOf))
    return await packetsFor(recipients, own, nowMs)
  } finally {
    own.data.fill(0)
  }
}

/** Whether all certificates list AES-256. */
export async function allListAes256(certificates: string[], nowMs: number): Promise<boolean> {
  const recipients = await Promise.all(certificates.map(certificateOf))
  return (await cipherFor(recipients, 'aes256', nowMs)) === 'aes256'
}

/** Fields of a signature packet that the library has, and its types lack. */
interface Resignable {
  rawNotations: unknown[]
  writeHashedSubPackets(): Uint8Array
  sign(key: unknown, data: unknown, date: Date, detached: boolean, config: unknown): Promise<void>
}

/** The library has no way to write these subpackets, so the signature is made once more with them. */
async function signAgainNaming(
  names: Uint8Array,
  { packets }: Message<MaybeStream<Uint8Array>>,
  { signer, date }: { signer: PrivateKey; date: Date },
): Promise<void> {
  const packet = packets.findPacket(enums.packet.signature) as unknown as Resignable
  const { keyPacket } = await signer.getSigningKey(undefined, date)
  const others = packet.writeHashedSubPackets.bind(packet)
  packet.rawNotations = []
  packet.writeHashedSubPackets = () => subpacketArea([others().subarray(2), names])
  const literal = packets.findPacket(enums.packet.literalData)
  await packet.sign(keyPacket, literal, date, false, config)
}

function statementDigestOf(signed: Uint8Array, document: Uint8Array): string {
  for (const { tag, body } of packetsOf(signed)) {
    const claim = tag === TAG.signature ? parseSignature(body, document) : null
    if (claim !== null) return claim.digest
  }
  throw new Error('nothing was signed')
}

const distinct = (keys: PublicKey[]): PublicKey[] => [
  ...new Map(keys.map((key) => [key.getFingerprint(), key])).values(),
]

/** AES-256 where every recipient lists it, else AES-128, which all must read (RFC 9580, 12.1). */
async function cipherFor(recipients: PublicKey[], asked: Cipher, nowMs: number): Promise<Cipher> {
  if (asked === 'aes128') return asked
  const terms = await Promise.all(recipients.map((key) => termsOf(key, nowMs)))
  if (terms.some(({ primary }) => unfitness(primary, nowMs) !== null)) {
    throw new Error('a certificate cannot be sealed to')
  }
  const lists = terms.every(({ ciphers }) => ciphers.includes(enums.symmetric.aes256))
  return lists ? 'aes256' : 'aes128'
}

/** A recipient packet for each. */
const packetsFor = async (
  recipients: PublicKey[],
  sessionKey: { data: Uint8Array; algorithm: (typeof CIPHER_NAME)[CipherId] },
  nowMs: number,
): Promise<Uint8Array> =>
  Buffer.concat(await Promise.all(recipients.map((one) => recipientOf(one, sessionKey, nowMs))))
