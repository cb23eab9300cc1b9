/** Hostile OpenPGP, put together octet by octet (RFC 9580, 4.2 and 5). */
import { randomBytes } from 'node:crypto'
import { encryptSessionKey, readKey } from 'openpgp'
import { armorMessage } from '../../src/openpgp/format/armor-writer.ts'
import { TAG } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import { canaries } from './canaries.ts'
import { concat, hex } from './openpgp-bytes.ts'
import { compressedOf, literal as literalPacket } from './openpgp-inner.ts'
import { seipd, strangerPkesk } from './openpgp-sealed.ts'

const NOBODY = '0000000000000000'

export { armorMessage as armor, compressedOf as compressed, framePacket as packet, TAG }

/** Key ids of a certificate, primary first, 16 hexadecimal characters each. */
export async function keyIdsOf(certificate: string): Promise<string[]> {
  const key = await readKey({ armoredKey: certificate })
  return key.getKeys().map((one) => one.getKeyID().toHex())
}

/** So many recipient packets with the right shape for a Curve25519 key, and nothing in them. */
export function recipients(count: number, keyId: string = NOBODY): Buffer {
  const label = (): string => hex(randomBytes(8))
  return Buffer.concat(Array.from({ length: count }, () => strangerPkesk(label(), keyId)))
}

/** An integrity-protected container of random bytes. */
export function container(bytes: number): Buffer {
  return framePacket(TAG.seipd, concat(1, randomBytes(bytes)))
}

/** A literal packet: UTF-8, without a name, undated. */
export function literal(text: string | Buffer): Buffer {
  if (typeof text === 'string') canaries()?.words(text)
  return literalPacket(text)
}

/** Seals any packets to certificates, with a good hash over them (RFC 9580, 5.13.1). */
export async function sealPackets(
  packets: Buffer,
  certificates: string[],
): Promise<{ recipients: Buffer; container: Buffer }> {
  const data = randomBytes(32)
  const keys = await Promise.all(certificates.map((armoredKey) => readKey({ armoredKey })))
  const job = { data, algorithm: 'aes256', encryptionKeys: keys, format: 'binary' } as const
  const sealedKeys = await encryptSessionKey(job)
  return { recipients: Buffer.from(sealedKeys), container: seipd(packets, { cipher: 9, data }) }
}

/** The same as one armored message. */
export async function sealArmored(packets: Buffer, certificates: string[]): Promise<string> {
  const sealed = await sealPackets(packets, certificates)
  return armorMessage(Buffer.concat([sealed.recipients, sealed.container]))
}
