/** The rows of the catalogue on OpenPGP: SECURITY, 3.3 and 3.4, as in `catalogue.test.ts`. */
import { testChapters, vector, type Row } from '../support/catalogue.ts'

const MESSAGES: Record<string, Row> = {
  P1: [vector('p01-checksum-wrong')],
  P2: [vector('p02-checksum-missing', 'p02-crlf', 'p02-trailing-spaces')],
  P3: [vector('p03-text-before', 'p03-text-after', 'p03-two-blocks', 'p03-end-of-other-type')],
  P4: [vector('p04-no-empty-line', 'p04-no-end', 'p04-bad-base64', 'p04-line-missing')],
  P5: [vector('p05-largest', 'p05-too-large'), ['bounds/recipient-flood', 'too-large: armor']],
  P6: [vector('p06-marker', 'p06-padding', 'p06-unknown-tag')],
  P7: [vector('p07-critical-tag')],
  P8: [vector('p08-version-23', 'p08-version-6')],
  P9: [
    vector('p09-flood'),
    ['bounds/recipient-flood', '950 other recipients beside the bot opens'],
  ],
  P10: [
    vector('p10-anonymous-flood'),
    ['bounds/anonymous-flood', '950 anonymous recipients are refused'],
  ],
  P11: [vector('p11-anonymous', 'p11-anonymous-retained')],
  P12: [vector('p12-password-only', 'p12-argon2')],
  P13: [vector('p13-unprotected', 'p13-downgraded')],
  P14: [
    vector('p14-bit-flipped', 'p14-no-hash', 'p14-truncated'),
    ['openpgp/crypto/seipd', 'opens neither streamed nor whole'],
  ],
  P15: [vector('p15-version-7', 'p15-aead-draft')],
  P16: [vector('p16-version-2')],
  P17: [
    ['openpgp/format/encrypted-message', 'a version 6 PKESK packet'],
    ['openpgp/library/secret-key', 'a key of version 6'],
  ],
  P18: [vector('p18-two-containers', 'p18-recipient-after', 'p18-zero-octet')],
  P19: [vector('p19-cleartext-signed', 'p19-public-key', 'p19-private-key')],
  P20: [
    vector('p20-compressed-bomb'),
    ['bounds/bombs', 'a compression bomb outside an encrypted message'],
  ],
  P21: [
    vector('p21-zip-bomb', 'p21-bzip2-bomb'),
    ['bounds/bombs', 'a sealed compression bomb is `too-large`'],
  ],
  P22: [vector('p22-long-text'), ['bounds/bombs', 'is cut to 4000']],
  P23: [vector('p23-nested', 'p23-empty', 'p23-padded')],
  P24: [vector('p24-unknown-algorithm', 'p24-truncated')],
  P25: [vector('p25-encrypted-inside')],
  P26: [vector('p26-two-literals', 'p26-literal-before', 'p26-no-signature', 'p26-no-one-pass')],
  P27: [vector('p27-valid')],
  P28: [
    vector('p28-other-member', 'signer-other-member'),
    ['translate/signers', 'twelve forged signatures cause fewer'],
  ],
  P29: [vector('p29-two', 'p29-bad-and-valid', 'p29-four-hundred')],
  P30: [vector('p30-other-words')],
  P31: [vector('p31-sha1', 'p31-md5', 'p31-rsa-1024')],
  P32: [vector('p32-standalone', 'p32-timestamp', 'p32-certification')],
  P33: [
    vector('p33-five-seconds-ahead', 'p33-299-seconds-ahead', 'p33-an-hour-ahead'),
    vector('clock-within', 'clock-beyond'),
  ],
  P34: [vector('p34-expired'), ['translate/signers', 'older than the memory of 30 days']],
  P35: [vector('p35-revoked-hard', 'p35-retired-before', 'p35-retired-after')],
  P36: [vector('p36-critical-notation', 'p36-critical-subpacket', 'p36-notation')],
  P37: [vector('p37-for-somebody-else', 'p37-for-us', 'p37-for-several', 'signer-for-others')],
  P38: [vector('p38-signature-first')],
  P39: [vector('p39-signed-around-compressed')],
  P40: [vector('p40-format-b', 'p40-format-t', 'p40-format-z')],
  P41: [vector('p41-not-utf8', 'p41-utf16', 'p41-byte-order-mark')],
  P42: [vector('p42-controls'), ['translate/text-rules', 'has the readable shape']],
  P43: [vector('p43-empty')],
  P44: [vector('p44-file-name', 'p44-file-name-long')],
  P45: [['translate/shape', 'an opened text that is a sealed message is not opened again']],
  P46: [
    vector('replay', 'replay-elsewhere', 'delivered-again'),
    ['kernel/opening/replays', 'that is requested again is delivered again', 'are replayed'],
  ],
  P47: [
    vector('plain', 'plain-in-group', 'before-key'),
    ['translate/verdicts', 'plaintext-in-protected'],
    ['translate/readable-groups', 'armor in a readable group is delivered unchanged'],
  ],
  P48: [['translate/readable-groups', 'a message with text and armored']],
  P49: [
    ['kernel/opening/find-messages', 'field of any update, and changes nothing else'],
    ['bounds/odd-answers', 'U8 an update of an unknown kind'],
  ],
}

const CERTIFICATES: Record<string, Row> = {
  C1: [
    vector('c1-expired', 'c1-an-hour-ahead', 'c1-five-seconds-ahead', 'c1-revoked-0', 'c1-sha1'),
    vector('c1-no-subkey', 'c1-signing-subkey', 'c1-no-user-id', 'c1-rsa-1024', 'c1-elgamal'),
    vector('c1-version-3', 'c1-version-6', 'c1-revoked-1', 'c1-revoked-2', 'c1-revoked-3'),
    vector('c1-expired-direct', 'c1-expired-subkey', 'c1-revoked-subkey', 'c1-rsa-1024-subkey'),
    ['guard/recipients', 'named in answer and log, and refused alone'],
  ],
  C2: [['bounds/costly-keys', 'reaches the others and names the skipped people']],
  C3: [['kernel/people/observe', 'a record with another certificate’s fingerprint is no listing']],
  C4: [
    vector('c4-two-certificates', 'c4-secret-key', 'c4-message', 'c4-junk', 'c4-too-long'),
    vector('c4-many-user-ids', 'c4-bogus-self-signatures'),
    ['bounds/many-signatures', 'a certificate with 450 false signatures'],
  ],
  C5: [vector('c5-grafted', 'c5-grafted-alone')],
  C6: [
    vector('c6-stripped', 'revocation-left-out', 'revocation-signer'),
    ['trust/key-changed', 'a revoked certificate stays unusable'],
  ],
  C7: [vector('c7-rsa-16384'), ['bounds/costly-keys', 'giant(16_384']],
  C8: [
    vector('list-two-people', 'key-of-another'),
    ['kernel/people/recipients', 'a shared subkey is sealed to once', 'is skipped as `own-key`'],
    ['guard/claims', 'a copy of a person’s certificate', 'under several primary keys'],
    vector('list-two-keys', 'list-names-bot', 'list-two-in-private'),
    ['guard/recipients', 'a contradictory key list'],
    ['guard/private-person', 'key list with another person is refused under every policy'],
    ['kernel/people/recipients', 'as many keys as members'],
  ],
  C9: [
    ['openpgp/size', 'one more exceeds it'],
    ['guard/limits', 'is refused with the number of'],
  ],
}

testChapters([
  ['3.3 OpenPGP messages', 'P', 49, MESSAGES],
  ['3.4 certificates', 'C', 9, CERTIFICATES],
])
