import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { packetAt, TAG } from '../../../src/openpgp/format/packets.ts'
import { RecipientScan, ownIdsOf, type OwnIds } from '../../../src/openpgp/format/recipient-scan.ts'
import { concat, seeded, u16 } from '../../support/openpgp-bytes.ts'
import { longPacket, oldPacket, packet } from '../../support/openpgp-framing.ts'
import { bot } from '../../support/openpgp-people.ts'
import type { KeyHolder } from '../../../src/openpgp/key-holder.ts'

const KEY_ID = '11223344556677aa'
const FINGERPRINT = `00112233445566778899aabb${KEY_ID}`
const ANONYMOUS = '0000000000000000'
const own: OwnIds = {
  keyIds: new Set([KEY_ID]),
  fingerprints: new Set([FINGERPRINT]),
  attemptCost: 1,
}

/** Body of a version 3 packet, of so many bytes. */
const body3 = (keyId: string, bytes = 60): Buffer =>
  concat(3, keyId, 18, seeded(`for ${keyId}`, bytes - 10))
/** Body of a version 6 packet that names a key by version and fingerprint. */
const body6 = (version: number, fingerprint: string): Buffer =>
  concat(6, 1 + fingerprint.length / 2, version, fingerprint, 25, seeded('v6', 40))

/** Scans packets as `parseMessage` does: PKESK packets of others are skipped first. */
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

/** Adds each packet by itself. */
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
  ['of the own key', ours],
  ['of another key', stranger],
  ['with the first byte of the own key id', packet(1, body3('11aaaaaaaaaaaaaa'))],
  ['with the own key id but for its last byte', packet(1, body3('11223344556677ab'))],
  ['without a key id', packet(1, body3(ANONYMOUS))],
  ['with a key id that begins with zeros', packet(1, body3('0000000000000001'))],
  ['of ten bytes', packet(1, body3('aa22334455667788', 10))],
  ['of nine bytes', packet(1, body3('aa22334455667788').subarray(0, 9))],
  ['of no bytes', packet(1, Buffer.alloc(0))],
  ['of 191 bytes', packet(1, body3('aa22334455667788', 191))],
  ['of 192 bytes', packet(1, body3('aa22334455667788', 192))],
  // The second byte of its length is 3, like a version.
  ['of 195 bytes', packet(1, body3('aa22334455667788', 195))],
  ['of 8400 bytes', packet(1, body3('aa22334455667788', 8400))],
  ['with a five-byte length', longPacket(1, body3('aa22334455667788'))],
  ['in the old format', oldPacket(1, body3('aa22334455667788'), 1)],
  ['of the own key in the old format', oldPacket(1, body3(KEY_ID), 2)],
  ['of version 2', packet(1, concat(2, body3('aa22334455667788').subarray(1)))],
  ['of version 6', packet(1, body6(4, 'ab'.repeat(20)))],
  ['of version 6 for the own key', packet(1, body6(4, FINGERPRINT))],
  ['of version 6 for a key of version 6', packet(1, body6(6, 'cd'.repeat(32)))],
  ['of version 6 without a fingerprint', packet(1, concat(6, 0, 25, seeded('v6', 40)))],
  ['that is an SKESK packet', packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 255))],
  ['that is an SKESK packet with the body of an own PKESK packet', packet(3, body3(KEY_ID))],
])('`skipOthers` does not change the outcome of a scan with a packet %s', (_, one) => {
  for (const bytes of [one, concat(stranger, one, stranger), concat(ours, one, stranger)]) {
    const [scan, reference] = [scanned(bytes), added(bytes)]
    expect(scan.count).toBe(reference.count)
    expect(scan.candidates()).toEqual(reference.candidates())
  }
})

/** Key ids of packets beside an own one, and whether one of these names nobody. */
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
    'of version 3 without a wrapped key',
    packet(1, body3('aa22334455667788', 10)),
    'aa22334455667788',
    false,
  ],
  [
    'of version 3 without an algorithm',
    packet(1, body3('aa22334455667788').subarray(0, 9)),
    '',
    true,
  ],
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
  ['of type SKESK', packet(3, body3('aa22334455667788')), '', true],
])('a packet %s contributes the expected key id to a scan', (_, one, keyIds, hasUnnamed) => {
  expect(besideOurs(one)).toEqual({ keyIds, hasUnnamed })
})

test('a scan lists up to 200 key ids in order', () => {
  for (const count of [31, 32, 33, 64, 65, 200]) {
    const ids = Array.from(
      { length: count },
      (_, index) => `aa${seeded(`id ${index}`, 7).toString('hex')}`,
    )
    const packets = ids.map((id) => packet(1, body3(id)))
    expect(besideOurs(...packets).keyIds).toBe(ids.join(''))
  }
})

test('an SKESK packet never names the bot, even with the body of an own PKESK packet', () => {
  for (const body of [body3(KEY_ID), body3(ANONYMOUS), body6(4, FINGERPRINT)]) {
    expect(scanned(packet(3, body)).candidates()).toEqual({ outcome: 'not-recipient' })
  }
})

test('`skipOthers` stops at a truncated packet', () => {
  const cut = stranger.subarray(0, -1)
  const scan = new RecipientScan(own)
  expect(scan.skipOthers(concat(stranger, cut), 0)).toBe(stranger.length)
  expect(scan.count).toBe(1)
})

test('`skipOthers` stops at packets of the own key, anonymous ones, SKESK packets and containers', () => {
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

test('`skipOthers` fails one packet above `BOUNDS.recipientPackets`', () => {
  const small = packet(1, body3('aa22334455667788', 10))
  const flood = Buffer.alloc(small.length * (BOUNDS.recipientPackets + 9), small)
  const scan = new RecipientScan(own)
  scan.add(TAG.skesk, Buffer.alloc(0))
  expect(() => scan.skipOthers(flood, 0)).toThrow('recipients')
  expect(scan.count).toBe(BOUNDS.recipientPackets + 1)
  const within = flood.subarray(0, small.length * BOUNDS.recipientPackets)
  expect(new RecipientScan(own).skipOthers(within, 0)).toBe(within.length)
})

test('a version 6 PKESK packet names the bot by a complete fingerprint or key id with an algorithm alone', () => {
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

test('anonymous packets are candidates up to `BOUNDS.anonymousBytes`, times what an attempt costs', () => {
  const one = packet(1, body3(ANONYMOUS, 64))
  const most = BOUNDS.anonymousBytes / 64
  const many = (count: number): Buffer => concat(...Array.from({ length: count }, () => one))
  for (const attemptCost of [1, 2, 6, 40]) {
    const within = Math.floor(most / attemptCost)
    const found = scanned(many(within), { ...own, attemptCost }).candidates()
    expect(found).toMatchObject({ named: false })
    expect('recipientPackets' in found && found.recipientPackets.length).toBe(within)
    const beyond = scanned(many(within + 1), { ...own, attemptCost }).candidates()
    expect(beyond).toEqual({ outcome: 'not-recipient', reason: 'too-many-anonymous' })
  }
  expect(scanned(one, { ...own, attemptCost: 0 }).candidates()).toEqual({
    outcome: 'not-recipient',
  })
  expect(scanned(concat(many(most + 1), ours)).candidates()).toMatchObject({ named: true })
})

test('an attempt with a key that a holder has costs several', () => {
  const { unlocked } = bot
  const held = { ...unlocked, holder: {} as KeyHolder }
  expect(ownIdsOf([unlocked, unlocked]).attemptCost).toBe(2)
  expect(ownIdsOf([unlocked, held]).attemptCost).toBe(7)
})

test('a scan keeps at most `BOUNDS.namedAttempts` packets that name the bot, unchanged', () => {
  const many = Array.from({ length: BOUNDS.namedAttempts + 2 }, (_, index) =>
    packet(1, concat(3, KEY_ID, 18, u16(index))),
  )
  const found = scanned(concat(...many)).candidates()
  expect(found).toMatchObject({ recipientPackets: many.slice(0, BOUNDS.namedAttempts) })
})

test('scans with alternating sets of own key ids each match their own set', () => {
  const later: OwnIds = { ...own, keyIds: new Set(['ff00000000000000']) }
  const theirs = packet(1, body3('ff00000000000000'))
  for (let time = 0; time < 3; time++) {
    expect(scanned(theirs, later).candidates()).toMatchObject({ named: true })
    expect(scanned(theirs).candidates()).toEqual({ outcome: 'not-recipient' })
  }
})
