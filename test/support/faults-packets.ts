/** Hostile OpenPGP, put together octet by octet (RFC 9580, 4.2 and 5). */
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { encryptSessionKey, readKey } from 'openpgp'
import { armorMessage } from '../../src/openpgp/format/armor-writer.ts'
import { TAG } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import { canaries } from './canaries.ts'

const ECDH = 18
const NOBODY = '0000000000000000'
const AES256 = 32
const BLOCK = 16

export { armorMessage as armor, framePacket as packet, TAG }

/** Key ids of a certificate, primary first, 16 hexadecimal characters each. */
export async function keyIdsOf(certificate: string): Promise<string[]> {
  const key = await readKey({ armoredKey: certificate })
  return key.getKeys().map((one) => one.getKeyID().toHex())
}

/** A recipient packet with the right shape for a Curve25519 key, and nothing in it. */
export function recipient(keyId: string = NOBODY): Buffer {
  const point = Buffer.concat([Buffer.from([1, 7, 0x40]), randomBytes(32)])
  const wrapped = Buffer.concat([Buffer.from([48]), randomBytes(48)])
  const head = Buffer.concat([Buffer.from([3]), Buffer.from(keyId, 'hex'), Buffer.from([ECDH])])
  return framePacket(TAG.pkesk, Buffer.concat([head, point, wrapped]))
}

/** So many of them. */
export function recipients(count: number, keyId?: string): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => recipient(keyId)))
}

/** An integrity-protected container of random bytes. */
export function container(bytes: number): Buffer {
  return framePacket(TAG.seipd, Buffer.concat([Buffer.from([1]), randomBytes(bytes)]))
}

/** A literal packet: UTF-8, without a name, undated. */
export function literal(text: string | Buffer): Buffer {
  if (typeof text === 'string') canaries()?.words(text)
  return framePacket(
    TAG.literal,
    Buffer.concat([Buffer.from('u\0\0\0\0\0', 'latin1'), Buffer.from(text)]),
  )
}

/** A compressed packet. @param algorithm 1 ZIP, 2 ZLIB, 3 BZip2 */
export function compressed(algorithm: number, body: Buffer): Buffer {
  return framePacket(TAG.compressed, Buffer.concat([Buffer.from([algorithm]), body]))
}

/** A packet in partial chunks of `2 ** exponent` bytes, the rest with a definite length. */
export function partial(tag: number, body: Buffer, exponent: number): Buffer {
  const size = 2 ** exponent
  const parts: Buffer[] = [Buffer.from([0xc0 | tag])]
  let at = 0
  for (; body.length - at > size; at += size) {
    parts.push(Buffer.from([0xe0 | exponent]), body.subarray(at, at + size))
  }
  const last = framePacket(tag, body.subarray(at)).subarray(1)
  return Buffer.concat([...parts, last])
}

/** Seals any packets to certificates, with a good hash over them (RFC 9580, 5.13.1). */
export async function sealPackets(
  packets: Buffer,
  certificates: string[],
): Promise<{ recipients: Buffer; container: Buffer }> {
  const data = randomBytes(AES256)
  const keys = await Promise.all(certificates.map((armoredKey) => readKey({ armoredKey })))
  const sealedKeys = await encryptSessionKey({
    data,
    algorithm: 'aes256',
    encryptionKeys: keys,
    format: 'binary',
  })
  const prefix = randomBytes(BLOCK)
  const hashed = Buffer.concat([prefix, prefix.subarray(-2), packets, Buffer.from([0xd3, 0x14])])
  const hash = createHash('sha1').update(hashed).digest()
  const cipher = createCipheriv('aes-256-cfb', data, Buffer.alloc(BLOCK))
  const body = Buffer.concat([Buffer.from([1]), cipher.update(hashed), cipher.update(hash)])
  return { recipients: Buffer.from(sealedKeys), container: framePacket(TAG.seipd, body) }
}

/** The same as one armored message. */
export async function sealArmored(packets: Buffer, certificates: string[]): Promise<string> {
  const sealed = await sealPackets(packets, certificates)
  return armorMessage(Buffer.concat([sealed.recipients, sealed.container]))
}
