/** Bodies of vectors of signatures: SECURITY P27 to P37. */
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

const DAY_MS = 86_400_000
const key = sessionKey('vectors')
const sealed = (inner: Uint8Array): Buffer => concat(pkesk(bot.subkey, key), seipd(inner, key))
const by: SigningOptions = { signer: alice.primary, atMs: NOW_MS }
const spoilt = concat(u16(8), 255, u16(8), 255)
const { fingerprint: bots } = bot.primary
const { fingerprint: mallorys } = mallory.primary

/** A text signed by Alice, but for the given options, and sealed to the bot. */
const one = (more: Partial<SigningOptions> = {}, text = 'hello'): Buffer =>
  sealed(signedLiteral(text, { ...by, ...more }))

const others: SigningOptions = { ...by, signer: mallory.primary }
const closing = signature({ ...by, over: Buffer.from('hello') })

export const SIGNATURES: Record<string, Buffer> = {
  'p27-valid': one(),
  'p27-sha512': one({ hash: 'sha512' }),
  'p27-text': one({ type: TYPE.text }, 'a\nb\n'),
  'p28-other-member': one({ signer: mallory.primary }),
  'p29-two': sealed(signedLiteral('hello', [by, others])),
  'p29-bad-and-valid': sealed(signedLiteral('hello', [{ ...by, numbers: spoilt }, by])),
  'p29-four': sealed(signedLiteral('hello', [by, by, by, by])),
  'p29-five': sealed(signedLiteral('hello', [by, by, by, by, by])),
  'p29-four-hundred': sealed(concat(Buffer.alloc(closing.length * 400, closing), literal('hello'))),
  'p30-other-words': sealed(concat(onePass(by), literal('world'), closing)),
  'p31-sha1': one({ hash: 'sha1', signer: rsaKey(2048) }),
  'p31-md5': one({ hash: 'md5', signer: rsaKey(2048) }),
  'p31-rsa-2048': one({ signer: rsaKey(2048) }),
  'p31-rsa-1024': one({ signer: rsaKey(1024) }),
  'p32-standalone': one({ type: TYPE.standalone }),
  'p32-timestamp': one({ type: TYPE.timestamp }),
  'p32-certification': one({ type: TYPE.certification }),
  'p33-five-seconds-ahead': one({ atMs: NOW_MS + 5000 }),
  'p33-299-seconds-ahead': one({ atMs: NOW_MS + 299_000 }),
  'p33-an-hour-ahead': one({ atMs: NOW_MS + 3_600_000 }),
  'p34-expired': one({ atMs: NOW_MS - DAY_MS, hashed: [expiresAfter(3600)] }),
  'p34-before-key': one({ atMs: alice.primary.createdMs - 1000 }),
  'p35-revoked-hard': one({ atMs: NOW_MS - 2 * DAY_MS }),
  'p35-retired-before': one({ atMs: NOW_MS - 2 * DAY_MS }),
  'p35-retired-after': one(),
  'p36-critical-notation': one({ hashed: [notation('x@example.org', 'y', true)] }),
  'p36-notation': one({ hashed: [notation('x@example.org', 'y')] }),
  'p36-critical-subpacket': one({ hashed: [subpacket(101, concat(1), true)] }),
  'p37-for-us': one({ hashed: [intendedRecipient(bots)] }),
  'p37-for-us-critical': one({ hashed: [intendedRecipient(bots, true)] }),
  'p37-for-somebody-else': one({ hashed: [intendedRecipient(mallorys)] }),
  'p37-for-several': one({ hashed: [intendedRecipient(mallorys), intendedRecipient(bots)] }),
  'p37-not-hashed': one({
    unhashed: [issuer(alice.primary.fingerprint), intendedRecipient(mallorys)],
  }),
  'issuer-lies': one({ signer: { ...mallory.primary, fingerprint: alice.primary.fingerprint } }),
  'issuer-missing': one({ unhashed: [] }),
  'issuer-hashed': one({ unhashed: [], hashed: [issuerFingerprint(alice.primary.fingerprint)] }),
  'unhashed-date': one({
    undated: true,
    unhashed: [subpacket(2, concat('697e9780')), issuer(alice.primary.fingerprint)],
  }),
  'subkey-without-consent': one({ signer: mallory.primary }),
}
