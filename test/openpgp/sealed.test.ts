import { expect, test } from 'vitest'
import { Sealed } from '../../src/openpgp/format/armor-writer.ts'

const DIGESTS = { dataDigest: 'data', statementDigest: 'statement' }
const ARMOR = '-----BEGIN PGP MESSAGE-----\n\nwcBM\n-----END PGP MESSAGE-----\n'

test('a `Sealed` of one armored text has that text and its JSON form', () => {
  const sealed = Sealed.of(ARMOR, DIGESTS)
  expect(sealed.armored).toBe(ARMOR)
  expect(JSON.parse(`"${Buffer.concat([...sealed.json]).toString()}"`)).toBe(ARMOR)
  expect(sealed).toMatchObject({ chars: ARMOR.length, ...DIGESTS })
})

test('a `Sealed` of several JSON pieces joins them as its armored text', () => {
  const pieces = ['-----BEGIN\\n', 'wcBM\\n', '-----END'].map((piece) => Buffer.from(piece))
  expect(new Sealed(pieces, 23, DIGESTS).armored).toBe('-----BEGIN\nwcBM\n-----END')
})

test('`Sealed.isReal` rejects copies, proxies and objects with its prototype', () => {
  const sealed = Sealed.of(ARMOR, DIGESTS)
  expect(Sealed.isReal(sealed)).toBe(true)
  const false_ = [
    { ...sealed },
    structuredClone(sealed),
    Object.create(Sealed.prototype),
    new Proxy(sealed, {}),
    ARMOR,
    null,
    undefined,
    () => sealed,
  ]
  for (const one of false_) expect(Sealed.isReal(one)).toBe(false)
})
