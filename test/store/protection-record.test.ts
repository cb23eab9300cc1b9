import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PASSPHRASE_COST } from '../../src/store/passphrase-cost.ts'
import {
  createProtection,
  entryOf,
  isSameProtection,
  methodOf,
  openProtection,
  SecretSealer,
  unprotectedSecret,
} from '../../src/store/protection.ts'
import type { ProtectionTable } from '../../src/store/schema.ts'

/** A record that version 10 of the store wrote, and what it opened. */
const KEPT = {
  row: {
    id: 1,
    method: 'keychain',
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
}
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const { salt, proof, master, digest } = KEPT.row
const ROW: ProtectionTable = {
  ...KEPT.row,
  salt: bytes(salt),
  proof: bytes(proof),
  master: bytes(master),
  digest: bytes(digest),
}

/** The record with other values, and the digest that whoever writes the file can compute. */
function forged(change: Partial<ProtectionTable>): ProtectionTable {
  const row = { ...ROW, ...change }
  const { method, n, r, p } = row
  const hash = createHash('sha256').update(JSON.stringify([method, n, r, p]))
  hash.update(row.salt).update(row.proof)
  return { ...row, digest: hash.update(row.master ?? '').digest() }
}

const DAMAGED = {
  code: 'store-corrupt',
  message: expect.stringContaining('record of its protection'),
}

describe('a record that an earlier start wrote', () => {
  test('opens to the same secrets', async () => {
    const held = await openProtection(KEPT.opener, ROW)
    expect(held).toMatchObject({
      method: 'keychain',
      masterSecret: KEPT.masterSecret,
      entry: KEPT.entry,
    })
    expect(held.sealer.open('replay', bytes(KEPT.sealed))?.toString()).toBe('a secret')
    expect(entryOf(ROW)).toBe(KEPT.entry)
  })

  test('is damage, and no wrong passphrase, where a kept secret is another one', async () => {
    await expect(openProtection('another', ROW)).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringContaining('not the one that it was made with'),
    })
  })

  test.each<[string, Partial<ProtectionTable>]>([
    ['method', { method: 'none' }],
    ['n', { n: 4 }],
    ['r', { r: 9 }],
    ['p', { p: 2 }],
    ['salt', { salt: bytes(digest) }],
    ['proof', { proof: bytes(master) }],
    ['master', { master: bytes(proof) }],
    ['digest', { digest: bytes(salt) }],
  ])('is refused when its %s was changed', async (_, change) => {
    await expect(openProtection(KEPT.opener, { ...ROW, ...change })).rejects.toMatchObject(DAMAGED)
  })

  test('is refused when its method is none that we know', () => {
    expect(() => methodOf(forged({ method: 'other' }))).toThrow(expect.objectContaining(DAMAGED))
  })

  test('is refused when its master secret was exchanged, whatever its digest', async () => {
    const held = await createProtection({ method: 'none' })
    for (const changed of [held.row.master, bytes(proof)]) {
      await expect(openProtection(KEPT.opener, forged({ master: changed }))).rejects.toMatchObject({
        code: 'store-corrupt',
        message: expect.stringContaining('sealed master secret was changed'),
      })
    }
  })

  test('may ask for a GiB of memory, and for no more', () => {
    const most = { n: 2 ** 20, r: 8, p: 1 }
    expect(methodOf(forged(most))).toBe('keychain')
    for (const more of [
      { ...most, n: 2 ** 20 + 1 },
      { ...most, r: 9 },
      { ...most, p: 2 },
    ]) {
      expect(() => methodOf(forged(more))).toThrow(expect.objectContaining(DAMAGED))
    }
  })

  test('of a passphrase must cost in each way what we make it cost; one of a random secret not', () => {
    const cost = { ...PASSPHRASE_COST }
    const cheaper = (['n', 'r', 'p'] as const).map((name) => ({ ...cost, [name]: cost[name] - 1 }))
    expect(methodOf(forged({ method: 'passphrase', ...cost }))).toBe('passphrase')
    expect(methodOf(forged({ method: 'passphrase', ...cost, p: cost.p + 1 }))).toBe('passphrase')
    for (const cheap of cheaper) {
      const passphrase = forged({ method: 'passphrase', ...cheap })
      expect(() => methodOf(passphrase)).toThrow(expect.objectContaining(DAMAGED))
      expect(methodOf(forged({ method: 'none', ...cheap }))).toBe('none')
    }
  })
})

test('what is sealed says its name, and even nothing can be sealed', () => {
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

test('a store under the keychain names its entry by its salt, and others have none', async () => {
  for (const wanted of [
    { method: 'none' },
    { method: 'passphrase', passphrase: 'words' },
  ] as const) {
    expect((await createProtection(wanted)).held.entry).toBeNull()
  }
  const { row, held } = await createProtection({ method: 'keychain' })
  expect(held.entry).toBe(`store-${Buffer.from(row.salt).toString('hex').slice(0, 32)}`)
})

test('what opens a store without protection stands in it, and of others it does not', async () => {
  const bare = await createProtection({ method: 'none' })
  expect(bare.opener).toBe(unprotectedSecret(bare.row))
  const { row, opener } = await createProtection({ method: 'keychain' })
  expect(opener).not.toBe(unprotectedSecret(row))
  expect(opener).toMatch(/^[\w-]{43}$/)
  const again = await createProtection({ method: 'keychain' })
  expect([opener, Buffer.from(row.salt)]).not.toContainEqual(again.opener)
  expect(row.salt).toHaveLength(32)
})

test('two records are the same protection when they say the same', async () => {
  const other = (await createProtection({ method: 'none' })).row
  expect(isSameProtection(ROW, { ...ROW })).toBe(true)
  expect(isSameProtection(null, null)).toBe(true)
  for (const [a, b] of [
    [ROW, other],
    [ROW, null],
    [null, ROW],
  ] as const) {
    expect(isSameProtection(a, b)).toBe(false)
  }
})
