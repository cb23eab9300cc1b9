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

/** A record that version 10 of the store wrote, and what it opened. */
const KEPT = {
  row: {
    id: 1,
    method: 'keychain',
    derivation: 'scrypt',
    n: 2,
    r: 8,
    p: 1,
    salt: '0da70ce27e01bce2962a783dadd4a0f584ba141af2a1b35c0e6a5983dab53f5c',
    proof:
      'a305d09f228528752f9da3542d50b174448f47fe918f337b1f51eff8bd0ec385e6632ebacaa09f88f5c55ba17345d50394d5f970',
    master:
      '4fa045ce4e128ddb82c4597687a3813c73c091da6f917ffdc4069433cd57ebdc30ff13446bc0e95efa898739021abf9c985e7ffcab8deff6e18574a5',
    digest: 'bd22fe7736c9c6aed0cdb61504e418e0c43f3d2c53c2d815e40b30342de71129',
  },
  opener: 'zwRHXf4gkM4jo_1YsDxCTd69aityYaBq1W3XYYwThRw',
  entry: 'store-0da70ce27e01bce2962a783dadd4a0f5',
  masterSecret: 'X3qvEqzcitKOPEtz4SXWWTTqmYYDoAGGeGM1v9p_Q7c',
  sealed: '951a02188dd471f77ef7b47cdb561852966d5dc1eb03546c0f36552455d9e4df5d48e736',
} as const
/** A record of a passphrase that version 17 of the store wrote. */
const DERIVED_BY_ARGON2 = {
  row: {
    id: 1,
    method: 'passphrase',
    derivation: 'argon2id',
    n: 65_536,
    r: 3,
    p: 1,
    salt: 'cf94746b05338e40362597bce660069b2a85c2359fc34fb3e2b64d6ffcc94f3d',
    proof:
      '5c13ef4a8a82f40e7db497268a69af75cab097b27a30b371312a36e6482ba444a5251ed8846b189776b57dbff25fae5348df97f1',
    master:
      '9f09d9ff5881a17bd42834d14c14b4897b2267ecc48b3323b2c1eb8549aa89557c536decbb91aa0794930f1269e9ba3197d2e3fb10f7ac885f615379',
    digest: '31411cdcdaad64566df6b67127ae2ef6686ab4915a82dd799e6ca05fa920c7df',
  },
  passphrase: 'words of a person',
  masterSecret: 'NV-yG1Kl6YnvHKwCXjJzSMwyPg9G2gMlkF0PvKnSoSA',
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
  const { method, derivation, n, r, p } = row
  const cost = derivation === 'scrypt' ? [n, r, p] : [n, r, p, derivation]
  const hash = createHash('sha256').update(JSON.stringify([method, ...cost]))
  hash.update(row.salt).update(row.proof)
  return { ...row, digest: hash.update(row.master ?? '').digest() }
}

const DAMAGED = {
  code: 'store-corrupt',
  message: expect.stringContaining('record of its protection'),
}

describe('the protection record of an earlier version', () => {
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
    for (const changed of [held.row.master, bytes(proof)]) {
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
