/** Certificates that carry somebody else's keys under their own primary key. */
import { armoredCertificate, boundSubkey, keyPacket, userId } from './openpgp-certificate.ts'
import { identify, type PacketKey, type SigningKey } from './openpgp-key.ts'

const PUBLIC_SUBKEY = 14

/** The packets of an armored certificate, with lengths of one, two or four bytes. */
function* packetsIn(armored: string): Generator<{ tag: number; body: Buffer }> {
  const lines = armored.replaceAll('\r', '').split('\n')
  const data = lines.slice(lines.indexOf('') + 1).filter((line) => !/^[=-]/.test(line))
  const bytes = Buffer.from(data.join(''), 'base64')
  for (let at = 0; at < bytes.length;) {
    const first = bytes.readUInt8(at)
    const isNew = (first & 0x40) !== 0
    const [header, length] = isNew ? newLength(bytes, at + 1) : oldLength(bytes, at + 1, first & 3)
    const start = at + 1 + header
    yield {
      tag: isNew ? first & 0x3f : (first >> 2) & 0x0f,
      body: bytes.subarray(start, start + length),
    }
    at = start + length
  }
}

function newLength(bytes: Buffer, at: number): [number, number] {
  const first = bytes.readUInt8(at)
  if (first < 192) return [1, first]
  if (first < 224) return [2, ((first - 192) << 8) + bytes.readUInt8(at + 1) + 192]
  return [5, bytes.readUInt32BE(at + 1)]
}

function oldLength(bytes: Buffer, at: number, type: number): [number, number] {
  const size = 2 ** type
  return [size, bytes.readUIntBE(at, size)]
}

/** The subkeys of an armored certificate. */
export function subkeysOf(armored: string): PacketKey[] {
  return [...packetsIn(armored)]
    .filter(({ tag }) => tag === PUBLIC_SUBKEY)
    .map(({ body }) => identify(Buffer.from(body), body.readUInt32BE(1) * 1000))
}

/** A certificate of this primary key that lists a subkey as its own encryption subkey. */
export function graft(primary: SigningKey, ...subkeys: PacketKey[]): string {
  const bindings = subkeys.map((subkey) => {
    return boundSubkey(primary, subkey, { atMs: Math.max(subkey.createdMs, primary.createdMs) })
  })
  return armoredCertificate(keyPacket(primary), userId(primary, 'grafted'), ...bindings)
}
