/** Recipient packets as they stand at the start of a message, in armor inside a JSON string. */
import { Crc24 } from './crc24.ts'
import { LINE_BYTES, armorLines } from './json-armor.ts'

/** All of it is public. */
export interface ArmoredPackets {
  /** As far as they fill whole lines, escaped for JSON. */
  lines: Uint8Array
  /** Their bytes after that, fewer than a line holds. */
  rest: Uint8Array
  /** The register of `Crc24` after all of them. */
  crc: number
  bytes: number
}

export function armorPackets(packets: Uint8Array): ArmoredPackets {
  const whole = packets.length - (packets.length % LINE_BYTES)
  const crc = new Crc24()
  crc.update(packets)
  return {
    lines: armorLines(packets.subarray(0, whole)),
    rest: new Uint8Array(packets.subarray(whole)),
    crc: crc.register,
    bytes: packets.length,
  }
}

/** The same of packets that come in parts, in memory that other threads can be let see. */
export function armorShared(parts: Uint8Array[]): ArmoredPackets {
  const armored = armorPackets(Buffer.concat(parts))
  const lines = new Uint8Array(new SharedArrayBuffer(armored.lines.length))
  lines.set(armored.lines)
  return { ...armored, lines }
}
