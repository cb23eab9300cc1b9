/**
 * Sealing of files as phones do it: signed, perhaps compressed, encrypted, in every common form
 * that a reader may meet (RFC 9580, 10.3). Runs in the calling thread.
 */
import { randomBytes } from 'node:crypto'
import { deflateRawSync, deflateSync } from 'node:zlib'
import { createMessage, encryptSessionKey, sign, SignaturePacket, type PrivateKey } from 'openpgp'
import { CIPHERS, TAG, armorBlock, loadLibrary, packetHeader } from '../../openpgp/index.ts'
import type { UnlockedKey } from '../../openpgp/index.ts'
import type { FileForm } from '../control/fields.ts'

export type { FileForm } from '../control/fields.ts'

/** How a body is framed: with one length, or in partial chunks (RFC 9580, 4.2.1.4). */
type Framing = NonNullable<FileForm['framing']>

export interface SealFileRequest {
  file: Uint8Array
  /** Armored certificates, each usable now. Only these can open it. */
  certificates: readonly string[]
  signer: UnlockedKey
  /** When it is signed, ms since the epoch; now, where it is absent. */
  atMs?: number
  form?: FileForm
}

/** With their numbers (RFC 9580, 9.4). */
const COMPRESSORS = { zip: [1, deflateRawSync], zlib: [2, deflateSync] } as const

/**
 * Gives the sealed file: recipient packets (v3), then one integrity-protected container (v1).
 * @throws Error when there is nobody to seal to or a certificate cannot be used
 */
export async function sealFile({ file, ...request }: SealFileRequest): Promise<Buffer> {
  const { certificateOf, secretKeyOf, packetsForComposites, sealVersion1 } = await loadLibrary()
  const { form = {}, signer } = request
  const cipher = form.cipher ?? 'aes256'
  const framing = form.framing ?? 'whole'
  const data = randomBytes(CIPHERS[cipher].keyBytes)
  const isAnonymous = form.recipients === 'anonymous'
  const keys = await Promise.all(request.certificates.map(certificateOf))
  const { packets: recipients, others } = await packetsForComposites(keys, {
    data,
    cipher: CIPHERS[cipher].id,
    isAnonymous,
  })
  if (others.length > 0 || recipients.length === 0) {
    const encryption = { encryptionKeys: others, wildcard: isAnonymous }
    recipients.push(
      await encryptSessionKey({ data, algorithm: cipher, ...encryption, format: 'binary' }),
    )
  }
  const { atMs = Date.now() } = request
  const signed = await signedParts(file, {
    signingKey: await secretKeyOf(signer),
    form,
    framing,
    date: new Date(atMs),
  })
  const packets = compressed(signed, form.compression ?? 'none', framing)
  const container = sealVersion1(Buffer.concat(packets), { algorithm: cipher, data })
  data.fill(0)
  const sealed = Buffer.concat([...recipients, ...framedParts(TAG.seipd, [container], framing)])
  return form.encoding === 'armored' ? Buffer.from(armorBlock('MESSAGE', sealed)) : sealed
}

/** One-pass signature, literal data and signature, or the literal data alone (RFC 9580, 10.3). */
async function signedParts(
  file: Uint8Array,
  o: { signingKey: PrivateKey; form: FileForm; framing: Framing; date: Date },
): Promise<Uint8Array[]> {
  // binary, without a file name, undated
  const head = Buffer.from([0x62, 0, 0, 0, 0, 0])
  const literal = framedParts(TAG.literal, [head, file], o.framing)
  if (o.form.signature === 'none') return literal
  const detached = await sign({
    message: await createMessage({ binary: file, format: 'binary' }),
    signingKeys: o.signingKey,
    date: o.date,
    detached: true,
    format: 'object',
  })
  const [packet] = detached.packets
  if (!(packet instanceof SignaturePacket)) throw new Error('nothing was signed')
  const signature = Buffer.from(detached.write() as Uint8Array)
  if (o.form.signature === 'damaged') signature[signature.length - 1]! ^= 1
  const announced = Buffer.concat([
    Buffer.of(3, 0, packet.hashAlgorithm ?? 0, packet.publicKeyAlgorithm ?? 0),
    Buffer.from(packet.issuerKeyID.toHex(), 'hex'),
    Buffer.of(1),
  ])
  return [...framedParts(TAG.onePassSignature, [announced], 'whole'), ...literal, signature]
}

function compressed(parts: Uint8Array[], how: 'none' | 'zip' | 'zlib', framing: Framing) {
  if (how === 'none') return parts
  const [algorithm, compress] = COMPRESSORS[how]
  const body = compress(Buffer.concat(parts))
  return framedParts(TAG.compressed, [Buffer.of(algorithm), body], framing)
}

/** Log2 of a partial chunk's bytes. */
const CHUNK = 16

/** Frames a body in parts, without joining them: gives the packet in parts. */
export function framedParts(tag: number, parts: Uint8Array[], framing: Framing): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const size = 2 ** CHUNK
  if (framing === 'whole' || length < size) return [packetHeader(tag, length), ...parts]
  const body = Buffer.concat(parts)
  const framed: Uint8Array[] = [Buffer.of(0xc0 | tag)]
  let at = 0
  for (; at + size <= length; at += size) {
    framed.push(Buffer.of(0xe0 | CHUNK), body.subarray(at, at + size))
  }
  return [...framed, packetHeader(tag, length - at).subarray(1), body.subarray(at)]
}
