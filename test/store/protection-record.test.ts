import { createHash } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { PASSPHRASE_COST } from '../../src/store/passphrase-cost.ts'
import {
  createProtection,
  entryOf,
  methodOf,
  openProtection,
  SecretSealer,
} from '../../src/store/protection.ts'
import type { ProtectionTable } from '../../src/store/schema.ts'
import { STRETCHER } from '../../src/store/stretcher.ts'

/** A record of 0.1.0, and what it opens. */
const KEPT = {
  row: {
    id: 1,
    method: 'keychain',
    derivation: 'scrypt',
    n: 2,
    r: 8,
    p: 1,
    salt: '9317e00b611a163520a9d4fad66365c940391d7e53c64a93e1b7ec8d7a0a083d',
    proof:
      'eff286d14b06bedd75e101f2461fdab1484c5e915abc0d5f0d0b354ae487744707c4be3178a79e9c527f5d1e85a937849e132de3',
    master:
      '04152888f17cc41a394da097c4a902e0621b71bd2af23172d3f767fb4fdff5aa1049d575a3402473d11f0a943ba376da6fd96fa08e2caaa4166c321e334531975e18e5d17ece76758a2973381f2409d4f09b822a32f79f99901424bd',
    digest: '11c6cba3422332084ac3b42997ed7b911d76fedd3977e7d244723ee74720053d',
  },
  opener: 'grsv2XwEgaexX4DPCny7j9uPQIdkqbqy1uWtOPtOvHM',
  entry: 'store-9317e00b611a163520a9d4fad66365c9',
  masterSecret: 'paYgGq4BQWP3IbYCadImqHgXSfyRI7ibSfzzwwGQO1M',
  sealed: '7cc89a1e85b8d18eb4259695270533baa3b8428adf449ee68f66e420d37d588c2c2a9f01',
} as const
/** A record of a passphrase. */
const DERIVED_BY_ARGON2 = {
  row: {
    id: 1,
    method: 'passphrase',
    derivation: 'argon2id',
    n: 65_536,
    r: 3,
    p: 1,
    salt: '101a2873c0f61a8368461a218624c75914fd08461ef2af79b475418e68befc3e',
    proof:
      'ccce15e7392f33938e48712e19cdb8224045760d04b49325db400fbd2c22342bfb874b55b47d20d733de5bbb57d4e6a696031784',
    master:
      '55b0e5d07203090a15731b75267779c31dd810bbec2d5e85ac211c669b1ace7d59d418de911168b684a85c008316d6ea7def89095fddf894516606706bcc1f22b569723103761d0f8695a597e82c45baf906339e8560bfc93dc888ca',
    digest: '841268a07d99c58e38258da73bd1dc702e72e34a39d50991f62ceda76ff54193',
  },
  passphrase: 'words of a person',
  masterSecret: '8c-r_NRxfTGOiRwDUazTJiCqZkT-pPP9Ck5DICQcg58',
} as const
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const { salt, proof, master, digest } = KEPT.row
const rowOf = (kept: typeof KEPT.row | typeof DERIVED_BY_ARGON2.row): ProtectionTable => ({
  ...kept,
  wrapped: null,
  salt: bytes(kept.salt),
  proof: bytes(kept.proof),
  master: bytes(kept.master),
  digest: bytes(kept.digest),
})
const ROW = rowOf(KEPT.row)

/** The record with other values, and the digest that whoever writes the file can compute. */
function forged(change: Partial<ProtectionTable>): ProtectionTable {
  const row = { ...ROW, ...change }
  const { method, derivation, n, r, p, wrapped } = row
  const more = [derivation === 'scrypt' ? null : derivation, wrapped].filter((one) => one !== null)
  const hash = createHash('sha256').update(JSON.stringify([method, n, r, p, ...more]))
  return { ...row, digest: hash.update(row.salt).update(row.proof).update(row.master).digest() }
}

const DAMAGED = {
  code: 'store-corrupt',
  message: expect.stringContaining('record of its protection'),
}

describe('the protection record of a store', () => {
  test('a protection record by scrypt opens to the same secrets', async () => {
    const held = await openProtection(KEPT.opener, ROW)
    expect(held).toMatchObject({
      method: 'keychain',
      masterSecret: KEPT.masterSecret,
      entry: KEPT.entry,
    })
    expect(held.sealer.open('replay', bytes(KEPT.sealed))?.toString()).toBe('a secret')
    expect(entryOf(ROW)).toBe(KEPT.entry)
  })

  test('a protection record by Argon2id opens to the same secrets, and not with other parameters', async () => {
    const row = rowOf(DERIVED_BY_ARGON2.row)
    const { passphrase, masterSecret } = DERIVED_BY_ARGON2
    expect(await openProtection(passphrase, row)).toMatchObject({
      method: 'passphrase',
      masterSecret,
    })
    const others = [{ derivation: 'scrypt' as const }, { n: 65_537 }, { r: 4 }, { p: 2 }]
    for (const other of others) {
      await expect(openProtection(passphrase, { ...row, ...other })).rejects.toMatchObject(DAMAGED)
    }
  })

  test('a wrong keychain secret is refused as `store-corrupt`', async () => {
    await expect(openProtection('another', ROW)).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringContaining('not the one that it was made with'),
    })
  })

  test.each<[string, Partial<ProtectionTable>]>([
    ['method', { method: 'none' }],
    ['derivation', { derivation: 'argon2id' }],
    ['n', { n: 4 }],
    ['r', { r: 9 }],
    ['p', { p: 2 }],
    ['salt', { salt: bytes(digest) }],
    ['proof', { proof: bytes(master) }],
    ['master', { master: bytes(proof) }],
    ['digest', { digest: bytes(salt) }],
  ])('a protection record with a changed %s is refused', async (_, change) => {
    await expect(openProtection(KEPT.opener, { ...ROW, ...change })).rejects.toMatchObject(DAMAGED)
  })

  test('a protection record with an unknown method is refused', () => {
    expect(() => methodOf(forged({ method: 'other' }))).toThrow(expect.objectContaining(DAMAGED))
  })

  test('a protection record with another master secret is refused, also with a matching digest', async () => {
    const held = await createProtection({ method: 'none' })
    const sealer = new SecretSealer(await STRETCHER.stretch(KEPT.opener, ROW))
    const withoutRowKey = sealer.seal('protection/master', Buffer.alloc(32))
    for (const changed of [held.row.master, bytes(proof), withoutRowKey]) {
      await expect(openProtection(KEPT.opener, forged({ master: changed }))).rejects.toMatchObject({
        code: 'store-corrupt',
        message: expect.stringContaining('sealed master secret was changed'),
      })
    }
  })
})

describe('the cost in a protection record', () => {
  const RANDOM = { n: 2, r: 8, p: 1 }
  /** The least and the most that each may ask for. */
  const BOUNDS = [
    ['keychain', 'scrypt', RANDOM, { n: 2 ** 20, r: 8, p: 1 }],
    ['none', 'scrypt', RANDOM, { n: 2 ** 20, r: 8, p: 1 }],
    ['passphrase', 'scrypt', PASSPHRASE_COST.scrypt, { n: 2 ** 20, r: 8, p: 1 }],
    ['passphrase', 'argon2id', PASSPHRASE_COST.argon2id, { n: 2 ** 20, r: 16, p: 4 }],
  ] as const

  describe.each(BOUNDS)('the cost of %s by %s', (method, derivation, least, most) => {
    const row = { method, derivation }
    const refuse = (cost: object): void =>
      expect(() => methodOf(forged({ ...row, ...cost }))).toThrow(expect.objectContaining(DAMAGED))

    test('the lowest and the highest cost are accepted', () => {
      for (const cost of [least, most]) expect(methodOf(forged({ ...row, ...cost }))).toBe(method)
    })

    test.each(['n', 'r', 'p'] as const)('a cost with %s out of bounds is refused', (name) => {
      // scrypt's n is a power of two
      const below = name === 'n' ? least.n / 2 : least[name] - 1
      const above = name === 'n' ? most.n * 2 : most[name] + 1
      for (const value of [below, 0, -1]) refuse({ ...most, [name]: value })
      for (const value of [above, 2 ** 32, 2 ** 53]) refuse({ ...least, [name]: value })
    })
  })

  test('a cost with a foreign derivation or salt length is refused', () => {
    const refused = [
      { method: 'passphrase', ...PASSPHRASE_COST.scrypt, n: 2 ** 18 + 2 ** 17 },
      { method: 'none', derivation: 'argon2id', n: 2 ** 16, r: 8, p: 1 },
      { method: 'passphrase', derivation: 'pbkdf2', n: 2 ** 17, r: 8, p: 1 },
      { method: 'passphrase', derivation: 'toString', n: 2 ** 17, r: 8, p: 1 },
      { salt: bytes(salt).subarray(1) },
      { salt: Buffer.alloc(33) },
    ]
    for (const change of refused) {
      const row = forged(change as Partial<ProtectionTable>)
      expect(() => methodOf(row)).toThrow(expect.objectContaining(DAMAGED))
    }
    expect(methodOf(forged({ method: 'passphrase', ...PASSPHRASE_COST.scrypt, n: 2 ** 18 }))).toBe(
      'passphrase',
    )
  })

  test('a cost that is too high is refused before any derivation', async () => {
    const stretcher = { stretch: vi.fn(), salt: () => bytes(salt) }
    const dear = forged({ method: 'passphrase', derivation: 'argon2id', n: 2 ** 21, r: 3, p: 1 })
    await expect(openProtection('words', dear, stretcher)).rejects.toMatchObject(DAMAGED)
    expect(stretcher.stretch).not.toHaveBeenCalled()
  })
})

test('`SecretSealer` binds a sealed secret to its name and key, with a new nonce each time', () => {
  const sealer = new SecretSealer(bytes(salt))
  const sealed = sealer.seal('name', Buffer.alloc(0))
  expect(sealed).toHaveLength(28)
  expect(sealer.open('name', sealed)).toEqual(Buffer.alloc(0))
  expect(sealer.open('name', sealed.subarray(1))).toBeNull()
  expect(sealer.open('', sealed)).toBeNull()
  expect(new SecretSealer(bytes(digest)).open('name', sealed)).toBeNull()
  // the same words are never sealed to the same bytes
  expect(sealer.seal('name', Buffer.alloc(0))).not.toEqual(sealed)
})
