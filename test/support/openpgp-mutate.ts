/** Spoiling bytes in a way that a seed repeats. */

/** Numbers from 0 up to a bound, the same for the same seed (mulberry32). */
export type Random = (below: number) => number

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Bytes that mean something to a parser of packets. */
const TELLING = [
  0, 1, 0x7f, 0x80, 0x99, 0xbf, 0xc0, 0xc1, 0xc2, 0xcb, 0xd2, 0xdf, 0xe0, 0xe9, 0xfe, 0xff,
]

type Change = (bytes: Buffer, random: Random) => Buffer

const CHANGES: Change[] = [
  (bytes, random) => {
    const at = random(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
    return bytes
  },
  (bytes, random) => {
    bytes[random(bytes.length)] = TELLING[random(TELLING.length)] ?? 0
    return bytes
  },
  (bytes, random) => {
    bytes[random(bytes.length)] = random(256)
    return bytes
  },
  (bytes, random) => bytes.subarray(0, random(bytes.length)),
  (bytes, random) => bytes.subarray(random(bytes.length)),
  (bytes, random) => {
    const [from, to] = cut(bytes, random)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  },
  (bytes, random) => {
    const [from, to] = cut(bytes, random)
    const at = random(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(from, to), bytes.subarray(at)])
  },
  (bytes, random) => {
    const at = random(bytes.length)
    const inserted = Buffer.from(Array.from({ length: 1 + random(6) }, () => random(256)))
    return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)])
  },
]

function cut(bytes: Buffer, random: Random): [number, number] {
  const from = random(bytes.length)
  return [from, Math.min(bytes.length, from + 1 + random(80))]
}

/** A spoilt copy; most changes are near the start, where headers are. */
export function mutate(bytes: Uint8Array, random: Random): Buffer {
  let spoilt = Buffer.from(bytes)
  for (let count = 1 + random(3); count > 0 && spoilt.length > 0; count--) {
    const head = random(2) === 0 ? Math.min(spoilt.length, 24) : spoilt.length
    const change = CHANGES[random(CHANGES.length)] ?? ((same) => same)
    const changed = change(Buffer.from(spoilt.subarray(0, head)), random)
    spoilt = Buffer.concat([changed, spoilt.subarray(head)])
  }
  return spoilt
}
