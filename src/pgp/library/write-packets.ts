/** Getting packets back out of the library as bytes, so that our own grammar can judge them. */
import { CompressedDataPacket, PacketList, type AnyPacket } from 'openpgp'
import { TAG, framePacket } from '../format/packets.ts'

/** The library has these, its types do not. */
interface Unfinished {
  stream?: { getReader(): { read(): Promise<{ done: boolean; value?: AnyPacket }> } } | null
}
interface Decompressed {
  packets: PacketList<AnyPacket>
}

/** Compressed data that is not (RFC 9580, 9.4). */
const UNCOMPRESSED = Buffer.from([0])

/**
 * Takes a list that the library parsed, and gives all of its packets. The library stops reading at
 * a document, and what follows must be asked for; what it decompressed it cannot write again, so
 * that is framed as it is.
 */
export async function writePackets(list: PacketList<AnyPacket>): Promise<Buffer> {
  const rest = (list as Unfinished).stream?.getReader()
  for (let next = await rest?.read(); next?.value !== undefined; next = await rest?.read()) {
    list.push(next.value)
  }
  const written: Uint8Array[] = []
  for (const packet of list) {
    if (packet instanceof CompressedDataPacket) {
      const inner = await writePackets((packet as unknown as Decompressed).packets)
      written.push(framePacket(TAG.compressed, Buffer.concat([UNCOMPRESSED, inner])))
    } else {
      const alone = new PacketList<AnyPacket>()
      alone.push(packet)
      written.push(alone.write())
    }
  }
  return Buffer.concat(written)
}
