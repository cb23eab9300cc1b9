import { expect, test } from 'vitest'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { packRecord } from '../../../src/openpgp/native/certificate-record.ts'
import { Verifier } from '../../../src/openpgp/native/verify.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { boundSubkey, keyPacket, userId } from '../../support/openpgp-certificate.ts'
import '../../support/openpgp-engine.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { NOW_MS, alice } from '../../support/openpgp-people.ts'
import { signature, signatureBody } from '../../support/openpgp-signature.ts'
import { flipBit } from '../../support/openpgp-flips.ts'

const verifier = new Verifier(() => false)
const DOCUMENT = Buffer.from('hello')
const { info } = await judgeFully(alice.certificate, NOW_MS)
if (info === null) throw new Error('not common')

/** Each byte string that differs from one in a single bit. */
function* flips(bytes: Uint8Array): Generator<{ bit: number; flipped: Buffer }> {
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = flipBit(bytes, bit)
    yield { bit, flipped }
  }
}

const natively = (document: Uint8Array, signed: Uint8Array) =>
  verifier.verify({ document, signatures: [signed] }, info, NOW_MS)

test('a signature with any single bit flipped is verified natively with the result of openpgp.js', async () => {
  const options = { signer: alice.primary, over: DOCUMENT, atMs: NOW_MS }
  const whole = signature(options)
  expect(await natively(DOCUMENT, whole)).toEqual(['valid'])
  const header = whole.length - signatureBody(options).length
  // Up to the end of the hashed subpackets: version, type, algorithms, length, date.
  const hashedEnd = header + 6 + 6
  let judged = 0
  for (const { bit, flipped } of flips(whole)) {
    const ours = await natively(DOCUMENT, flipped).catch(() => null)
    if (ours === null) continue
    judged++
    const signed = { document: DOCUMENT, signatures: [flipped] }
    expect(ours, `bit ${bit}`).toEqual(await verify(signed, alice.certificate, NOW_MS))
    const isHashed = bit >> 3 >= header && bit >> 3 < hashedEnd
    if (isHashed || bit >> 3 >= whole.length - 64) expect(ours, `bit ${bit}`).not.toEqual(['valid'])
  }
  expect(judged).toBeGreaterThan(64 * 8)
})

test('a signature with short numbers is valid natively and by openpgp.js', async () => {
  let short = 0
  for (let n = 0; short < 4; n++) {
    const document = Buffer.from(`document ${n}`)
    const options = { signer: alice.primary, over: document, atMs: NOW_MS }
    const body = signatureBody(options)
    const r = body.readUInt16BE(numbersAt(body))
    const s = body.readUInt16BE(numbersAt(body) + 2 + ((r + 7) >> 3))
    if (r > 248 && s > 248) continue
    short++
    const signed = { document, signatures: [signature(options)] }
    expect(await natively(document, signature(options))).toEqual(['valid'])
    expect(await verify(signed, alice.certificate, NOW_MS)).toEqual(['valid'])
  }
})

/** Where the two numbers begin: behind both areas and two bytes of the digest. */
function numbersAt(body: Buffer): number {
  const unhashed = 6 + body.readUInt16BE(4)
  return unhashed + 2 + body.readUInt16BE(unhashed) + 2
}

test('a certificate with any single bit flipped is read natively with the result of openpgp.js, or not at all', async () => {
  const { primary, subkey } = alice
  const parts = [keyPacket(primary), userId(primary, 'alice'), boundSubkey(primary, subkey)]
  const whole = Buffer.concat(parts)
  const read = (bytes: Uint8Array): ReturnType<typeof readCommonCertificate> =>
    readCommonCertificate(armor(bytes, { type: 'PUBLIC KEY BLOCK' }), NOW_MS)
  expect(read(whole)).not.toBeNull()
  for (const { bit, flipped } of flips(whole)) {
    const ours = read(flipped)
    if (ours === null) continue
    const text = armor(flipped, { type: 'PUBLIC KEY BLOCK' })
    const judged = await judgeFully(text, NOW_MS)
    expect(judged.status.unusable, `bit ${bit}`).toBeNull()
    expect(judged.info && packRecord(judged.info), `bit ${bit}`).toEqual(packRecord(ours))
  }
})
