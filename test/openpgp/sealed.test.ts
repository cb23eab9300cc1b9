import { expect, test } from 'vitest'
import { Sealed } from '../../src/openpgp/format/armor-writer.ts'

const DIGESTS = { dataDigest: 'data', statementDigest: 'statement' }
const ARMOR = '-----BEGIN PGP MESSAGE-----\n\nwcBM\n-----END PGP MESSAGE-----\n'

test('a sealed message is its armor, as text and as it stands in JSON', () => {
  const sealed = Sealed.of(ARMOR, DIGESTS)
  expect(sealed.armored).toBe(ARMOR)
  expect(JSON.parse(`"${Buffer.concat([...sealed.json]).toString()}"`)).toBe(ARMOR)
  expect(sealed).toMatchObject({ chars: ARMOR.length, ...DIGESTS })
})

test('it may be in pieces', () => {
  const pieces = ['-----BEGIN\\n', 'wcBM\\n', '-----END'].map((piece) => Buffer.from(piece))
  expect(new Sealed(pieces, 23, DIGESTS).armored).toBe('-----BEGIN\nwcBM\n-----END')
})

test('only what sealing made is real', () => {
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
