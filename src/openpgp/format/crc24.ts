/** CRC-24 (RFC 9580, 6.1.1) of bytes that go by in pieces. */

/** The polynomial and the register stand in the upper 24 bits of a word. */
const POLYNOMIAL = 0x864cfb00
const START = 0xb704ce00
/** What a byte does to the register when so many more bytes follow it: 0 to 7. */
const TABLES = tables()

function tables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 24
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? POLYNOMIAL : 0)
    return crc
  })
  const all = [first]
  for (let more = 1; more < 8; more++) {
    all.push((all[more - 1] ?? first).map((crc) => (crc << 8) ^ (first[crc >>> 24] ?? 0)))
  }
  return all
}

export class Crc24 {
  #crc: number

  /** @param register of one that is gone on with */
  constructor(register = START) {
    this.#crc = register
  }

  /** Stands for all that went by. */
  get register(): number {
    return this.#crc
  }

  update(bytes: Uint8Array): void {
    const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
    ]
    const at = (table: Int32Array, index: number): number => table[index] as number
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let crc = this.#crc
    let place = 0
    // Eight at a time: an armored message of a large group is a hundred thousand bytes.
    for (const whole = bytes.length - 7; place < whole; place += 8) {
      const high = crc ^ view.getInt32(place)
      const low = view.getInt32(place + 4)
      crc =
        at(t7, high >>> 24) ^
        at(t6, (high >>> 16) & 0xff) ^
        at(t5, (high >>> 8) & 0xff) ^
        at(t4, high & 0xff) ^
        at(t3, low >>> 24) ^
        at(t2, (low >>> 16) & 0xff) ^
        at(t1, (low >>> 8) & 0xff) ^
        at(t0, low & 0xff)
    }
    for (; place < bytes.length; place++) {
      crc = (crc << 8) ^ at(t0, (crc >>> 24) ^ view.getUint8(place))
    }
    this.#crc = crc
  }

  /** As it stands on the line after the base64, behind the `=`. */
  get base64(): string {
    const crc = this.#crc >>> 8
    return Buffer.from([crc >> 16, (crc >> 8) & 0xff, crc & 0xff]).toString('base64')
  }
}
