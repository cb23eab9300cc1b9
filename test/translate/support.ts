/** A recipient packet and an encrypted container, of zeros (RFC 9580, 5.1 and 5.13). */
export function encryptedMessage(): string {
  const packet = (tag: number, body: number[]) => [0xc0 | tag, body.length, ...body]
  const zeros = Array.from({ length: 40 }, () => 0)
  const bytes = [...packet(1, [3, ...zeros]), ...packet(18, [1, ...zeros])]
  const base64 = Buffer.from(bytes).toString('base64')
  return `-----BEGIN PGP MESSAGE-----\n\n${base64}\n-----END PGP MESSAGE-----\n`
}
