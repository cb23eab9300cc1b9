import '../../support/openpgp-engine.ts'
import { expect, test } from 'vitest'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import {
  readCommonCertificate,
  readCommonPackets,
} from '../../../src/openpgp/native/common-certificate.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
  plainCertificate,
  FLAG,
} from '../../support/openpgp-certificate.ts'
import { curve25519, ed25519, identify, type PacketKey } from '../../support/openpgp-key.ts'
import { seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { concat, u16, u32 } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice, mallory, rsaKey } from '../../support/openpgp-people.ts'
import {
  keyExpiresAfter,
  TYPE,
  issuer,
  issuerFingerprint,
  keyFlags,
  notation,
  preferredCiphers,
  signature,
  subpacket,
  type SignatureOptions,
} from '../../support/openpgp-signature.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { flipByte } from '../../support/openpgp-flips.ts'
import { packetAt } from '../../../src/openpgp/format/packets.ts'
import { packRecord } from '../../../src/openpgp/native/certificate-record.ts'
import { SHAPES } from '../../peers/all.ts'
import { armored } from '../../peers/ours.ts'
import { READ_MS } from '../../peers/shape.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

const packed = (info: CertificateInfo): string => Buffer.from(packRecord(info)).toString('hex')

/** Reads a certificate natively and expects the result of the library; null where it is left to that. */
async function readAlike(certificate: string, nowMs = NOW_MS): Promise<CertificateInfo | null> {
  const info = readCommonCertificate(certificate, nowMs)
  if (info === null) return null
  const judged = await judgeFully(certificate, nowMs)
  expect(judged.status).toMatchObject({ unusable: null, revocations: false })
  expect(judged.info && packed(judged.info)).toBe(packed(info))
  return info
}

const aliceId = userId(alice.primary, 'alice')
const aliceBinding = boundSubkey(alice.primary, alice.subkey)

test('a certificate of the common shape is read natively with the result of openpgp.js', async () => {
  expect(await readAlike(alice.certificate)).toMatchObject({
    fingerprint: Buffer.from(alice.primary.fingerprint, 'hex'),
    recipientKey: { algorithm: 18, createdS: MADE_MS / 1000 },
    signingKey: { algorithm: 22 },
    primarySigns: true,
    hasNoOtherKey: true,
    readsAes256: true,
    fromS: MADE_MS / 1000,
    untilS: 0xffff_ffff,
  })
})

test('a version 4 certificate of Ed25519 and X25519 is read natively with the result of openpgp.js', async () => {
  const signs = ed25519Native('new', MADE_MS)
  const encrypts = x25519Native('new', MADE_MS)
  const certificate = plainCertificate(signs, encrypts, 'new')
  expect(await readAlike(certificate)).toMatchObject({
    recipientKey: { algorithm: 25 },
    signingKey: { algorithm: 27 },
  })
})

test('a natively read certificate expires in the same second as for openpgp.js', async () => {
  const day = { hashed: [keyExpiresAfter(86_400)] }
  const certificate = armoredCertificate(
    keyPacket(alice.primary),
    userId(alice.primary, 'alice', day),
    aliceBinding,
  )
  const endMs = MADE_MS + 86_400_000
  expect(await readAlike(certificate, endMs - 1)).toMatchObject({ untilS: endMs / 1000 })
  expect(await readAlike(certificate, endMs)).toBeNull()
  expect((await judgeFully(certificate, endMs)).status.unusable).toBe('expired')
})

test('a natively read certificate whose primary key may not sign has no signing key', async () => {
  const certifyOnly = userId(alice.primary, 'alice', { flags: FLAG.certify })
  const certificate = armoredCertificate(keyPacket(alice.primary), certifyOnly, aliceBinding)
  expect(await readAlike(certificate)).toMatchObject({ signingKey: null, primarySigns: false })
})

const spoilt = (certificate: Buffer): string => {
  const broken = flipByte(certificate, -3)
  return armor(broken, { type: 'PUBLIC KEY BLOCK' })
}
const whole = concat(keyPacket(alice.primary), aliceId, aliceBinding)

test.each([
  ['with a changed binding', spoilt(whole)],
  [
    'that is dated ahead',
    armoredCertificate(
      keyPacket(alice.primary),
      userId(alice.primary, 'alice', { atMs: NOW_MS + 60_000 }),
      aliceBinding,
    ),
  ],
  ['that is a message', alice.certificate.replaceAll('PUBLIC KEY BLOCK', 'MESSAGE')],
  ['that is plain text', 'hello'],
])('a certificate %s is left to openpgp.js', (_, certificate) => {
  expect(readCommonCertificate(certificate, NOW_MS)).toBeNull()
})

test('each shape of a certificate that is read natively has the result of openpgp.js', async () => {
  const shapes = [...SHAPES.values()].filter(({ group }) => group === 'certificate')
  const read = []
  for (const shape of shapes) {
    read.push(await readAlike(armored(shape.certificate, 'PUBLIC KEY BLOCK'), READ_MS))
  }
  expect(read.filter((info) => info !== null).length).toBeGreaterThan(30)
})

test('a mutated certificate that is read natively has the result of openpgp.js', async () => {
  for (const seed of seeds(800)) {
    const certificate = armor(mutate(whole, randomFrom(seed)), { type: 'PUBLIC KEY BLOCK' })
    const info = await readAlike(certificate).catch((error: unknown) => {
      throw new Error(`FUZZ_SEED=${seed}`, { cause: error })
    })
    if (info !== null)
      expect(info.fingerprint, `FUZZ_SEED=${seed}`).toEqual(
        Buffer.from(alice.primary.fingerprint, 'hex'),
      )
  }
})

const MADE_S = MADE_MS / 1000
const DAY_S = 86_400
const primary = ed25519('terms', MADE_MS)
const subkey = curve25519('terms', MADE_MS)
const rsa = rsaKey(2048)

type Signing = Partial<SignatureOptions>

interface Made {
  id?: Buffer
  certification?: Signing
  binding?: Signing
  key?: PacketKey
  subkey?: PacketKey
  /** Packets behind the usual five. */
  more?: Buffer
}

const over = ({ body }: PacketKey): Buffer => concat(0x99, u16(body.length), body)

/** A certificate of the common shape with these changes. */
function packetsOf({ certification, binding, ...made }: Made): Buffer[] {
  const { id = Buffer.from('terms'), key = primary, subkey: other = subkey } = made
  return [
    packet(6, key.body),
    packet(13, id),
    signature({
      signer: primary,
      atMs: MADE_MS,
      type: TYPE.certification,
      over: concat(over(key), 0xb4, u32(id.length), id),
      hashed: [keyFlags(3), preferredCiphers(9, 7)],
      ...certification,
    }),
    packet(14, other.body),
    signature({
      signer: primary,
      atMs: MADE_MS,
      type: TYPE.subkeyBinding,
      over: concat(over(key), over(other)),
      hashed: [keyFlags(0x0c)],
      ...binding,
    }),
    made.more ?? Buffer.alloc(0),
  ]
}

const block = (bytes: Uint8Array): string => armor(bytes, { type: 'PUBLIC KEY BLOCK' })
const certificate = (made: Made): string => block(concat(...packetsOf(made)))

const hashing = (...hashed: Buffer[]): Signing => ({ hashed: [keyFlags(3), ...hashed] })
const named = [issuerFingerprint(primary.fingerprint), issuer(primary.fingerprint)]
const false8 = issuer(mallory.primary.fingerprint)
const false20 = issuerFingerprint(mallory.primary.fingerprint)

test.each<[string, Made]>([
  ['an issuer that is hashed', { certification: { ...hashing(...named), unhashed: [] } }],
  ['a byte order mark inside a user id', { id: Buffer.from('a\ufeff') }],
  ['a user id of 1025 bytes', { id: Buffer.alloc(1025, 'x') }],
  ['a byte order mark before its user id', { id: Buffer.from('\ufeffa') }],
])('a certificate with %s is read natively with the result of openpgp.js', async (_, made) => {
  expect(await readAlike(certificate(made))).toMatchObject({ primarySigns: true })
})

test.each<[string, Made]>([
  ['an unhashed notation', { certification: { unhashed: [...named, notation('a@b', 'c')] } }],
  ['empty key flags', { certification: { hashed: [subpacket(27, concat())] } }],
  ['two lifetimes', { certification: hashing(keyExpiresAfter(0), keyExpiresAfter(0)) }],
  ['a lifetime of three bytes', { certification: hashing(subpacket(9, concat('010203'))) }],
  ['a lifetime of five bytes', { certification: hashing(subpacket(9, concat('0000000000'))) }],
  ['another fingerprint', { certification: { unhashed: [false20] } }],
  ['another key id behind the right one', { certification: { unhashed: [...named, false8] } }],
  ['another fingerprint that is hashed', { certification: hashing(false20) }],
  ['another issuer of the subkey', { binding: { unhashed: [...named, false8] } }],
  ['a binding in place of the certification', { certification: { type: TYPE.subkeyBinding } }],
  ['a certification in place of the binding', { binding: { type: TYPE.certification } }],
  ['a subkey that may sign', { binding: { hashed: [keyFlags(2)] } }],
  [
    'a certification by another key',
    { certification: { signer: mallory.primary, unhashed: named } },
  ],
  ['a binding by another key', { binding: { signer: mallory.primary, unhashed: named } }],
  ['a certification of another user id', { certification: { over: Buffer.from('x') } }],
  ['a binding of another subkey', { binding: { over: Buffer.from('x') } }],
  ['a subkey that does not encrypt', { subkey: ed25519('signs', MADE_MS) }],
  [
    'a subkey of low order',
    { subkey: identify(concat(4, u32(MADE_S), 25, Buffer.alloc(32)), MADE_MS) },
  ],
  ['a primary key that does not sign', { key: curve25519('encrypts', MADE_MS) }],
  ['a subkey of RSA', { subkey: rsa }],
  ['a byte behind its packets', { more: concat(0) }],
])('a certificate with %s is left to openpgp.js', (_, made) => {
  expect(readCommonCertificate(certificate({}), NOW_MS)).not.toBeNull()
  expect(readCommonCertificate(certificate(made), NOW_MS)).toBeNull()
})

test('`readCommonPackets` rejects a packet of another type and a sixth packet', () => {
  const packets = packetsOf({})
    .slice(0, 5)
    .map((bytes) => packetAt(bytes, 0))
  expect(readCommonPackets(packets, NOW_MS)).not.toBeNull()
  for (const [index, { tag, body }] of packets.entries()) {
    for (const other of [5, 6, 13, 14, 17, 60].filter((one) => one !== tag)) {
      const changed = packets.with(index, { tag: other, body, next: 0 })
      expect(readCommonPackets(changed, NOW_MS), `${index} as ${other}`).toBeNull()
    }
  }
  const behind = { tag: 12, body: Buffer.from([1]) }
  expect(readCommonPackets([...packets, behind], NOW_MS)).toBeNull()
})

test('a certificate of 65,536 characters is read natively, and a longer one is left to openpgp.js', () => {
  const text = certificate({})
  expect(readCommonCertificate(text.padEnd(65_536, '\n'), NOW_MS)).not.toBeNull()
  expect(readCommonCertificate(text.padEnd(65_537, '\n'), NOW_MS)).toBeNull()
})

test.each<[string, Made, boolean]>([
  ['that lists AES-256', { certification: hashing(preferredCiphers(7, 9)) }, true],
  ['that lists AES-128 alone', { certification: hashing(preferredCiphers(7)) }, false],
  ['that lists nothing', { certification: hashing() }, false],
  [
    'whose subkey alone lists it',
    { certification: hashing(), binding: { hashed: [keyFlags(0x0c), preferredCiphers(9)] } },
    false,
  ],
])(
  'the `readsAes256` of a certificate %s equals that of openpgp.js',
  async (_, made, readsAes256) => {
    expect(await readAlike(certificate(made))).toMatchObject({ readsAes256 })
  },
)

const NEVER = 0xffff_ffff
const lives = (seconds: number): Signing => hashing(keyExpiresAfter(seconds))
const livesBound = (seconds: number): Signing => ({
  hashed: [keyFlags(0x0c), keyExpiresAfter(seconds)],
})

test.each<[string, Made, number]>([
  ['a lifetime of zero', { certification: lives(0) }, NEVER],
  ['a lifetime of its primary key', { certification: lives(60 * DAY_S) }, MADE_S + 60 * DAY_S],
  ['a lifetime of its subkey', { binding: livesBound(50 * DAY_S) }, MADE_S + 50 * DAY_S],
  [
    'two lifetimes',
    { certification: lives(60 * DAY_S), binding: livesBound(50 * DAY_S) },
    MADE_S + 50 * DAY_S,
  ],
  [
    'a lifetime of its later subkey',
    {
      subkey: curve25519('later', MADE_MS + 5000),
      binding: { ...livesBound(50 * DAY_S), atMs: MADE_MS + 9000 },
    },
    MADE_S + 5 + 50 * DAY_S,
  ],
])('a certificate with %s has the expiry that openpgp.js computes', async (_, made, untilS) => {
  expect(await readAlike(certificate(made))).toMatchObject({ untilS })
})

test('a certificate whose lifetime exceeds 32-bit dates never expires', () => {
  const text = certificate({ certification: lives(0xffff_0000) })
  expect(readCommonCertificate(text, NOW_MS)).toMatchObject({ untilS: NEVER })
})

const LATER_MS = MADE_MS + 7000

test.each<[string, Made]>([
  ['the certification', { certification: { atMs: LATER_MS } }],
  ['the binding', { binding: { atMs: LATER_MS } }],
  ['the subkey', { subkey: curve25519('later', LATER_MS), binding: { atMs: MADE_MS } }],
])('a certificate with a later date of %s begins with this date', (_, made) => {
  const text = certificate(made)
  expect(readCommonCertificate(text, LATER_MS)).toMatchObject({ fromS: LATER_MS / 1000 })
  expect(readCommonCertificate(text, LATER_MS - 1)).toBeNull()
})
