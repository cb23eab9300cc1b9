import { afterEach, expect, test, vi } from 'vitest'
import type { RecipientAlgorithm } from '../../../src/openpgp/crypto/algorithm.ts'
import { agree, freshPair, rawSecretKey } from '../../../src/openpgp/crypto/curve25519.ts'
import { ECDH } from '../../../src/openpgp/crypto/ecdh.ts'
import { EDDSA_LEGACY } from '../../../src/openpgp/crypto/ed25519.ts'
import { sealVersion1 } from '../../../src/openpgp/crypto/seipd.ts'
import {
  freshSessionKey,
  padSessionKey,
  unwrapKey,
} from '../../../src/openpgp/crypto/session-key.ts'
import { X25519 } from '../../../src/openpgp/crypto/x25519.ts'
import { readOwnSecrets } from '../../../src/openpgp/native/own-secrets.ts'
import { mpi, seeded } from '../../support/openpgp-bytes.ts'
import { bot } from '../../support/openpgp-people.ts'

afterEach(() => void vi.restoreAllMocks())

/** Copies of the bytes that `work` overwrote with zeros. */
function zeroedBy(work: () => unknown): Buffer[] {
  const zeroed: Buffer[] = []
  const { fill } = Buffer.prototype
  vi.spyOn(Buffer.prototype, 'fill').mockImplementation(function (
    this: Buffer,
    ...given: unknown[]
  ) {
    const [value, start = 0, end = this.length] = given as [number, number?, number?]
    if (value === 0) zeroed.push(Buffer.from(this.subarray(start, end)))
    return fill.call(this, value, start, end)
  })
  work()
  vi.restoreAllMocks()
  return zeroed
}

const hexes = (values: Buffer[]): string[] => values.map((value) => value.toString('hex'))
const seed = seeded('a secret', 32)
const hex = seed.toString('hex')

test.each(['x25519', 'ed25519'] as const)(
  '`rawSecretKey` imports an %s secret without a copy of it',
  (name) => {
    const concat = vi.spyOn(Buffer, 'concat')
    const copied = vi.spyOn(Buffer, 'from')
    const secret = rawSecretKey(seed, name)
    expect(secret.export({ format: 'raw-private' })).toEqual(seed)
    expect(concat).not.toHaveBeenCalled()
    expect(copied.mock.calls).toEqual([[seed.buffer, seed.byteOffset, seed.length]])
  },
)

test('`readOwnSecrets` zeroes its copies of secrets and checksums', () => {
  const zeroed = hexes(zeroedBy(() => readOwnSecrets(bot.secret)))
  for (const { body, secretBody } of [bot.primary, bot.subkey]) {
    expect(zeroed).toContain(secretBody.subarray(body.length + 1).toString('hex'))
  }
})

test('`readSecret` zeroes a secret MPI in both byte orders', () => {
  const reversed = Buffer.from(seed.toReversed()).toString('hex')
  const zeroed = hexes(zeroedBy(() => ECDH.readSecret(mpi(seed))))
  expect(zeroed).toEqual(expect.arrayContaining([hex, reversed]))
  expect(hexes(zeroedBy(() => EDDSA_LEGACY.readSecret(mpi(seed))))).toContain(hex)
})

test.each<[string, RecipientAlgorithm]>([
  ['ECDH', ECDH],
  ['X25519', X25519],
])(
  'wrapping and unwrapping a session key by %s zeroes the shared secret and the wrapping key',
  (_, algorithm) => {
    const [ours, ephemeral] = [freshPair(), freshPair()]
    const shared = agree(ours.secret, ephemeral.point).toString('hex')
    const recipient = {
      algorithm: algorithm.id,
      point: ours.point,
      fingerprint: seeded('fingerprint', 20),
    }
    const key = freshSessionKey('aes256')
    const target = Buffer.alloc(algorithm.wrappedBytes(key.cipher))
    const padded = padSessionKey(key)
    const wrapping = zeroedBy(() =>
      algorithm.wrap({ ...key, padded }, ephemeral, { recipient, target, at: 0 }),
    )
    const form = algorithm.readWrapped(target)
    if (form === null) throw new Error('not read')
    const agreed = agree(ours.secret, ephemeral.point)
    const opening = zeroedBy(() => algorithm.unwrap(form, recipient, agreed))
    for (const zeroed of [wrapping, opening]) {
      // as it was agreed, and once more in what the wrapping key is derived of
      expect(hexes(zeroed).filter((value) => value.includes(shared))).toHaveLength(2)
      const keys = zeroed.filter(({ length }) => length === 16)
      expect(keys.some((one) => unwrapKey(one, form.wrapped) !== null)).toBe(true)
    }
    expect(agreed.every((byte) => byte === 0)).toBe(true)
  },
)

test('`sealVersion1` zeroes its plaintext', () => {
  const words = Buffer.from('words that nobody may find')
  const zeroed = zeroedBy(() =>
    sealVersion1(words, { algorithm: 'aes256', data: seeded('key', 32) }),
  )
  expect(zeroed.some((value) => value.includes(words))).toBe(true)
})
