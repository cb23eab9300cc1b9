import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { packetAt, TAG } from '../../../src/openpgp/format/packets.ts'
import { RecipientScan, type OwnIds } from '../../../src/openpgp/format/recipient-scan.ts'
import { concat, seeded, u16 } from '../../support/openpgp-bytes.ts'
import { longPacket, oldPacket, packet } from '../../support/openpgp-framing.ts'

const KEY_ID = '11223344556677aa'
const FINGERPRINT = `00112233445566778899aabb${KEY_ID}`
const ANONYMOUS = '0000000000000000'
const own: OwnIds = {
  keyIds: new Set([KEY_ID]),
  fingerprints: new Set([FINGERPRINT]),
  keyCount: 1,
}

/** Body of a version 3 packet, of so many bytes. */
const body3 = (keyId: string, bytes = 60): Buffer =>
  concat(3, keyId, 18, seeded(`for ${keyId}`, bytes - 10))
/** Body of a version 6 packet that names a key by version and fingerprint. */
const body6 = (version: number, fingerprint: string): Buffer =>
  concat(6, 1 + fingerprint.length / 2, version, fingerprint, 25, seeded('v6', 40))

/** Takes the packets as a message does: others are passed over first. */
function scanned(bytes: Buffer, ids = own): RecipientScan {
  const scan = new RecipientScan(ids)
  for (let at = 0; at < bytes.length;) {
    at = scan.skipOthers(bytes, at)
    if (at === bytes.length) break
    const { tag, body, next } = packetAt(bytes, at)
    scan.add(tag, body)
    at = next
  }
  return scan
}

/** Takes each by itself. */
function added(bytes: Buffer): RecipientScan {
  const scan = new RecipientScan(own)
  for (let at = 0; at < bytes.length;) {
    const { tag, body, next } = packetAt(bytes, at)
    scan.add(tag, body)
    at = next
  }
  return scan
}

const ours = packet(1, body3(KEY_ID))
const stranger = packet(1, body3('aa22334455667788'))

test.each<[string, Buffer]>([
  ['ours', ours],
  ['one of somebody else', stranger],
  ['one whose key id begins as ours does', packet(1, body3('11aaaaaaaaaaaaaa'))],
  ['one whose key id differs from ours at its end', packet(1, body3('11223344556677ab'))],
  ['an anonymous one', packet(1, body3(ANONYMOUS))],
  ['one whose key id begins with zeros', packet(1, body3('0000000000000001'))],
  ['one of ten bytes', packet(1, body3('aa22334455667788', 10))],
  ['one of nine bytes', packet(1, body3('aa22334455667788').subarray(0, 9))],
  ['an empty one', packet(1, Buffer.alloc(0))],
  ['one of 191 bytes', packet(1, body3('aa22334455667788', 191))],
  ['one of 192 bytes', packet(1, body3('aa22334455667788', 192))],
  // The second byte of its length is 3, as a version is.
  ['one of 195 bytes', packet(1, body3('aa22334455667788', 195))],
  ['one of 8400 bytes', packet(1, body3('aa22334455667788', 8400))],
  ['one with a long length', longPacket(1, body3('aa22334455667788'))],
  ['one in the old format', oldPacket(1, body3('aa22334455667788'), 1)],
  ['ours in the old format', oldPacket(1, body3(KEY_ID), 2)],
  ['one of version 2', packet(1, concat(2, body3('aa22334455667788').subarray(1)))],
  ['one of version 6', packet(1, body6(4, 'ab'.repeat(20)))],
  ['ours of version 6', packet(1, body6(4, FINGERPRINT))],
  ['one of version 6 whose key is of version 6', packet(1, body6(6, 'cd'.repeat(32)))],
  ['an anonymous one of version 6', packet(1, concat(6, 0, 25, seeded('v6', 40)))],
  ['one for a passphrase', packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 255))],
  ['one of version 3 that begins as ours for a passphrase', packet(3, body3(KEY_ID))],
])('passed over or not, a recipient packet says the same among others: %s', (_, one) => {
  for (const bytes of [one, concat(stranger, one, stranger), concat(ours, one, stranger)]) {
    const [scan, reference] = [scanned(bytes), added(bytes)]
    expect(scan.count).toBe(reference.count)
    expect(scan.candidates()).toEqual(reference.candidates())
  }
})

/** What is known of packets beside ours. */
function besideOurs(...packets: Buffer[]): { keyIds: string; hasUnnamed: boolean } {
  const found = scanned(concat(...packets, ours)).candidates()
  if ('outcome' in found) throw new Error(found.outcome)
  const { keyIds, hasUnnamed } = found.recipients
  const others = Buffer.from(keyIds).toString('hex').slice(0, -16)
  return { keyIds: others, hasUnnamed }
}

test.each<[string, Buffer, string, boolean]>([
  ['of version 3', stranger, 'aa22334455667788', false],
  ['of version 3 that is anonymous', packet(1, body3(ANONYMOUS)), '', true],
  [
    'of version 3 that ends behind its algorithm',
    packet(1, body3('aa22334455667788', 10)),
    'aa22334455667788',
    false,
  ],
  ['of version 3 that ends before', packet(1, body3('aa22334455667788').subarray(0, 9)), '', true],
  ['of version 2', packet(1, concat(2, body3('aa22334455667788').subarray(1))), '', true],
  [
    'of version 6, key of version 4',
    packet(1, body6(4, `${'ab'.repeat(12)}0102030405060708`)),
    '0102030405060708',
    false,
  ],
  [
    'of version 6, key of version 6',
    packet(1, body6(6, `0102030405060708${'cd'.repeat(24)}`)),
    '0102030405060708',
    false,
  ],
  ['of version 6 that is anonymous', packet(1, concat(6, 0, 25, seeded('v6', 40))), '', true],
  [
    'of version 6 with eight bytes',
    packet(1, concat(6, 8, 4, '01020304050607', seeded('v6', 40))),
    '',
    true,
  ],
  [
    'of version 6 with nine bytes',
    packet(1, concat(6, 9, 4, '0102030405060708', seeded('v6', 40))),
    '0102030405060708',
    false,
  ],
  ['of version 6 without an algorithm', packet(1, concat(6, 9, 4, '0102030405060708')), '', true],
  [
    'of version 6 with an algorithm alone',
    packet(1, concat(6, 9, 4, '0102030405060708', 25)),
    '0102030405060708',
    false,
  ],
  ['for a passphrase', packet(3, body3('aa22334455667788')), '', true],
])('whom a packet names: %s', (_, one, keyIds, hasUnnamed) => {
  expect(besideOurs(one)).toEqual({ keyIds, hasUnnamed })
})

test('key ids are told in order, however many there are', () => {
  for (const count of [31, 32, 33, 64, 65, 200]) {
    const ids = Array.from(
      { length: count },
      (_, index) => `aa${seeded(`id ${index}`, 7).toString('hex')}`,
    )
    const packets = ids.map((id) => packet(1, body3(id)))
    expect(besideOurs(...packets).keyIds).toBe(ids.join(''))
  }
})

test('a packet for a passphrase is nobody’s, whatever stands in it', () => {
  for (const body of [body3(KEY_ID), body3(ANONYMOUS), body6(4, FINGERPRINT)]) {
    expect(scanned(packet(3, body)).candidates()).toEqual({ outcome: 'not-recipient' })
  }
})

test('a packet that is cut short is not passed over', () => {
  const cut = stranger.subarray(0, -1)
  const scan = new RecipientScan(own)
  expect(scan.skipOthers(concat(stranger, cut), 0)).toBe(stranger.length)
  expect(scan.count).toBe(1)
})

test('others are passed over without a look at each, ours and what is no recipient packet are not', () => {
  const after = (one: Buffer): number => {
    const scan = new RecipientScan(own)
    return scan.skipOthers(concat(stranger, stranger, one), 0)
  }
  const two = 2 * stranger.length
  const nearly = packet(1, body3('11aaaaaaaaaaaaaa'))
  expect(after(stranger)).toBe(3 * stranger.length)
  expect(after(nearly)).toBe(two + nearly.length)
  expect(after(ours)).toBe(two)
  expect(after(packet(1, body3(ANONYMOUS)))).toBe(two)
  expect(after(packet(18, body3('aa22334455667788')))).toBe(two)
  expect(after(packet(TAG.skesk, body3('aa22334455667788')))).toBe(two)
})

test('one packet more than the bound is passed over, and no more than that', () => {
  const small = packet(1, body3('aa22334455667788', 10))
  const flood = Buffer.alloc(small.length * (BOUNDS.recipientPackets + 9), small)
  const scan = new RecipientScan(own)
  scan.add(TAG.skesk, Buffer.alloc(0))
  expect(scan.skipOthers(flood, 0)).toBe(small.length * BOUNDS.recipientPackets)
  expect(scan.count).toBe(BOUNDS.recipientPackets + 1)
  expect(scan.hasTooMany).toBe(true)
  const within = new RecipientScan(own)
  within.skipOthers(flood.subarray(0, small.length * BOUNDS.recipientPackets), 0)
  expect(within.hasTooMany).toBe(false)
})

test('a version 6 packet is ours by its whole fingerprint alone, and only where nothing is cut', () => {
  const named = (one: Buffer): boolean => {
    const found = scanned(packet(1, one)).candidates()
    return 'named' in found && found.named
  }
  expect(named(body6(4, FINGERPRINT))).toBe(true)
  expect(named(body6(4, KEY_ID))).toBe(true)
  expect(named(body6(4, `${'ab'.repeat(12)}${KEY_ID}`))).toBe(false)
  expect(named(concat(6, 21, 4, FINGERPRINT))).toBe(false)
  expect(named(concat(6, 21, 4, FINGERPRINT, 25))).toBe(true)
})

test('anonymous packets are tried with as many keys as the bound allows, and one at least', () => {
  const anonymous = concat(...Array.from({ length: 4 }, () => packet(1, body3(ANONYMOUS))))
  for (const [keyCount, tries] of [
    [1, 4],
    [8, 4],
    [9, 3],
    [16, 2],
    [17, 1],
    [33, 1],
  ] as const) {
    const found = scanned(anonymous, { ...own, keyCount }).candidates()
    expect(found).toMatchObject({ named: false })
    expect('recipientPackets' in found && found.recipientPackets.length).toBe(tries)
  }
  expect(scanned(anonymous, { ...own, keyCount: 0 }).candidates()).toEqual({
    outcome: 'not-recipient',
  })
  const more = concat(anonymous, packet(1, body3(ANONYMOUS)))
  expect(scanned(more).candidates()).toEqual({
    outcome: 'not-recipient',
    reason: 'too-many-anonymous',
  })
  expect(scanned(concat(more, ours)).candidates()).toMatchObject({ named: true })
})

test('packets that name us are kept up to the bound, as they stand', () => {
  const many = Array.from({ length: BOUNDS.namedAttempts + 2 }, (_, index) =>
    packet(1, concat(3, KEY_ID, 18, u16(index))),
  )
  const found = scanned(concat(...many)).candidates()
  expect(found).toMatchObject({ recipientPackets: many.slice(0, BOUNDS.namedAttempts) })
})

test('a set of our key ids is looked at once, also where it is used for many messages', () => {
  const later: OwnIds = { ...own, keyIds: new Set(['ff00000000000000']) }
  const theirs = packet(1, body3('ff00000000000000'))
  for (let time = 0; time < 3; time++) {
    expect(scanned(theirs, later).candidates()).toMatchObject({ named: true })
    expect(scanned(theirs).candidates()).toEqual({ outcome: 'not-recipient' })
  }
})
