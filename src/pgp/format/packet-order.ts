/** How data and signatures may stand together inside a message (RFC 9580, 10.3). */
import { TAG, type Packet } from './packets.ts'
import type { ParsedSignature } from './signature-claim.ts'

/** Literal formats of documents: binary, text, UTF-8 (RFC 9580, 5.9). */
export const LITERAL_FORMATS: ReadonlySet<number> = new Set(
  ['b', 't', 'u'].map((letter) => letter.charCodeAt(0)),
)

export interface PacketOrder {
  data: Packet
  onePass: Packet[] | null
  signatures: Packet[]
}

/** Data; or one-pass signatures, data, as many signatures; or signatures, data. Null for the rest. */
export function packetOrder(packets: Packet[], dataTag: number): PacketOrder | null {
  const at = packets.findIndex(({ tag }) => tag === dataTag)
  const data = packets[at]
  if (data === undefined) return null
  const before = packets.slice(0, at)
  const after = packets.slice(at + 1)
  const onePass = before.length > 0 && before.every(({ tag }) => tag === TAG.onePassSignature)
  const signatures = onePass ? after : before
  if (!signatures.every(({ tag }) => tag === TAG.signature)) return null
  if (after.length !== (onePass ? before.length : 0)) return null
  return { data, onePass: onePass ? before : null, signatures }
}

/**
 * Whether a signature agrees with its one-pass packet, if there are such: they must speak of the
 * same type and algorithms (RFC 9580, 5.4). The last signature belongs to the first of them.
 */
export function agreesWithOnePass({ onePass, signatures }: PacketOrder, index: number): boolean {
  const opening = onePass?.[onePass.length - 1 - index]?.body
  const signature = signatures[index]?.body
  if (opening === undefined || signature === undefined) return true
  const [type, hash, publicKey] = [opening[1], opening[2], opening[3]]
  return type === signature[1] && publicKey === signature[2] && hash === signature[3]
}

/** A signature of a kind that is never valid on a message: it counts, and it is bad. */
export function unreadableClaim(index: number): ParsedSignature {
  return {
    type: 255,
    publicKeyAlgorithm: 0,
    hashAlgorithm: 0,
    issuerKeyId: null,
    createdMs: 0,
    intended: [],
    digest: `unreadable-${index}`,
  }
}
