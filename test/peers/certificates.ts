/** Certificates of many shapes: what owners make, by many programs and over many years. */
import { concat, seeded, u32 } from '../support/openpgp-bytes.ts'
import {
  FLAG,
  boundSubkey,
  directKey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyPacket,
  subkeyRevocation,
  userId,
  userIdRevocation,
  keyOver,
  type SelfSignature,
} from '../support/openpgp-certificate.ts'
import { longPacket, oldPacket, packet } from '../support/openpgp-framing.ts'
import { curve25519, dsa, ecdhBody, ecdsa, ed25519, identify, rsa } from '../support/openpgp-key.ts'
import type { PacketKey, SigningKey } from '../support/openpgp-key.ts'
import { ed25519Native, x25519Native } from '../support/openpgp-x25519.ts'
import {
  HASH,
  TYPE,
  embedded,
  expiresAfter,
  issuer,
  issuerFingerprint,
  keyExpiresAfter,
  keyFlags,
  notation,
  preferredCiphers,
  reason,
  signature,
  subpacket,
  type HashName,
} from '../support/openpgp-signature.ts'
import { readFileSync } from 'node:fs'
import { DAY_S, MADE_MS, NAME, WORDS_MS, primary, signedBy, subkey, type Shape } from './shape.ts'

const key = keyPacket(primary)
const id = userId(primary, NAME)
const binding = boundSubkey(primary, subkey)
const HOUR_MS = 3_600_000
/** A key ends so many seconds after it was made: before anybody reads, and long after. */
const ENDED = 400 * DAY_S
const LASTS = 50 * 365 * DAY_S
const HASHES = Object.keys(HASH) as HashName[]

type Entry = [name: string, certificate: Buffer, signer?: SigningKey]

const many = (count: number, make: (index: number) => Buffer): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => make(index)))
const selfs = (count: number, options: SelfSignature = {}): Buffer =>
  many(count, (index) => certification({ ...options, atMs: MADE_MS + index * HOUR_MS }))

/** A self-signature without its user id. */
const certification = (options: SelfSignature & { name?: string } = {}): Buffer =>
  userId(primary, options.name ?? NAME, options).subarray(
    packet(13, Buffer.from(options.name ?? NAME)).length,
  )
const bindingOf = (options: SelfSignature = {}): Buffer =>
  boundSubkey(primary, subkey, options).subarray(subkeyPacket(subkey).length)

/** A certification of the usual user id by somebody else. */
function foreign(
  label: string,
  o: { type?: number; hash?: HashName; hashed?: Buffer[] } = {},
): Buffer {
  const name = Buffer.from(NAME)
  const over = concat(keyOver(primary), 0xb4, u32(name.length), name)
  const signer = ed25519(`peers foreign ${label}`, MADE_MS)
  const { type = 0x10, hash = 'sha256', hashed = [] } = o
  return signature({ signer, over, type, hash, atMs: MADE_MS + HOUR_MS, hashed })
}

const counts = (what: string, some: number[], make: (count: number) => Buffer): Entry[] =>
  some.map((count) => [`${count} ${what}`, make(count)])

const numbers: Entry[] = [
  ...counts('user ids', [0, 1, 2, 3, 16, 64, 70, 130], (count) =>
    concat(
      key,
      many(count, (n) => userId(primary, `Writer ${n}`)),
      binding,
    ),
  ),
  ...counts('self-signatures of one user id', [2, 3, 8, 16, 17, 24, 40, 64], (count) =>
    concat(key, packet(13, Buffer.from(NAME)), selfs(count), binding),
  ),
  ...counts('self-signatures, newest first', [2, 17, 24], (count) =>
    concat(
      key,
      packet(13, Buffer.from(NAME)),
      many(count, (n) => certification({ atMs: MADE_MS + (count - n) * HOUR_MS })),
      binding,
    ),
  ),
  ...counts('direct-key signatures', [1, 2, 16, 17, 24], (count) =>
    concat(
      key,
      many(count, (n) => directKey(primary, { atMs: MADE_MS + n * HOUR_MS })),
      id,
      binding,
    ),
  ),
  ...counts('bindings of one subkey', [2, 8, 16, 17, 24, 40], (count) =>
    concat(
      key,
      id,
      subkeyPacket(subkey),
      many(count, (n) => bindingOf({ atMs: MADE_MS + n * HOUR_MS })),
    ),
  ),
  ...counts('encryption subkeys', [2, 3, 8, 16, 20], (count) =>
    concat(
      key,
      id,
      many(count, (n) => boundSubkey(primary, curve25519(`peers ${n}`, MADE_MS + n * 1000))),
    ),
  ),
  ...counts('foreign certifications', [1, 8, 32, 100, 300], (count) =>
    concat(
      key,
      id,
      many(count, (n) => foreign(`${n}`)),
      binding,
    ),
  ),
  ...counts('renewals of user id and subkey', [2, 5, 16, 17, 20, 40], (count) =>
    concat(
      key,
      packet(13, Buffer.from(NAME)),
      selfs(count, { hashed: [keyExpiresAfter(LASTS)] }),
      subkeyPacket(subkey),
      many(count, (n) =>
        bindingOf({ atMs: MADE_MS + n * HOUR_MS, hashed: [keyExpiresAfter(LASTS)] }),
      ),
    ),
  ),
]

const FLAGS: [string, number][] = [
  ['certify', 1],
  ['certify and sign', 3],
  ['sign', 2],
  ['everything but encryption', 0x23],
  ['certify, sign and encrypt', 0x0f],
  ['none', 0],
]
const flagless = (): Buffer => {
  const name = Buffer.from(NAME)
  const over = concat(keyOver(primary), 0xb4, u32(name.length), name)
  const type = TYPE.certification
  return concat(packet(13, name), signature({ signer: primary, over, type, atMs: MADE_MS }))
}
const flags: Entry[] = [
  ...FLAGS.map(([name, bits]): Entry => [
    `flags of the user id: ${name}`,
    concat(key, userId(primary, NAME, { flags: bits }), binding),
  ]),
  ...FLAGS.map(([name, bits]): Entry => [
    `flags of the direct-key signature alone: ${name}`,
    concat(key, directKey(primary, { flags: bits }), flagless(), binding),
  ]),
  ['no flags anywhere on the primary key', concat(key, flagless(), binding)],
  [
    'flags of two bytes',
    concat(key, userId(primary, NAME, { hashed: [subpacket(27, concat(3, 0))] }), binding),
  ],
  ['flags twice', concat(key, userId(primary, NAME, { hashed: [keyFlags(3)] }), binding)],
  ...[0x04, 0x08, 0x0c, 0x1c, 0x1f, 0x20, 0x2c, 0x00].map((bits): Entry => [
    `flags of the subkey: 0x${bits.toString(16).padStart(2, '0')}`,
    concat(key, id, boundSubkey(primary, subkey, { flags: bits })),
  ]),
  ['no flags on the subkey', concat(key, id, subkeyPacket(subkey), bareBinding())],
]

function bareBinding(): Buffer {
  const over = concat(keyOver(primary), keyOver(subkey))
  return signature({ signer: primary, over, type: TYPE.subkeyBinding, atMs: MADE_MS })
}

const ENDS: [string, number | null][] = [
  ['none', null],
  ['past', ENDED],
  ['far', LASTS],
  ['zero', 0],
]
const ending = (end: number | null): Buffer[] => (end === null ? [] : [keyExpiresAfter(end)])
const expiries: Entry[] = [
  ...ENDS.flatMap(([direct, directEnd]) =>
    ENDS.flatMap(([named, namedEnd]) =>
      [0, HOUR_MS].map((laterMs): Entry => [
        `end by direct key ${direct}, by user id ${named}, ${laterMs === 0 ? 'user id' : 'direct key'} newer`,
        concat(
          key,
          directKey(primary, { hashed: ending(directEnd), atMs: MADE_MS + laterMs }),
          userId(primary, NAME, { hashed: ending(namedEnd), atMs: MADE_MS + HOUR_MS - laterMs }),
          binding,
        ),
      ]),
    ),
  ),
  ...ENDS.map(([name, end]): Entry => [
    `end of the subkey: ${name}`,
    concat(key, id, boundSubkey(primary, subkey, { hashed: ending(end) })),
  ]),
  ...ENDS.flatMap(([before, first]) =>
    ENDS.filter(([after]) => after !== before).map(([after, second]): Entry => [
      `end of the subkey: ${before}, then ${after}`,
      concat(
        key,
        id,
        boundSubkey(primary, subkey, { hashed: ending(first) }),
        bindingOf({ hashed: ending(second), atMs: MADE_MS + HOUR_MS }),
      ),
    ]),
  ),
  ...ENDS.flatMap(([before, first]) =>
    ENDS.filter(([after]) => after !== before).map(([after, second]): Entry => [
      `end by the user id: ${before}, then ${after}`,
      concat(
        key,
        userId(primary, NAME, { hashed: ending(first) }),
        certification({ hashed: ending(second), atMs: MADE_MS + HOUR_MS }),
        binding,
      ),
    ]),
  ),
  [
    'two user ids, one ended',
    concat(
      key,
      userId(primary, 'Writer 1', { hashed: ending(ENDED) }),
      userId(primary, 'Writer 2', { atMs: MADE_MS + HOUR_MS }),
      binding,
    ),
  ],
  [
    'two user ids, the newer ended',
    concat(
      key,
      userId(primary, 'Writer 1'),
      userId(primary, 'Writer 2', { hashed: ending(ENDED), atMs: MADE_MS + HOUR_MS }),
      binding,
    ),
  ],
  [
    'self-signature that ended',
    concat(key, userId(primary, NAME, { hashed: [expiresAfter(ENDED)] }), binding),
  ],
  [
    'self-signature that lasts',
    concat(key, userId(primary, NAME, { hashed: [expiresAfter(LASTS)] }), binding),
  ],
  [
    'binding that ended',
    concat(key, id, boundSubkey(primary, subkey, { hashed: [expiresAfter(ENDED)] })),
  ],
  [
    'binding that ended, and one that lasts',
    concat(
      key,
      id,
      boundSubkey(primary, subkey, { hashed: [expiresAfter(ENDED)] }),
      bindingOf({ atMs: MADE_MS + 1000 }),
    ),
  ],
  [
    'self-signature newer than the words',
    concat(key, userId(primary, NAME, { atMs: WORDS_MS + 30 * DAY_S * 1000 }), binding),
  ],
  [
    'binding newer than the words',
    concat(key, id, boundSubkey(primary, subkey, { atMs: WORDS_MS + 30 * DAY_S * 1000 })),
  ],
  [
    'self-signature before its key',
    concat(key, userId(primary, NAME, { atMs: MADE_MS - HOUR_MS }), binding),
  ],
  [
    'subkey older than its primary key',
    concat(
      key,
      id,
      boundSubkey(primary, curve25519('peers older', MADE_MS - 30 * DAY_S * 1000), {
        atMs: MADE_MS,
      }),
    ),
  ],
]

const AT = MADE_MS + 2 * HOUR_MS
const second = curve25519('peers second', MADE_MS + 1000)
const revocations: Entry[] = [
  ...[0, 1, 2, 3].map((code): Entry => [
    `key revoked, reason ${code}`,
    concat(key, keyRevocation(primary, { atMs: AT, code }), id, binding),
  ]),
  ...[1, 3].map((code): Entry => [
    `key revoked after the words, reason ${code}`,
    concat(key, keyRevocation(primary, { atMs: WORDS_MS + HOUR_MS, code }), id, binding),
  ]),
  ...HASHES.map((hash): Entry => [
    `key revoked over ${hash}`,
    concat(key, keyRevocation(primary, { atMs: AT, hash }), id, binding),
  ]),
  ...[0, 1, 2, 3].map((code): Entry => [
    `subkey revoked, reason ${code}`,
    concat(key, id, binding, subkeyRevocation(primary, subkey, { atMs: AT, code })),
  ]),
  ...HASHES.map((hash): Entry => [
    `subkey revoked over ${hash}`,
    concat(key, id, binding, subkeyRevocation(primary, subkey, { atMs: AT, hash })),
  ]),
  ...[1, 2].map((code): Entry => [
    `subkey revoked and bound anew, reason ${code}`,
    concat(
      key,
      id,
      binding,
      subkeyRevocation(primary, subkey, { atMs: AT, code }),
      bindingOf({ atMs: AT + HOUR_MS }),
    ),
  ]),
  ...[1, 2].map((code): Entry => [
    `subkey revoked beside a sound one, reason ${code}`,
    concat(
      key,
      id,
      binding,
      subkeyRevocation(primary, subkey, { atMs: AT, code }),
      boundSubkey(primary, second),
    ),
  ]),
  [
    'newer subkey revoked beside an older sound one',
    concat(
      key,
      id,
      binding,
      boundSubkey(primary, second),
      subkeyRevocation(primary, second, { atMs: AT }),
    ),
  ],
  [
    'subkey ended beside a sound one',
    concat(
      key,
      id,
      boundSubkey(primary, subkey, { hashed: [keyExpiresAfter(ENDED)] }),
      boundSubkey(primary, second),
    ),
  ],
  ['only user id revoked', concat(key, id, userIdRevocation(primary, NAME, AT), binding)],
  [
    'only user id revoked, with a direct-key signature',
    concat(key, directKey(primary), id, userIdRevocation(primary, NAME, AT), binding),
  ],
  [
    'one of two user ids revoked',
    concat(
      key,
      userId(primary, 'Writer 1'),
      userIdRevocation(primary, 'Writer 1', AT),
      userId(primary, 'Writer 2'),
      binding,
    ),
  ],
  [
    'all of three user ids revoked',
    concat(
      key,
      many(3, (n) =>
        concat(userId(primary, `Writer ${n}`), userIdRevocation(primary, `Writer ${n}`, AT)),
      ),
      binding,
    ),
  ],
  [
    'user id revoked and certified anew',
    concat(
      key,
      id,
      userIdRevocation(primary, NAME, AT),
      certification({ atMs: AT + HOUR_MS }),
      binding,
    ),
  ],
  [
    'somebody is named as revoker',
    concat(key, directKey(primary, { hashed: [revoker(0x80)] }), id, binding),
  ],
  [
    'a sensitive revoker is named',
    concat(key, directKey(primary, { hashed: [revoker(0xc0)] }), id, binding),
  ],
  [
    'a revoker is named by the user id',
    concat(key, userId(primary, NAME, { hashed: [revoker(0x80)] }), binding),
  ],
  ['a revocation by somebody else', concat(key, foreignRevocation(), id, binding)],
  [
    'a certification revoked by somebody else',
    concat(key, id, foreign('r', { type: TYPE.certificationRevocation }), binding),
  ],
]

function revoker(kind: number): Buffer {
  return subpacket(12, concat(kind, 22, 'ab'.repeat(20)))
}

function foreignRevocation(): Buffer {
  const signer = ed25519('peers foreign', MADE_MS)
  const over = keyOver(primary)
  return signature({ signer, over, type: TYPE.keyRevocation, atMs: AT, hashed: [reason(0)] })
}

const namePacket = (bytes: Uint8Array): Buffer => {
  const over = concat(keyOver(primary), 0xb4, u32(bytes.length), bytes)
  const hashed = [keyFlags(3), preferredCiphers(9, 8, 7)]
  const type = TYPE.certification
  return concat(
    packet(13, bytes),
    signature({ signer: primary, over, type, atMs: MADE_MS, hashed }),
  )
}
const attribute = (isSigned: boolean): Buffer => {
  const body = concat(20, 1, seeded('jpeg', 18))
  const over = concat(keyOver(primary), 0xd1, u32(body.length), body)
  const type = TYPE.certification
  const self = signature({ signer: primary, over, type, atMs: MADE_MS, hashed: [keyFlags(3)] })
  return concat(packet(17, body), ...(isSigned ? [self] : []))
}
const names: Entry[] = [
  ...(
    [
      ['empty', Buffer.alloc(0)],
      ['in Latin-1', Buffer.from('J\xf6rg <joerg@example.org>', 'latin1')],
      ['in UTF-8', Buffer.from('Jörg 🌍 <joerg@example.org>')],
      ['with a zero byte', Buffer.from('Writer\0 <writer@example.org>')],
      ['with a line end', Buffer.from('Writer\nSecond line')],
      ['without an address', Buffer.from('Writer')],
      ['an address alone', Buffer.from('writer@example.org')],
      ['a web address', Buffer.from('https://example.org/~writer')],
      ['of bytes that are no text', seeded('name', 40)],
      ...[191, 192, 255, 256, 1024, 2048, 4096].map((length): [string, Buffer] => [
        `of ${length} bytes`,
        Buffer.alloc(length, 'w'),
      ]),
    ] as [string, Buffer][]
  ).map(([name, bytes]): Entry => [`name ${name}`, concat(key, namePacket(bytes), binding)]),
  ['a picture beside the name', concat(key, id, attribute(true), binding)],
  ['a picture that nobody signed', concat(key, id, attribute(false), binding)],
  ['a picture alone', concat(key, attribute(true), binding)],
  ['no user id, a direct-key signature', concat(key, directKey(primary), binding)],
  ['a user id that nobody signed', concat(key, packet(13, Buffer.from(NAME)), binding)],
  [
    'a user id that nobody signed beside a signed one',
    concat(key, packet(13, Buffer.from('x')), id, binding),
  ],
]

const ODD: [string, Buffer][] = [
  ['a marker', packet(10, Buffer.from('PGP'))],
  ['padding', packet(21, seeded('padding', 40))],
  ['a trust packet', packet(12, concat(1, 2))],
  ['a private packet', packet(60, seeded('private', 20))],
  ['an unknown packet that may be skipped', packet(45, seeded('unknown', 20))],
]
const odd: Entry[] = ODD.flatMap(([name, bytes]): Entry[] => [
  [`${name} before the key`, concat(bytes, key, id, binding)],
  [`${name} behind the key`, concat(key, bytes, id, binding)],
  [`${name} behind the user id`, concat(key, id, bytes, binding)],
  [`${name} at the end`, concat(key, id, binding, bytes)],
])

const reframed = (frame: (tag: number, body: Buffer) => Buffer): Buffer => {
  const parts: Buffer[] = []
  const whole = concat(key, id, binding)
  for (let at = 0; at < whole.length;) {
    const first = whole[at + 1] ?? 0
    const [head, length] =
      first < 192 ? [2, first] : [3, ((first - 192) << 8) + (whole[at + 2] ?? 0) + 192]
    parts.push(frame((whole[at] ?? 0) & 0x3f, whole.subarray(at + head, at + head + length)))
    at += head + length
  }
  return concat(...parts)
}
const framings: Entry[] = [
  ['headers of the old format, two bytes', reframed((tag, body) => oldPacket(tag, body, 2))],
  ['headers of the old format, four bytes', reframed((tag, body) => oldPacket(tag, body, 4))],
  ['lengths of five bytes', reframed(longPacket)],
]

const SELF: [string, SelfSignature][] = [
  ...HASHES.map((hash): [string, SelfSignature] => [`over ${hash}`, { hash }]),
  ['with a notation', { hashed: [notation('name@example.org', 'x')] }],
  ['with a critical notation', { hashed: [notation('name@example.org', 'x', true)] }],
  ['with an unknown subpacket', { hashed: [subpacket(101, concat(1))] }],
  ['with an unknown critical subpacket', { hashed: [subpacket(101, concat(1), true)] }],
  ['with an unassigned subpacket', { hashed: [subpacket(70, concat(1))] }],
  ['with an unassigned critical subpacket', { hashed: [subpacket(70, concat(1), true)] }],
  ['that may not be exported', { hashed: [subpacket(4, concat(0))] }],
  ['that may be exported, critical', { hashed: [subpacket(4, concat(1), true)] }],
  ['that cannot be revoked', { hashed: [subpacket(7, concat(0))] }],
  ['marked as the primary', { hashed: [subpacket(25, concat(1))] }],
  ['with critical flags', { hashed: [subpacket(27, concat(3), true)] }],
  ['with a critical end', { hashed: [subpacket(9, u32(LASTS), true)] }],
  ['with the MDC feature', { hashed: [subpacket(30, concat(1))] }],
  [
    'with the features of an AEAD',
    { hashed: [subpacket(30, concat(9)), subpacket(39, concat(9, 2, 9, 3))] },
  ],
  [
    'with the old AEAD features',
    { hashed: [subpacket(30, concat(7)), subpacket(34, concat(2, 1))] },
  ],
  [
    'with a keyserver',
    {
      hashed: [subpacket(24, Buffer.from('https://keys.example.org')), subpacket(23, concat(0x80))],
    },
  ],
  ['with a policy address', { hashed: [subpacket(26, Buffer.from('https://example.org'))] }],
  ["with a signer's user id", { hashed: [subpacket(28, Buffer.from('writer@example.org'))] }],
  ['with a trust level', { hashed: [subpacket(5, concat(1, 120))] }],
  [
    'with a regular expression',
    { hashed: [subpacket(5, concat(1, 120)), subpacket(6, concat(Buffer.from('<.*>'), 0))] },
  ],
  ['with hashes that it prefers', { hashed: [subpacket(21, concat(10, 9, 8, 11, 2))] }],
  ['with SHA3 among the hashes', { hashed: [subpacket(21, concat(14, 12, 10, 8))] }],
  ['with compressions that it prefers', { hashed: [subpacket(22, concat(2, 3, 1))] }],
  ['that prefers Triple-DES alone', { ciphers: [2] }],
  ['that prefers CAST5 and Triple-DES', { ciphers: [3, 2] }],
  ['that prefers AES-128 alone', { ciphers: [7] }],
  ['that prefers AES-192 alone', { ciphers: [8] }],
  ['that prefers Camellia and Twofish', { ciphers: [13, 10] }],
  ['that prefers unknown ciphers', { ciphers: [99, 100] }],
  ['that names no ciphers', { ciphers: [] }],
  ['with an attested certification', { hashed: [subpacket(37, seeded('attested', 32))] }],
  ['with a salt', { hashed: [notation('salt@notations.openpgpjs.org', 'abcdefgh01234567')] }],
  ['with a long notation', { hashed: [notation('long@example.org', 'x'.repeat(5000))] }],
  ['without a date', { undated: true }],
  ['dated twice', { hashed: [subpacket(2, u32(MADE_MS / 1000 + 60))] }],
]
const selfSignatures: Entry[] = [
  ...SELF.map(([name, options]): Entry => [
    `self-signature ${name}`,
    concat(key, userId(primary, NAME, options), binding),
  ]),
  ...HASHES.map((hash): Entry => [
    `binding over ${hash}`,
    concat(key, id, boundSubkey(primary, subkey, { hash })),
  ]),
  ...HASHES.map((hash): Entry => [
    `self-signature and binding over ${hash}`,
    concat(key, userId(primary, NAME, { hash }), boundSubkey(primary, subkey, { hash })),
  ]),
  ...HASHES.map((hash): Entry => [
    `old self-signature over ${hash}, a newer one over sha256`,
    concat(
      key,
      userId(primary, NAME, { hash }),
      certification({ atMs: MADE_MS + HOUR_MS }),
      binding,
    ),
  ]),
  ...['sha1' as const, 'md5' as const].map((hash): Entry => [
    `newer self-signature over ${hash}, an old one over sha256`,
    concat(key, id, certification({ hash, atMs: MADE_MS + HOUR_MS }), binding),
  ]),
  ...[0x10, 0x11, 0x12].map((type): Entry => [
    `self-signature of type 0x${type.toString(16)}`,
    concat(key, ofType(type), binding),
  ]),
  ...(
    [
      ['no issuer', []],
      ['the fingerprint of its issuer alone', [issuerFingerprint(primary.fingerprint)]],
      ['the key id of its issuer alone', [issuer(primary.fingerprint)]],
      ['another issuer first', [issuer('00'.repeat(20)), issuer(primary.fingerprint)]],
      ['another issuer alone', [issuer('ab'.repeat(20))]],
    ] as [string, Buffer[]][]
  ).map(([name, unhashed]): Entry => [
    `self-signature with ${name}`,
    concat(key, ofType(0x13, unhashed), binding),
  ]),
  ['the same self-signature twice', concat(key, id, certification(), binding)],
  ['the same user id twice', concat(key, id, id, binding)],
  ['the same subkey twice', concat(key, id, binding, binding)],
]

function ofType(type: number, unhashed?: Buffer[]): Buffer {
  const name = Buffer.from(NAME)
  const over = concat(keyOver(primary), 0xb4, u32(name.length), name)
  const hashed = [keyFlags(3), preferredCiphers(9, 8, 7)]
  const more = unhashed === undefined ? {} : { unhashed }
  return concat(
    packet(13, name),
    signature({ signer: primary, over, type, atMs: MADE_MS, hashed, ...more }),
  )
}

const signing = ed25519('peers signing', MADE_MS)
const withSigning = (part: Buffer): Buffer =>
  concat(key, userId(primary, NAME, { flags: FLAG.certify }), part, binding)
const subkeys: Entry[] = [
  ['words by a signing subkey', withSigning(signingSubkey(primary, signing)), signing],
  [
    'words by a signing subkey behind the encryption subkey',
    concat(key, id, binding, signingSubkey(primary, signing)),
    signing,
  ],
  [
    'words by a signing subkey without its consent',
    withSigning(signingSubkey(primary, signing, { backSignature: false })),
    signing,
  ],
  [
    'words by a signing subkey whose consent is for another',
    withSigning(signingSubkey(primary, signing, { backOver: ed25519('peers other', MADE_MS) })),
    signing,
  ],
  [
    'words by a signing subkey whose consent ended',
    withSigning(signingSubkey(primary, signing, { backHashed: [expiresAfter(ENDED)] })),
    signing,
  ],
  [
    'words by a signing subkey that ended later',
    withSigning(signingSubkey(primary, signing, { hashed: [keyExpiresAfter(ENDED)] })),
    signing,
  ],
  [
    'words by a signing subkey that ended before',
    withSigning(signingSubkey(primary, signing, { hashed: [keyExpiresAfter(DAY_S)] })),
    signing,
  ],
  [
    'words by a signing subkey that was revoked',
    withSigning(
      concat(
        signingSubkey(primary, signing),
        subkeyRevocation(primary, signing, { atMs: AT, code: 2 }),
      ),
    ),
    signing,
  ],
  [
    'words by a signing subkey that was retired later',
    withSigning(
      concat(
        signingSubkey(primary, signing),
        subkeyRevocation(primary, signing, { atMs: WORDS_MS + HOUR_MS, code: 3 }),
      ),
    ),
    signing,
  ],
  [
    'words by a signing subkey that was bound later',
    withSigning(signingSubkey(primary, signing, { atMs: WORDS_MS + HOUR_MS })),
    signing,
  ],
  [
    'words by the primary key beside a signing subkey',
    concat(key, id, signingSubkey(primary, signing), binding),
  ],
  [
    'words by a primary key that certifies alone',
    withSigning(signingSubkey(primary, signing)),
    primary,
  ],
  ['a consent in the unhashed part', withSigning(unhashedConsent()), signing],
  [
    'an authentication subkey',
    concat(
      key,
      id,
      boundSubkey(primary, ed25519('peers login', MADE_MS), { flags: 0x20 }),
      binding,
    ),
  ],
  ['no subkey', concat(key, id)],
  ['a subkey that nobody bound', concat(key, id, subkeyPacket(subkey))],
  ['a subkey that nobody bound beside a bound one', concat(key, id, subkeyPacket(second), binding)],
  [
    'a subkey bound by somebody else',
    concat(
      key,
      id,
      subkeyPacket(subkey),
      boundSubkey(ed25519('peers other', MADE_MS), subkey).subarray(subkeyPacket(subkey).length),
    ),
  ],
  [
    'a subkey that is expected later',
    concat(key, id, boundSubkey(primary, curve25519('peers later', Date.UTC(2090, 0, 1))), binding),
  ],
]

function unhashedConsent(): Buffer {
  const over = concat(keyOver(primary), keyOver(signing))
  const back = signature({ signer: signing, over, type: TYPE.primaryBinding, atMs: MADE_MS })
  const body = back.subarray((back[1] ?? 0) < 192 ? 2 : 3)
  const unhashed = [
    issuerFingerprint(primary.fingerprint),
    issuer(primary.fingerprint),
    embedded(body),
  ]
  const hashed = [keyFlags(2)]
  const type = TYPE.subkeyBinding
  return concat(
    subkeyPacket(signing),
    signature({ signer: primary, over, type, atMs: MADE_MS, hashed, unhashed }),
  )
}

const keyOf = (one: SigningKey, encryption: PacketKey, name = NAME): Buffer =>
  concat(keyPacket(one), userId(one, name), boundSubkey(one, encryption))
const CURVES: [string, string, string][] = [
  ['P-256', 'prime256v1', '082a8648ce3d030107'],
  ['P-384', 'secp384r1', '052b81040022'],
  ['P-521', 'secp521r1', '052b81040023'],
  ['Brainpool 256', 'brainpoolP256r1', '092b2403030208010107'],
  ['Brainpool 384', 'brainpoolP384r1', '092b240303020801010b'],
  ['Brainpool 512', 'brainpoolP512r1', '092b240303020801010d'],
  ['secp256k1', 'secp256k1', '052b8104000a'],
]
const curved = CURVES.map(([name, curve, oid]): Entry => {
  const signer = ecdsa(curve, oid, MADE_MS)
  return [
    `a key of ${name}`,
    keyOf(signer, identify(ecdhBody(curve, oid, MADE_MS), MADE_MS)),
    signer,
  ]
})
const pemOf = (name: string): string =>
  readFileSync(new URL(`../vectors/keys/${name}.pem`, import.meta.url), 'utf8')
const rsaOf = (bits: number, createdMs = MADE_MS): SigningKey =>
  rsa(pemOf(`rsa-${bits}`), createdMs)
const RSA = [1024, 2048, 3072, 4096, 8192].map((bits): Entry => [
  `RSA of ${bits} bits`,
  keyOf(rsaOf(bits), rsaOf(bits, MADE_MS + 1000)),
  rsaOf(bits),
])
const rsaAlone = rsaOf(3072)
const dsaKey = dsa(pemOf('dsa-2048'), MADE_MS)
const native = ed25519Native('peers native', MADE_MS)
const algorithms: Entry[] = [
  ...curved,
  ...RSA,
  [
    'RSA that signs and encrypts, no subkey',
    concat(keyPacket(rsaAlone), userId(rsaAlone, NAME, { flags: 0x0f })),
    rsaAlone,
  ],
  ['RSA without flags, no subkey', concat(keyPacket(rsaAlone), namelessFlags(rsaAlone)), rsaAlone],
  [
    'RSA that signs alone, no subkey',
    concat(keyPacket(rsaAlone), userId(rsaAlone, NAME)),
    rsaAlone,
  ],
  ['RSA with a subkey of Curve25519', keyOf(rsaAlone, subkey), rsaAlone],
  ['DSA with a subkey of Curve25519', keyOf(dsaKey, subkey), dsaKey],
  [
    'Ed25519 and X25519 of RFC 9580 in version 4',
    keyOf(native, x25519Native('peers native', MADE_MS)),
    native,
  ],
  ['Ed25519 of RFC 9580 with Curve25519 of before', keyOf(native, subkey), native],
]

function namelessFlags(one: SigningKey): Buffer {
  const name = Buffer.from(NAME)
  const over = concat(keyOver(one), 0xb4, u32(name.length), name)
  return concat(
    packet(13, name),
    signature({ signer: one, over, type: TYPE.certification, atMs: MADE_MS }),
  )
}

export const CERTIFICATES: Shape[] = [
  ...numbers,
  ...flags,
  ...expiries,
  ...revocations,
  ...names,
  ...odd,
  ...framings,
  ...selfSignatures,
  ...subkeys,
  ...algorithms,
].map(([name, certificate, signer = primary]) => ({
  group: 'certificate',
  name,
  certificate,
  message: signedBy(signer),
}))
