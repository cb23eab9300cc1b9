/** Sealing: sign, then encrypt to every recipient (RFC 9580, 10.3). */
import { randomBytes } from 'node:crypto'
import { createMessage, encrypt, encryptSessionKey, enums, sign, type PublicKey } from 'openpgp'
import { armorMessage } from './armor.ts'
import { certificateOf, secretKeyOf } from './cache.ts'
import { encryptionKey } from './certificate.ts'
import type { Cipher, SealRequest } from './engine.ts'
import { BOUNDS } from './profile.ts'

/** The library has it, its types do not. */
type Preferring = PublicKey & {
  getPrimarySelfSignature(date: Date): Promise<{ preferredSymmetricAlgorithms: number[] | null }>
}

/** Whether a certificate lists AES-256; asked of each once a thread. */
const listsAes256 = new WeakMap<PublicKey, boolean>()

/**
 * Takes a text, the recipients' certificates and the signer; the signer is made a recipient too.
 * Gives one armored message: recipient packets (v3), then one integrity-protected container (v1),
 * which every OpenPGP program reads.
 * @throws Error when any certificate cannot be used: nobody is left out silently
 */
export async function seal(request: SealRequest, nowMs: number): Promise<string> {
  const signer = await secretKeyOf(request.signer)
  const certificates = await Promise.all([...new Set(request.certificates)].map(certificateOf))
  const recipients = [...certificates, signer.toPublic()]
  const message = await createMessage({ binary: Buffer.from(request.text, 'utf8'), format: 'utf8' })
  const signed = await sign({
    message,
    signingKeys: signer,
    date: new Date(nowMs),
    format: 'object',
  })
  const algorithm = await cipherFor(recipients, request.cipher, nowMs)
  const data = randomBytes(algorithm === 'aes256' ? 32 : 16)
  const container = await encrypt({
    message: signed,
    sessionKey: { data, algorithm },
    format: 'binary',
  })
  const recipientPackets = await packetsFor(recipients, { data, algorithm }, nowMs)
  data.fill(0)
  return armorMessage(Buffer.concat([recipientPackets, container]))
}

/** AES-256 where every recipient lists it, else AES-128, which all must read (RFC 9580, 12.1). */
async function cipherFor(recipients: PublicKey[], wanted: Cipher, nowMs: number): Promise<Cipher> {
  if (wanted === 'aes128') return wanted
  for (const key of recipients) {
    let lists = listsAes256.get(key)
    if (lists === undefined) {
      const date = new Date(nowMs + BOUNDS.clockToleranceMs)
      const self = await (key as Preferring).getPrimarySelfSignature(date)
      lists = self.preferredSymmetricAlgorithms?.includes(enums.symmetric.aes256) === true
      listsAes256.set(key, lists)
    }
    if (!lists) return 'aes128'
  }
  return 'aes256'
}

/** All at our clock; where that fails, those dated ahead of it are taken at the date they need. */
async function packetsFor(
  recipients: PublicKey[],
  sessionKey: { data: Uint8Array; algorithm: Cipher },
  nowMs: number,
): Promise<Uint8Array> {
  try {
    return await packetsAt(recipients, sessionKey, new Date(nowMs))
  } catch {
    const parts: Uint8Array[] = []
    for (const recipient of recipients) {
      const found = await encryptionKey(recipient, nowMs)
      if (!('subkey' in found)) throw new Error('a certificate cannot be sealed to')
      parts.push(await packetsAt([recipient], sessionKey, found.date))
    }
    return Buffer.concat(parts)
  }
}

async function packetsAt(
  encryptionKeys: PublicKey[],
  sessionKey: { data: Uint8Array; algorithm: Cipher },
  date: Date,
): Promise<Uint8Array> {
  return await encryptSessionKey({ ...sessionKey, encryptionKeys, date, format: 'binary' })
}
