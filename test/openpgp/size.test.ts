import { createECDH } from 'node:crypto'
import { generateKey, type KeyOptions } from 'openpgp'
import { expect, test, beforeAll } from 'vitest'
import { armoredLength } from '../../src/openpgp/format/armor-writer.ts'
import { judge } from '../../src/openpgp/library/certificate.ts'
import type { CipherSizes } from '../../src/openpgp/engine.ts'
import { AS_MADE, MOST_NAMED, capacity, fit } from '../../src/openpgp/size.ts'
import { unlockedFrom } from '../../src/openpgp/library/secret-key.ts'
import { sealHere } from '../support/openpgp-engine.ts'
import { paperRsa, generated } from '../support/openpgp-generated.ts'
import { curve25519, ed25519, identify, seconds, ecdhBody, ecdsa } from '../support/openpgp-key.ts'
import { mpi, concat } from '../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice, bot } from '../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../support/openpgp-certificate.ts'
import type { Cipher } from '../../src/openpgp/format/ciphers.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { TAG, packetsOf } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import '../../src/openpgp/library/brainpool.ts'

const ARMORED_MAX = 131_072

type KeyKindOptions = Pick<KeyOptions, 'type' | 'curve' | 'rsaBits'>
type Kind = 'curve25519' | 'p256' | 'rsa2048'
const RSA = paperRsa(2048)

function subkeyBody(kind: Kind, index: number): Buffer {
  if (kind === 'rsa2048') return RSA
  if (kind === 'curve25519') return curve25519(`size ${index}`, MADE_MS).body
  const point = createECDH('prime256v1').generateKeys()
  return concat(4, seconds(MADE_MS), 18, '082a8648ce3d030107', mpi(point), '03010807')
}

/** So many certificates of a kind, all different. */
function certificates(kind: Kind, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const primary = ed25519(`${kind} ${index}`, MADE_MS)
    const subkey = identify(subkeyBody(kind, index), MADE_MS)
    return armoredCertificate(
      keyPacket(primary),
      userId(primary, 'x'),
      boundSubkey(primary, subkey),
    )
  })
}

const roomFor = (textBytes: number, maxChars: number, own = AS_MADE) => ({
  textBytes,
  maxChars,
  own,
  named: 0,
})

const sum = (sizes: CipherSizes[]): CipherSizes => ({
  aes256: sizes.reduce((total, { aes256 }) => total + aes256, 0),
  aes128: sizes.reduce((total, { aes128 }) => total + aes128, 0),
})

async function sizeOf(certificate: string): Promise<CipherSizes> {
  return (await judge(certificate, NOW_MS)).recipientBytes
}

async function sealedLength(group: string[], text: string, cipher: 'aes256' | 'aes128') {
  const request = { text, certificates: group, signer: bot.unlocked, cipher, isUnnamed: true }
  return (await sealHere(request, NOW_MS)).length
}

interface Room {
  kinds: Kind[]
  maxChars: number
  text: string
}

/** Adds recipients, one kind after the other, until they do not fit: gives the last group that did. */
async function fill({
  kinds,
  maxChars,
  text,
}: Room): Promise<{ group: string[]; sizes: CipherSizes[]; beyond: string }> {
  const pools = kinds.map((kind) => certificates(kind, maxChars / 105 / kinds.length))
  const each = await Promise.all(pools.map(([first = '']) => sizeOf(first)))
  const group: string[] = []
  const sizes: CipherSizes[] = []
  for (let index = 0; ; index++) {
    const which = index % kinds.length
    const next = pools[which]?.[Math.floor(index / kinds.length)] ?? ''
    const size = each[which] ?? { aes256: 0, aes128: 0 }
    const total = sum([...sizes, size])
    if (!fit(total, roomFor(Buffer.byteLength(text), maxChars)).fits)
      return { group, sizes, beyond: next }
    group.push(next)
    sizes.push(size)
  }
}

test.each<[Kind[], number]>([
  [['curve25519'], ARMORED_MAX],
  [['rsa2048'], 16_000],
  [['curve25519', 'p256', 'rsa2048'], 24_000],
])(
  'the largest group of %j that `fit` approves seals within %i characters, and one more exceeds it',
  async (kinds, maxChars) => {
    const text = 'grüße '.repeat(512)
    const { group, sizes, beyond } = await fill({ kinds, maxChars, text })
    const fitting = fit(sum(sizes), roomFor(Buffer.byteLength(text), maxChars))
    const cipher = fitting.fits ? fitting.cipher : 'aes256'
    expect(fitting.fits).toBe(true)
    expect(await sealedLength(group, text, cipher)).toBeLessThanOrEqual(maxChars)
    expect(await sealedLength([...group, beyond], text, 'aes128')).toBeGreaterThan(maxChars)
    if (kinds.length > 1) return
    const [size = { aes256: 0, aes128: 0 }] = sizes
    expect(capacity(size, Buffer.byteLength(text), maxChars)).toBe(group.length)
  },
)

/** Lengths at which headers of packets and of armor grow. */
const LENGTHS = [0, 1, 2, 185, 186, 187, 192, 8129, 8130, 8377, 8378, 65_000]

test.each(LENGTHS)(
  '`fit` estimates the length of a sealed text of %i bytes within 12 characters',
  async (length) => {
    const each = await sizeOf(alice.certificate)
    const foretold = fit(each, roomFor(length, 0))
    const chars = foretold.fits ? 0 : foretold.leastChars
    for (let round = 0; round < 4; round++) {
      const actual = await sealedLength([alice.certificate], 'x'.repeat(length), 'aes128')
      expect(actual).toBeLessThanOrEqual(chars)
      expect(actual).toBeGreaterThan(chars - 12)
    }
  },
)

test.each<[string, KeyKindOptions]>([
  ['Ed25519 and Curve25519 in the newer encodings', { type: 'curve25519' }],
  ['Ed448 and X448', { type: 'curve448' }],
  ['RSA 2048', { type: 'rsa', rsaBits: 2048 }],
  ['NIST P-256', { type: 'ecc', curve: 'nistP256' }],
  ['NIST P-521', { type: 'ecc', curve: 'nistP521' }],
])('`fit` includes the size of an own key of %s', async (_, kind) => {
  const { privateKey } = await generateKey({
    ...kind,
    userIDs: [{ name: 'own' }],
    date: new Date(MADE_MS),
    format: 'object',
  })
  const signer = unlockedFrom(privateKey)
  const each = await sizeOf(alice.certificate)
  const foretold = fit(each, roomFor(100, 0, signer.sizes))
  const chars = foretold.fits ? 0 : foretold.leastChars
  const request = { text: 'x'.repeat(100), certificates: [alice.certificate], signer }
  const { length } = await sealHere({ ...request, cipher: 'aes128', isUnnamed: true }, NOW_MS)
  expect(length).toBeLessThanOrEqual(chars)
  expect(length).toBeGreaterThan(chars - 12)
})

test('`fit` never underestimates the armor of up to four bytes less', () => {
  for (let size = 0; size < 300; size++) {
    const each = { aes256: size, aes128: size }
    const foretold = fit(each, roomFor(100, 0))
    const chars = foretold.fits ? 0 : foretold.leastChars
    for (let fewer = 0; fewer < 5; fewer++) {
      expect(armoredLength(size + 80 + 100 + 256 - fewer)).toBeLessThanOrEqual(chars)
    }
  }
})

test('`fit` chooses AES-256, then AES-128, then reports the least length', () => {
  const each = { aes256: 96_000, aes128: 80_000 }
  const most = (size: number): number =>
    Math.max(...[0, 1, 2].map((fewer) => armoredLength(size + 4096 + 257 - fewer)))
  const needed = most(each.aes256 + 96)
  expect(fit(each, roomFor(4096, needed))).toEqual({ fits: true, cipher: 'aes256', isNamed: false })
  expect(fit(each, roomFor(4096, needed - 1))).toEqual({
    fits: true,
    cipher: 'aes128',
    isNamed: false,
  })
  const least = most(each.aes128 + 80)
  expect(fit(each, roomFor(4096, least))).toEqual({ fits: true, cipher: 'aes128', isNamed: false })
  expect(fit(each, roomFor(4096, least - 1))).toEqual({ fits: false, leastChars: least })
})

test.each([1, 2, 59])(
  '`fit` estimates the names of %i recipients within their rounding',
  async (count) => {
    const group = certificates('curve25519', count)
    const each = sum(await Promise.all(group.map(sizeOf)))
    for (const length of [0, 1, 8000]) {
      const request = { text: 'x'.repeat(length), certificates: group, signer: bot.unlocked }
      const { length: chars } = await sealHere({ ...request, cipher: 'aes256' }, NOW_MS)
      const room = { textBytes: length, own: AS_MADE, named: count + 1 }
      const named = { fits: true, cipher: 'aes256', isNamed: true }
      expect(fit(each, { ...room, maxChars: chars + 11 + 2 * count })).toEqual(named)
      expect(fit(each, { ...room, maxChars: chars - 1 })).not.toEqual(named)
    }
  },
)

test('`fit` omits all names only where nothing else fits, or above `MOST_NAMED`', () => {
  const each = { aes256: 5600, aes128: 4700 }
  const room = { textBytes: 100, own: AS_MADE, named: 60 }
  const found = new Set<string>()
  for (let maxChars = 12_000; maxChars > 6000; maxChars -= 4) {
    found.add(JSON.stringify(fit(each, { ...room, maxChars })).replace(/\d{4}/, 'n'))
  }
  const fitting = (cipher: string, isNamed: boolean) =>
    JSON.stringify({ fits: true, cipher, isNamed })
  expect([...found]).toEqual([
    fitting('aes256', true),
    fitting('aes128', true),
    fitting('aes256', false),
    fitting('aes128', false),
    '{"fits":false,"leastChars":n}',
  ])
  const wide = { ...room, maxChars: 1_000_000 }
  expect(fit(each, { ...wide, named: MOST_NAMED })).toMatchObject({ isNamed: true })
  expect(fit(each, { ...wide, named: MOST_NAMED + 1 })).toMatchObject({ isNamed: false })
})

const { primary } = alice
const CIPHERS: Cipher[] = ['aes256', 'aes128']

/** Bytes of each recipient packet of a sealed message, in order. */
function packetSizes(armored: string): number[] {
  const bytes = dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0)
  return [...packetsOf(bytes)]
    .filter(({ tag }) => tag === TAG.pkesk)
    .map(({ tag, body }) => framePacket(tag, body).length)
}

async function packetSize(certificate: string, cipher: Cipher): Promise<number> {
  const request = { text: 'x', certificates: [certificate], signer: bot.unlocked, cipher }
  return packetSizes(await sealHere(request, NOW_MS))[0] ?? 0
}

const BRAINPOOL = [
  ['brainpoolP256r1', '092b2403030208010107', 'sha256'],
  ['brainpoolP384r1', '092b240303020801010b', 'sha384'],
  ['brainpoolP512r1', '092b240303020801010d', 'sha512'],
] as const
const kinds = new Map<string, string>()
beforeAll(async () => {
  kinds.set('curve25519Legacy', alice.certificate)
  for (const curve of ['nistP256', 'nistP384', 'nistP521'] as const) {
    kinds.set(curve, (await generated({ curve })).certificate)
  }
  for (const [curve, oid, hash] of BRAINPOOL) {
    const signer = ecdsa(curve, oid, MADE_MS)
    const subkey = identify(ecdhBody(curve, oid, MADE_MS), MADE_MS)
    const packets = [userId(signer, curve, { hash }), boundSubkey(signer, subkey, { hash })]
    kinds.set(curve, armoredCertificate(keyPacket(signer), ...packets))
  }
  kinds.set('x25519', (await generated({ type: 'curve25519' })).certificate)
  kinds.set('x448', (await generated({ type: 'curve448' })).certificate)
})

test.each([
  'curve25519Legacy',
  'nistP256',
  'nistP384',
  'nistP521',
  'brainpoolP256r1',
  'brainpoolP384r1',
  'brainpoolP512r1',
  'x25519',
  'x448',
])('`recipientBytes` equals the size of a PKESK packet for %s', async (kind) => {
  const certificate = kinds.get(kind) ?? ''
  const { recipientBytes, unusable } = await judge(certificate, NOW_MS)
  expect(unusable).toBeNull()
  for (const cipher of CIPHERS)
    expect(await packetSize(certificate, cipher)).toBe(recipientBytes[cipher])
})

test.each([2048, 3072, 4096])(
  '`recipientBytes` is the greatest size of a PKESK packet for RSA %i',
  async (bits) => {
    const certificate = armoredCertificate(
      keyPacket(primary),
      userId(primary, 'alice'),
      boundSubkey(primary, identify(paperRsa(bits), MADE_MS)),
    )
    const { recipientBytes } = await judge(certificate, NOW_MS)
    for (const cipher of CIPHERS) {
      const seen = [await packetSize(certificate, cipher), await packetSize(certificate, cipher)]
      expect(Math.max(...seen)).toBeLessThanOrEqual(recipientBytes[cipher])
      expect(Math.max(...seen)).toBeGreaterThanOrEqual(recipientBytes[cipher] - 2)
    }
  },
)
