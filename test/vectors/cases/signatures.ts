/** Vectors of signatures: SECURITY P27 to P37. */
import { literal, signedLiteral, type SigningOptions } from '../../support/openpgp-inner.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory, rsaKey } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import {
  TYPE,
  expiresAfter,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  notation,
  onePass,
  signature,
  subpacket,
} from '../../support/openpgp-signature.ts'
import type { MessageCase, SignatureWord } from './case.ts'

const DAY_MS = 86_400_000
const key = sessionKey('vectors')
const sealed = (inner: Uint8Array): Buffer => concat(pkesk(bot.subkey, key), seipd(inner, key))
const by: SigningOptions = { signer: alice.primary, atMs: NOW_MS }
const spoilt = concat(u16(8), 255, u16(8), 255)
const { fingerprint: bots } = bot.primary
const { fingerprint: mallorys } = mallory.primary

interface More extends Partial<SigningOptions> {
  signerName?: string
  intended?: string[]
  text?: string
}

const one = (
  name: string,
  about: string,
  covers: string,
  word: SignatureWord,
  more: More = {},
): MessageCase => {
  const { signerName, intended, text = 'hello', ...signing } = more
  return {
    name,
    about,
    covers,
    body: sealed(signedLiteral(text, { ...by, ...signing })),
    outcome: 'opened',
    text,
    signatures: [word],
    ...(signerName === undefined ? {} : { signer: signerName }),
    ...(intended === undefined ? {} : { intended }),
  }
}

const several = (
  name: string,
  about: string,
  signings: SigningOptions[],
  signatures: SignatureWord[],
): MessageCase => ({
  name,
  about,
  covers: 'SECURITY P29',
  body: sealed(signedLiteral('hello', signings)),
  outcome: 'opened',
  text: 'hello',
  signatures,
})

const others: SigningOptions = { ...by, signer: mallory.primary }
const closing = signature({ ...by, over: Buffer.from('hello') })

export const SIGNATURES: MessageCase[] = [
  one('p27-valid', 'Signed by the sender.', 'SECURITY P27', 'valid'),
  one('p27-sha512', 'Signed over SHA-512.', 'SECURITY P27', 'valid', { hash: 'sha512' }),
  one('p27-text', 'A text signature over two lines.', 'RFC 9580, 5.2.1.2', 'valid', {
    type: TYPE.text,
    text: 'a\nb\n',
  }),
  one('p28-other-member', 'Signed by somebody else.', 'SECURITY P28', 'other-key', {
    signer: mallory.primary,
  }),
  several(
    'p29-two',
    'Signed by the sender and by somebody else.',
    [by, others],
    ['other-key', 'valid'],
  ),
  several(
    'p29-bad-and-valid',
    'A bad signature and a valid one, both of the sender.',
    [{ ...by, numbers: spoilt }, by],
    ['valid', 'bad'],
  ),
  several('p29-four', 'Four signatures.', [by, by, by, by], ['valid', 'valid', 'valid', 'valid']),
  {
    name: 'p29-five',
    about: 'Five signatures are too many.',
    covers: 'SECURITY P29',
    body: sealed(signedLiteral('hello', [by, by, by, by, by])),
    outcome: 'damaged',
    reason: 'too-many-packets',
  },
  {
    name: 'p29-four-hundred',
    about: 'Four hundred copies of one signature.',
    covers: 'SECURITY P29',
    body: sealed(concat(Buffer.alloc(closing.length * 400, closing), literal('hello'))),
    outcome: 'damaged',
    reason: 'too-many-packets',
  },
  {
    name: 'p30-other-words',
    about: 'The signature is over other words.',
    covers: 'SECURITY P30',
    body: sealed(concat(onePass(by), literal('world'), closing)),
    outcome: 'opened',
    text: 'world',
    signatures: ['bad'],
  },
  one('p31-sha1', 'Signed over SHA-1.', 'SECURITY P31', 'bad', {
    hash: 'sha1',
    signer: rsaKey(2048),
    signerName: 'rsa-2048',
  }),
  one('p31-md5', 'Signed over MD5.', 'SECURITY P31', 'bad', {
    hash: 'md5',
    signer: rsaKey(2048),
    signerName: 'rsa-2048',
  }),
  one('p31-rsa-2048', 'Signed by an RSA key of 2048 bits.', 'SECURITY P31', 'valid', {
    signer: rsaKey(2048),
    signerName: 'rsa-2048',
  }),
  one('p31-rsa-1024', 'Signed by an RSA key of 1024 bits.', 'SECURITY P31', 'bad', {
    signer: rsaKey(1024),
    signerName: 'rsa-1024',
  }),
  one(
    'p32-standalone',
    'A signature of a type that is no statement on a message.',
    'SECURITY P32, 5.4; CVE-2019-9153',
    'bad',
    { type: TYPE.standalone },
  ),
  one('p32-timestamp', 'A timestamp signature.', 'SECURITY P32; CVE-2019-9153', 'bad', {
    type: TYPE.timestamp,
  }),
  one('p32-certification', 'A certification.', 'SECURITY P32; CVE-2019-9153', 'bad', {
    type: TYPE.certification,
  }),
  one(
    'p33-five-seconds-ahead',
    'Signed five seconds ahead of our clock.',
    'SECURITY P33',
    'valid',
    { atMs: NOW_MS + 5000 },
  ),
  one('p33-299-seconds-ahead', 'Signed 299 seconds ahead of our clock.', 'SECURITY P33', 'valid', {
    atMs: NOW_MS + 299_000,
  }),
  one('p33-an-hour-ahead', 'Signed an hour ahead of our clock.', 'SECURITY P33', 'bad', {
    atMs: NOW_MS + 3_600_000,
  }),
  one('p34-expired', 'A signature of yesterday that lasted an hour.', 'SECURITY P34', 'bad', {
    atMs: NOW_MS - DAY_MS,
    hashed: [expiresAfter(3600)],
  }),
  one('p34-before-key', 'Signed before the key was made.', 'SECURITY P34', 'bad', {
    atMs: alice.primary.createdMs - 1000,
  }),
  one(
    'p35-revoked-hard',
    'Signed before the key was revoked as compromised.',
    'SECURITY P35',
    'bad',
    { atMs: NOW_MS - 2 * DAY_MS, signerName: 'alice-compromised' },
  ),
  one('p35-retired-before', 'Signed before the key was retired.', 'SECURITY P35', 'valid', {
    atMs: NOW_MS - 2 * DAY_MS,
    signerName: 'alice-retired',
  }),
  one('p35-retired-after', 'Signed after the key was retired.', 'SECURITY P35', 'bad', {
    signerName: 'alice-retired',
  }),
  one('p36-critical-notation', 'A critical notation that nobody knows.', 'SECURITY P36', 'bad', {
    hashed: [notation('x@example.org', 'y', true)],
  }),
  one('p36-notation', 'A notation that nobody knows.', 'SECURITY P36', 'valid', {
    hashed: [notation('x@example.org', 'y')],
  }),
  one('p36-critical-subpacket', 'A critical subpacket that nobody knows.', 'SECURITY P36', 'bad', {
    hashed: [subpacket(101, concat(1), true)],
  }),
  one('p37-for-us', 'Meant for us.', 'SECURITY P37; RFC 9580, 5.2.3.36', 'valid', {
    hashed: [intendedRecipient(bots)],
    intended: [bots],
  }),
  one(
    'p37-for-us-critical',
    'Meant for us, and marked critical.',
    'SECURITY P37; RFC 9580, 5.2.3.36',
    'valid',
    { hashed: [intendedRecipient(bots, true)], intended: [bots] },
  ),
  one(
    'p37-for-somebody-else',
    'Meant for somebody else, and sealed to us: the reader must refuse it.',
    'SECURITY P37; RFC 9580, 13.12',
    'valid',
    { hashed: [intendedRecipient(mallorys)], intended: [mallorys] },
  ),
  one('p37-for-several', 'Meant for somebody else and for us.', 'SECURITY P37', 'valid', {
    hashed: [intendedRecipient(mallorys), intendedRecipient(bots)],
    intended: [mallorys, bots],
  }),
  one(
    'p37-not-hashed',
    'A recipient that is named where nothing is signed.',
    'SECURITY P37; CVE-2019-9154',
    'valid',
    { unhashed: [issuer(alice.primary.fingerprint), intendedRecipient(mallorys)], intended: [] },
  ),
  one(
    'issuer-lies',
    'The issuer named is the certificate’s, the signature somebody else’s.',
    'SECURITY P28',
    'bad',
    { signer: { ...mallory.primary, fingerprint: alice.primary.fingerprint } },
  ),
  one('issuer-missing', 'No issuer is named.', 'RFC 9580, 5.2.3.12', 'bad', { unhashed: [] }),
  one('issuer-hashed', 'The issuer stands in the hashed part.', 'RFC 9580, 5.2.3.35', 'valid', {
    unhashed: [],
    hashed: [issuerFingerprint(alice.primary.fingerprint)],
  }),
  one(
    'unhashed-date',
    'The date stands where nothing is signed.',
    'SECURITY 5.4, CVE-2019-9154',
    'bad',
    {
      undated: true,
      unhashed: [subpacket(2, concat('697e9780')), issuer(alice.primary.fingerprint)],
    },
  ),
  one(
    'subkey-without-consent',
    'Signed by a key that the certificate claims and that never consented.',
    'SECURITY 5.4; RFC 9580, 5.2.1.9',
    'bad',
    { signer: mallory.primary, signerName: 'alice-claims-mallory' },
  ),
]
