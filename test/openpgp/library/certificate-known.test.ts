import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import { concat, u32 } from '../../support/openpgp-bytes.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  mallory,
  revokedCertificate,
  rsaKey,
} from '../../support/openpgp-people.ts'
import { TYPE, keyExpiresAfter, notation, signature } from '../../support/openpgp-signature.ts'
import {
  FLAG,
  armoredCertificate,
  bogusBindings,
  boundSubkey,
  directKey,
  keyOver,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyPacket,
  subkeyRevocation,
  userId,
  userIdRevocation,
  type SelfSignature,
} from '../../support/openpgp-certificate.ts'

const DAY_MS = 86_400_000
const { primary, subkey } = alice
const key = keyPacket(primary)
const certificateOf = (...parts: Buffer[]): string => armoredCertificate(key, ...parts)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
const yesterday = { atMs: NOW_MS - DAY_MS }
const stripped = alice.certificate
const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
const ended = { ...yesterday, hashed: [keyExpiresAfter((NOW_MS - MADE_MS) / 1000 - 3600)] }

test.each([
  ['revoked without a reason', { ...yesterday, code: 0 }],
  ['revoked as compromised', { ...yesterday, code: 2 }],
  ['revoked as retired', { ...yesterday, code: 3 }],
  ['revoked as compromised by a clock ahead of ours', { atMs: NOW_MS + DAY_MS, code: 2 }],
  ['revoked as retired by a clock ahead of ours', { atMs: NOW_MS + DAY_MS, code: 3 }],
])('a certificate known as %s stays revoked without the revocation (C6)', async (_, how) => {
  const known = certificateOf(keyRevocation(primary, how), id, binding)
  const first = await judge(known, NOW_MS)
  expect(first).toMatchObject({ unusable: 'revoked', revocations: true })
  const later = await judge(stripped, NOW_MS, known)
  expect(later).toMatchObject({ unusable: 'revoked', revocations: true })
  const again = await judge(stripped, NOW_MS, later.armored)
  expect(again).toMatchObject({ unusable: 'revoked', revocations: true })
  expect(await judge(later.armored, NOW_MS)).toMatchObject({ unusable: 'revoked' })
})

test('a certificate known as revoked over SHA-1 stays revoked without the revocation (C6)', async () => {
  const old = rsaKey(2048)
  const packets = [userId(old, 'old'), boundSubkey(old, subkey)]
  const revocation = keyRevocation(old, { ...yesterday, hash: 'sha1' })
  const known = armoredCertificate(keyPacket(old), revocation, ...packets)
  const without = armoredCertificate(keyPacket(old), ...packets)
  expect(await judge(without, NOW_MS)).toMatchObject({ unusable: null })
  expect(await judge(without, NOW_MS, known)).toMatchObject({ unusable: 'revoked' })
})

test('a forged revocation does not displace the known true one (C6)', async () => {
  const known = certificateOf(keyRevocation(primary, yesterday), id, binding)
  const bogus = keyRevocation(forged, yesterday)
  const replaced = certificateOf(bogus, id, binding)
  const later = await judge(replaced, NOW_MS, known)
  expect(later).toMatchObject({ unusable: 'revoked', revocations: true })
  expect(await judge(stripped, NOW_MS, later.armored)).toMatchObject({ unusable: 'revoked' })
})

test('a forged subkey revocation does not displace the known true one (C6)', async () => {
  const known = certificateOf(id, binding, subkeyRevocation(primary, subkey, yesterday))
  const bogus = subkeyRevocation(forged, subkey, { atMs: NOW_MS - 2 * DAY_MS })
  const replaced = certificateOf(id, binding, bogus)
  expect(await judge(replaced, NOW_MS, known)).toMatchObject({ unusable: 'revoked' })
})

test('the remembered copy of a certificate does not grow by forged or foreign packets (C6)', async () => {
  const known = certificateOf(keyRevocation(primary, yesterday), id, binding)
  let remembered = known
  const lengths = new Set<number>()
  for (let round = 0; round < 5; round++) {
    const bogus = keyRevocation(forged, { atMs: NOW_MS - round * 1000 })
    const foreign = subkeyPacket(curve25519(`foreign ${round}`, MADE_MS))
    const served = certificateOf(bogus, id, binding, foreign)
    remembered = (await judge(served, NOW_MS, remembered)).armored
    lengths.add(remembered.length)
  }
  expect(lengths.size).toBe(1)
})

test('a known copy of another certificate is ignored', async () => {
  const known = revokedCertificate(mallory, yesterday)
  expect(await judge(stripped, NOW_MS, known)).toEqual(await judge(stripped, NOW_MS))
})

test.each([
  '',
  'hello',
  alice.certificate.slice(0, 300),
  certificateOf(id, boundSubkey(primary, subkey, ended), keyPacket(mallory.primary)),
  armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }),
])('an unreadable known copy is ignored (case %#)', async (known) => {
  expect(await judge(stripped, NOW_MS, known)).toEqual(await judge(stripped, NOW_MS))
})

test('a known copy does not make an unusable certificate usable', async () => {
  expect(await judge('hello', NOW_MS, alice.certificate)).toMatchObject({ unusable: 'unparseable' })
  const expired = certificateOf(id, binding)
  expect(await judge(expired, MADE_MS - DAY_MS, alice.certificate)).toMatchObject({
    unusable: 'not-yet-valid',
  })
})

test('a forged revocation in the known copy is ignored', async () => {
  const known = certificateOf(keyRevocation(forged, yesterday), id, binding)
  expect(await judge(stripped, NOW_MS, known)).toMatchObject({ unusable: null, revocations: false })
})

/** How long after it was made the key ends, by statements of yesterday. */

test.each([
  ['the end of a user id', certificateOf(userId(primary, 'alice', ended), binding)],
  ['the end of a subkey', certificateOf(id, boundSubkey(primary, subkey, ended))],
  ['a later user id with an end', certificateOf(id, userId(primary, 'new', ended), binding)],
  [
    'a narrowed key flag',
    certificateOf(id, boundSubkey(primary, subkey, { ...yesterday, flags: FLAG.sign })),
  ],
])(
  'an older copy of a certificate without %s does not restore the former state',
  async (_, known) => {
    const first = await judge(known, NOW_MS)
    expect(first.unusable).not.toBeNull()
    expect(await judge(stripped, NOW_MS)).toMatchObject({ unusable: null })
    const later = await judge(stripped, NOW_MS, known)
    expect(later.unusable).toBe(first.unusable)
    expect((await judge(stripped, NOW_MS, later.armored)).isNews).toBeUndefined()
    expect(await judge(later.armored, NOW_MS)).toMatchObject({ unusable: first.unusable })
  },
)

test('a newer copy of a certificate replaces the known one, with its extensions and its omissions', async () => {
  const known = certificateOf(userId(primary, 'alice', ended), binding)
  const extended = userId(primary, 'alice', { atMs: NOW_MS - 1000 })
  const renewed = certificateOf(extended, binding)
  const later = await judge(renewed, NOW_MS, known)
  expect(later).toMatchObject({ unusable: null, isNews: true })
  expect(await judge(stripped, NOW_MS, later.armored)).toMatchObject({ unusable: null })

  const other = curve25519('alice left out', MADE_MS)
  const withOther = certificateOf(id, boundSubkey(primary, other), binding)
  const without = certificateOf(extended, binding)
  const { encryptionKeys, isNews } = await judge(without, NOW_MS, withOther)
  expect([encryptionKeys.length, isNews]).toEqual([1, true])
})

const forger = { ...mallory.primary, body: primary.body, fingerprint: primary.fingerprint }
const [newer, other] = [curve25519('alice new', MADE_MS + 1000), curve25519('alice other', MADE_MS)]
const newName = (...signatures: Buffer[]): Buffer =>
  concat(packet(13, Buffer.from('new')), ...signatures)
const selfSignature = (atMs: number, signer = primary): Buffer =>
  userId(signer, 'new', { atMs }).subarray(newName().length)
const stateOf = async (armored: string) => {
  const { unusable, encryptionKeys } = await judge(armored, NOW_MS)
  const bytes = dearmor(armored, 'PUBLIC KEY BLOCK') ?? []
  return [unusable, encryptionKeys[0], Buffer.from(bytes).includes('new'), bytes.length]
}

/** The packets of the earlier copy, and those that are merged into the later one. */
test.each<[string, Buffer[], Buffer[]]>([
  ['a direct statement', [directKey(primary, ended), id, binding], []],
  ['a revoked user id', [id, userIdRevocation(primary, 'alice', NOW_MS - DAY_MS), binding], []],
  ['a later subkey', [id, binding, boundSubkey(primary, newer, yesterday)], []],
  [
    'a later subkey, without forged bindings,',
    [id, binding, boundSubkey(primary, newer, yesterday), bogusBindings(primary, newer, 2)],
    [id, binding, boundSubkey(primary, newer, yesterday)],
  ],
  ['a later user id', [id, newName(selfSignature(NOW_MS - DAY_MS)), binding], []],
  [
    'a user id with one later self-signature',
    [id, newName(selfSignature(MADE_MS), selfSignature(NOW_MS - DAY_MS)), binding],
    [id, newName(selfSignature(NOW_MS - DAY_MS)), binding],
  ],
  [
    'a later user id, without forged self-signatures,',
    [id, newName(selfSignature(NOW_MS - DAY_MS), selfSignature(NOW_MS, forger)), binding],
    [id, newName(selfSignature(NOW_MS - DAY_MS)), binding],
  ],
])('%s of a known certificate is merged into a copy without it', async (_, packets, carried) => {
  const known = certificateOf(...packets)
  const later = await judge(stripped, NOW_MS, known)
  const all = carried.length === 0 ? packets : carried
  const expected = await stateOf(certificateOf(...all))
  expect(await stateOf(later.armored)).toEqual(expected)
  expect(expected).not.toEqual(await stateOf(stripped))
  expect([later.unusable, later.isNews]).toEqual([expected[0], undefined])
})

test.each([
  ['a subkey', [id, binding, boundSubkey(primary, other)]],
  ['a user id', [id, newName(selfSignature(MADE_MS)), binding]],
])('%s of a known certificate is not merged into a copy of the same age', async (_, packets) => {
  const { armored } = await judge(stripped, NOW_MS, certificateOf(...packets))
  expect(armored).toBe(stripped)
})

test('the expiry of one of two subkeys is merged into that subkey', async () => {
  const both = (options: SelfSignature): string =>
    certificateOf(id, binding, boundSubkey(primary, newer, options))
  const copy = both({ atMs: NOW_MS - 2 * DAY_MS })
  expect((await judge(copy, NOW_MS)).encryptionKeys[0]).toBe(newer.fingerprint)
  const later = await judge(copy, NOW_MS, both(ended))
  expect(later.encryptionKeys[0]).toBe(subkey.fingerprint)
})

test.each([undefined, 'hello'])(
  'the status of a certificate has no `isNews` when the known copy is %s',
  async (known) => {
    expect(await judge(stripped, NOW_MS, known)).not.toHaveProperty('isNews')
  },
)

test('forged statements in the known copy are ignored', async () => {
  const known = certificateOf(userId(forger, 'alice', ended), binding)
  const later = await judge(stripped, NOW_MS, known)
  expect(later).toEqual({ ...(await judge(stripped, NOW_MS)), isNews: true })
})

test('a revoked subkey that is left out of a later copy stays revoked for an older one', async () => {
  const gone = concat(
    boundSubkey(primary, newer),
    subkeyRevocation(primary, newer, { ...yesterday, code: 2 }),
  )
  const without = certificateOf(userId(primary, 'alice', { atMs: NOW_MS - 1000 }), binding)
  const known = await judge(without, NOW_MS, certificateOf(id, binding, gone))
  const older = certificateOf(id, binding, boundSubkey(primary, newer))
  expect((await judge(older, NOW_MS)).encryptionKeys[0]).toBe(newer.fingerprint)
  const later = await judge(older, NOW_MS, known.armored)
  expect([later.unusable, later.encryptionKeys[0]]).toEqual([null, subkey.fingerprint])
})

test.each([
  ['retired, then compromised', [3, 2]],
  ['compromised, then retired', [2, 3]],
])('a signing subkey that was %s is compromised after a merge', async (_, codes) => {
  const signing = ed25519('alice signing', MADE_MS)
  const [first = 0, second = 0] = codes
  const part = (code: number, atMs: number): string =>
    certificateOf(
      id,
      binding,
      signingSubkey(primary, signing),
      subkeyRevocation(primary, signing, { atMs, code }),
    )
  const published = part(second, NOW_MS - 1000)
  const { armored } = await judge(published, NOW_MS, part(first, NOW_MS - DAY_MS))
  const document = Buffer.from('words')
  const made = signature({ signer: signing, over: document, atMs: MADE_MS + 1000 })
  const signed = { document, signatures: [made] }
  expect(await verify(signed, armored, NOW_MS)).toEqual(['key-revoked'])
})

test('a certificate that is too long once merged leaves out what others certify', async () => {
  const name = Buffer.from('alice')
  const others = Array.from({ length: 225 }, (_, at) =>
    signature({
      signer: mallory.primary,
      over: concat(keyOver(primary), 0xb4, u32(name.length), name),
      type: TYPE.certification,
      atMs: NOW_MS + at * 1000,
      hashed: [notation('about@example.org', 'x'.repeat(60))],
    }),
  )
  const published = certificateOf(id, ...others, binding)
  const later = { atMs: NOW_MS - 1000 }
  const names = Array.from({ length: 60 }, (_, at) => userId(primary, `alice ${at}`, later))
  const merged = await judge(published, NOW_MS, certificateOf(id, ...names, binding))
  const isShort = merged.armored.length < BOUNDS.certificateChars / 2
  expect([merged.unusable, isShort]).toEqual([null, true])
  // a copy that was kept beyond the bounds is remembered all the same
  const long = certificateOf(keyRevocation(primary, yesterday), id, ...others, ...others, binding)
  expect(await judge(stripped, NOW_MS, long)).toMatchObject({ unusable: 'revoked' })
})
