/** Sealing: sign, then encrypt to every recipient (RFC 9580, 10.3). */
import { randomBytes } from 'node:crypto'
import { createMessage, encrypt, encryptSessionKey, enums, sign, type PublicKey } from 'openpgp'
import { armorMessage } from './armor.ts'
import { certificateOf, secretKeyOf } from './cache.ts'
import { encryptionKey } from './certificate.ts'
import type { Cipher, SealRequest } from './engine.ts'

/** A recipient at the date at which its certificate is taken: our clock, or ahead within tolerance. */
interface Dated {
  key: PublicKey
  date: Date
}

/** The library has it, its types do not. */
type Preferring = PublicKey & {
  getPrimarySelfSignature(date: Date): Promise<{ preferredSymmetricAlgorithms: number[] | null }>
}

/**
 * Takes a text, the recipients' certificates and the signer; the signer is made a recipient too.
 * Gives one armored message: recipient packets (v3), then one integrity-protected container (v1),
 * which every OpenPGP program reads.
 * @throws Error when any certificate cannot be used: nobody is left out silently
 */
export async function seal(request: SealRequest, nowMs: number): Promise<string> {
  const signer = await secretKeyOf(request.signer)
  const certificates = await Promise.all([...new Set(request.certificates)].map(certificateOf))
  const recipients = await Promise.all(
    [...certificates, signer.toPublic()].map((key) => dated(key, nowMs)),
  )
  const message = await createMessage({ binary: Buffer.from(request.text, 'utf8'), format: 'utf8' })
  const signed = await sign({
    message,
    signingKeys: signer,
    date: new Date(nowMs),
    format: 'object',
  })
  const algorithm = await cipherFor(recipients, request.cipher)
  const data = randomBytes(algorithm === 'aes256' ? 32 : 16)
  const container = await encrypt({
    message: signed,
    sessionKey: { data, algorithm },
    format: 'binary',
  })
  const recipientPackets = await packetsFor(recipients, { data, algorithm })
  data.fill(0)
  return armorMessage(Buffer.concat([recipientPackets, container]))
}

async function dated(key: PublicKey, nowMs: number): Promise<Dated> {
  const found = await encryptionKey(key, nowMs)
  if (!('subkey' in found)) throw new Error('a certificate cannot be sealed to')
  return { key, date: found.date }
}

/** AES-256 where every recipient lists it, else AES-128, which all must read (RFC 9580, 12.1). */
async function cipherFor(recipients: Dated[], wanted: Cipher): Promise<Cipher> {
  if (wanted === 'aes128') return wanted
  for (const { key, date } of recipients) {
    const { preferredSymmetricAlgorithms: listed } = await (
      key as Preferring
    ).getPrimarySelfSignature(date)
    if (!listed?.includes(enums.symmetric.aes256)) return 'aes128'
  }
  return 'aes256'
}

async function packetsFor(
  recipients: Dated[],
  sessionKey: { data: Uint8Array; algorithm: Cipher },
): Promise<Buffer> {
  const groups = Map.groupBy(recipients, ({ date }) => date.getTime())
  const parts: Uint8Array[] = []
  for (const [dateMs, group] of groups) {
    const packets = await encryptSessionKey({
      ...sessionKey,
      encryptionKeys: group.map(({ key }) => key),
      date: new Date(dateMs),
      format: 'binary',
    })
    parts.push(packets)
  }
  return Buffer.concat(parts)
}
