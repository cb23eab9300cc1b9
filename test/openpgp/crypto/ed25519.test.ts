import { expect, test } from 'vitest'
import { ED25519, EDDSA_LEGACY } from '../../../src/openpgp/crypto/ed25519.ts'
import { concat, mpi, seeded } from '../../support/openpgp-bytes.ts'

const [r, s] = [concat('7f', seeded('r', 31)), concat('01', seeded('s', 31))]
const short = concat('0000', seeded('short', 30))

test.each([
  ['two integers of 32 bytes', r, s],
  ['a short first integer', short, s],
  ['a short second integer', r, short],
])('an EdDSA signature with %s is read, and written unchanged', (_, first, second) => {
  const written = concat(mpi(first), mpi(second))
  const numbers = concat(first, second)
  expect(EDDSA_LEGACY.readSignature(written)).toEqual(numbers)
  expect(EDDSA_LEGACY.writeSignature(numbers)).toEqual(written)
})

test('an EdDSA signature with missing bytes, extra bytes or an integer above 32 bytes is rejected', () => {
  const written = concat(mpi(r), mpi(s))
  const odd = [
    concat(written, 0),
    mpi(r),
    written.subarray(0, -1),
    Buffer.alloc(0),
    concat(mpi(r), mpi(concat(1, s))),
    concat(mpi(concat(1, r)), mpi(s)),
  ]
  for (const bytes of odd) expect(EDDSA_LEGACY.readSignature(bytes)).toBeNull()
})

test('an Ed25519 signature is 64 bytes, and no other length is read', () => {
  const numbers = concat(r, s)
  expect(ED25519.readSignature(numbers)).toEqual(numbers)
  expect(ED25519.writeSignature(numbers)).toEqual(numbers)
  for (const length of [0, 63, 65]) {
    expect(ED25519.readSignature(seeded('odd', length))).toBeNull()
  }
})
