/** CRC-24 (RFC 9580, 6.1.1) of octets that go by in pieces. */

const POLYNOMIAL = 0x864cfb
const TABLE = Uint32Array.from({ length: 256 }, (_, octet) => {
  let crc = octet << 16
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x800000) === 0 ? 0 : POLYNOMIAL)
  return crc & 0xffffff
})

export class Crc24 {
  #crc = 0xb704ce

  update(octets: Uint8Array): void {
    let crc = this.#crc
    for (const octet of octets) {
      crc = ((crc << 8) ^ (TABLE[((crc >> 16) ^ octet) & 0xff] ?? 0)) & 0xffffff
    }
    this.#crc = crc
  }

  /** As it stands on the line after the base64, behind the `=`. */
  get base64(): string {
    return Buffer.from([this.#crc >> 16, (this.#crc >> 8) & 0xff, this.#crc & 0xff]).toString(
      'base64',
    )
  }
}
