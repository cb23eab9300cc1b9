import { expect, onTestFinished, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { holds, holdsAside, ED25519 } from '../../../src/openpgp/crypto/ed25519.ts'

import {
  agree,
  freshPair,
  isLowOrder,
  refillEphemerals,
  takePair,
  rawPublicKey,
  rawSecretKey,
} from '../../../src/openpgp/crypto/curve25519.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import '../../support/openpgp-engine.ts'
import { identify, seconds } from '../../support/openpgp-key.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice } from '../../support/openpgp-people.ts'
import { hasWycheproof, wycheproof } from '../../support/wycheproof.ts'
import { flipBit } from '../../support/openpgp-flips.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')

test('`takePair` returns each precomputed ephemeral once, and a fresh one when none is left', () => {
  while (refillEphemerals());
  expect(refillEphemerals()).toBe(false)
  const points = new Set<string>()
  const take = (count: number): void => {
    for (let taken = 0; taken < count; taken++) points.add(takePair().point.toString('hex'))
  }
  // a step makes 64, and 640 are kept
  take(65)
  expect([refillEphemerals(), refillEphemerals()]).toEqual([true, false])
  take(64)
  expect(refillEphemerals()).toBe(false)
  take(650)
  expect(points.size).toBe(65 + 64 + 650)
  expect(refillEphemerals()).toBe(true)
})

test('X25519 computes the shared secret of RFC 7748, 6.1', () => {
  const bob = rawSecretKey(
    bytes('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb'),
    'x25519',
  )
  const alices = bytes('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a')
  expect(agree(bob, alices).toString('hex')).toBe(
    '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742',
  )
})

test('Ed25519 makes the first signature of RFC 8032, 7.1, and rejects each of its 512 bit flips', async () => {
  const secret = rawSecretKey(
    bytes('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'),
    'ed25519',
  )
  const numbers = ED25519.sign(secret, Buffer.alloc(0))
  expect(numbers.toString('hex')).toBe(
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  )
  const point = bytes('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
  const statement = { digest: Buffer.alloc(0), point, numbers }
  expect([holds(statement), await holdsAside(statement)]).toEqual([true, true])
  for (let bit = 0; bit < 512; bit++) {
    const flipped = flipBit(numbers, bit)
    expect(holds({ ...statement, numbers: flipped })).toBe(false)
  }
})

/** Points of order 1, 2, 4 and 8, on the curve or its twist, in every spelling of 255 bits. */
const LOW_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].flatMap((point) => {
  const other = bytes(point)
  other[31] = (other[31] ?? 0) ^ 0x80
  return [point, other.toString('hex')]
})

test.each(LOW_ORDER)('X25519 agreement with the low-order point %s throws', (hex) => {
  expect(() => agree(freshPair().secret, bytes(hex))).toThrow()
  expect(isLowOrder(bytes(hex))).toBe(true)
})

test.each(LOW_ORDER)(
  'a certificate whose subkey is the low-order point %s is unusable as `weak-algorithm`',
  async (hex) => {
    const { primary } = alice
    const start = concat(4, seconds(MADE_MS))
    const legacy = concat(start, 18, '0a2b060104019755010501', u16(263), 0x40, hex, '03010807')
    for (const body of [legacy, concat(start, 25, hex)]) {
      const subkey = boundSubkey(primary, identify(body, MADE_MS))
      const certificate = armoredCertificate(keyPacket(primary), userId(primary, 'a'), subkey)
      expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'weak-algorithm' })
      expect(readCommonCertificate(certificate, NOW_MS)).toBeNull()
    }
  },
)

interface X25519Case {
  tcId: number
  public: string
  private: string
  shared: string
}

test.skipIf(!hasWycheproof)(
  'X25519 passes the Wycheproof cases and rejects each all-zero result',
  () => {
    for (const one of wycheproof<X25519Case>('x25519_test.json')) {
      const secret = rawSecretKey(bytes(one.private), 'x25519')
      const isZero = /^0+$/.test(one.shared)
      if (isZero) expect(() => agree(secret, bytes(one.public)), `case ${one.tcId}`).toThrow()
      else expect(agree(secret, bytes(one.public)).toString('hex')).toBe(one.shared)
      expect(isLowOrder(bytes(one.public)), `case ${one.tcId}`).toBe(isZero)
    }
  },
)

interface Ed25519Case {
  tcId: number
  publicKey: { pk: string }
  msg: string
  sig: string
  result: string
}

test.skipIf(!hasWycheproof)(
  'Ed25519 accepts exactly the valid signatures of the Wycheproof cases',
  async () => {
    for (const one of wycheproof<Ed25519Case>('ed25519_test.json')) {
      const digest = bytes(one.msg)
      const statement = { digest, point: bytes(one.publicKey.pk), numbers: bytes(one.sig) }
      const expected = one.result === 'valid'
      expect(holds(statement), `case ${one.tcId}`).toBe(expected)
      expect(await holdsAside(statement), `case ${one.tcId}`).toBe(expected)
    }
  },
)

test('`rawPublicKey` restores `Error.stackTraceLimit` after success and after failure', () => {
  const before = Error.stackTraceLimit
  onTestFinished(() => void (Error.stackTraceLimit = before))
  const limit = 7
  Error.stackTraceLimit = limit
  expect(rawPublicKey(Buffer.alloc(32, 9), 'x25519').asymmetricKeyType).toBe('x25519')
  expect(Error.stackTraceLimit).toBe(limit)
  expect(() => rawPublicKey(Buffer.alloc(31, 9), 'ed25519')).toThrow()
  expect(Error.stackTraceLimit).toBe(limit)
})
