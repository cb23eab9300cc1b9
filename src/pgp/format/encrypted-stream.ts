/** The outside of an encrypted message as it arrives: its recipients, then its one container. */
import { RecipientScan, type ScannedRecipients, type OwnIds } from './recipient-scan.ts'
import type { NotOpened } from '../engine.ts'
import { FramingError, TAG, isIgnorable } from './packets.ts'
import { BOUNDS } from '../bounds.ts'
import type { OctetReader } from './byte-reader.ts'
import { nextPacket, type StreamedPacket } from './packet-stream.ts'

/** What stands before the container's data; that is still to be read. */
export interface EncryptedHead extends ScannedRecipients {
  outcome: 'encrypted'
  version: 1 | 2
  container: StreamedPacket
}

/**
 * Reads up to the container's data. The rules are those of `parseMessage`; what is not for us is
 * dropped as it goes by.
 */
export async function readEncryptedHead(
  reader: OctetReader,
  own: OwnIds,
): Promise<EncryptedHead | NotOpened> {
  return await unlessBroken(() => read(reader, own))
}

/** What stands behind the container, where nothing may: null when it is so. */
export async function readTrailing(reader: OctetReader): Promise<NotOpened | null> {
  return await unlessBroken(async () => {
    const packet = await nextPacket(reader)
    return packet === null ? null : { outcome: 'damaged' as const, reason: 'trailing-data' }
  })
}

async function read(reader: OctetReader, own: OwnIds): Promise<EncryptedHead | NotOpened> {
  const scan = new RecipientScan(own)
  for (;;) {
    const packet = await nextPacket(reader)
    if (packet === null) {
      return scan.count === 0
        ? { outcome: 'not-encrypted' }
        : { outcome: 'damaged', reason: 'no-data' }
    }
    const { tag } = packet
    if (tag === TAG.seipd) return await atContainer(packet, scan)
    if (tag === TAG.pkesk || tag === TAG.skesk) {
      scan.add(tag, await packet.whole(BOUNDS.recipientPacketBytes))
      if (scan.hasTooMany) return { outcome: 'too-large', reason: 'recipients' }
    } else if (isIgnorable(tag)) {
      await packet.skip()
    } else {
      return { outcome: scan.count === 0 ? 'not-encrypted' : 'damaged', reason: 'structure' }
    }
  }
}

async function atContainer(
  container: StreamedPacket,
  scan: RecipientScan,
): Promise<EncryptedHead | NotOpened> {
  const [version] = await container.exactly(1)
  if (version !== 1 && version !== 2) return { outcome: 'damaged', reason: 'container-version' }
  const chosen = scan.candidates()
  if ('outcome' in chosen) return chosen
  return { outcome: 'encrypted', ...chosen, version, container }
}

async function unlessBroken<T>(look: () => Promise<T>): Promise<T | NotOpened> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof FramingError) return { outcome: 'damaged', reason: error.message }
    throw error
  }
}
