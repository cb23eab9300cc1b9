import type { Reason, Verdict } from '../../kernel/index.ts'

interface ReasonDescription {
  /** The verdicts that the reason may accompany. */
  with: readonly Verdict[]
  /** Its meaning. */
  what: string
  /** The operator's options. */
  hint: string
}

const beside =
  (...verdicts: Verdict[]) =>
  (what: string, hint: string): ReasonDescription => ({ with: verdicts, what, hint })

const verified = beside('verified')
const unknownSigner = beside('unknown-signer')
const badSignature = beside('bad-signature')
const replayed = beside('replayed')
const damaged = beside('damaged')
const tooLarge = beside('too-large')

const ASK_AGAIN = 'ask the person to write again; `postern open` shows what it makes of a copy'
const BROKEN_APP = 'tell whoever makes the sender’s app; no common program writes it so'
const LESS = 'ask the person to write less at once'
const FORGED = 'treat it as forged'

/**
 * Every reason that may accompany a verdict: in `postern.reason`, in the log and in `postern
 * explain`. `npm run readme` makes the table in the README of this folder from these.
 */
export const REASON_DESCRIPTIONS: Readonly<Record<Reason, Readonly<ReasonDescription>>> = {
  'shared-certificate': verified(
    'signed with a certificate that several people are listed with',
    '`postern trust accept` or `trust verify` names whose it is',
  ),
  'signed-long-before': verified(
    'signed more than 72 hours before the date of its Message; withheld under `open.verify: require`',
    'ask the person whether they wrote it then: somebody may have held the words back',
  ),
  'former-certificate': verified(
    'signed before the person’s certificate was seen to change, with the one before it (for 72 hours)',
    'ask the person whether they changed it; a revoked one verifies nothing, and `postern trust verify` ends it at once',
  ),
  'readable-chat': beside('unsigned')(
    'somebody’s armored words in a readable chat, delivered unchanged',
    'nothing',
  ),
  'no-from': unknownSigner('nobody is named as its sender', 'nothing; treat it as nobody’s words'),
  blocked: unknownSigner(
    'you blocked this person',
    'nothing; `postern trust accept` or `trust verify` ends it',
  ),
  'key-changed': unknownSigner(
    'the service lists another certificate for the person than before',
    'ask the person for their fingerprint, then `postern trust accept` or `trust verify`',
  ),
  'not-accepted': unknownSigner(
    'the policy is `pinned`, and you have not accepted this person',
    '`postern trust accept` or `postern trust verify`',
  ),
  'own-key': unknownSigner(
    'the sender lists a key of the bot’s as their own',
    'the person must publish a key of their own; treat it as forged',
  ),
  'other-person': beside('unknown-signer', 'bad-signature')(
    'it is by, or under the certificate of, somebody who is not its person',
    '`postern chat list` shows whose a private chat is, `postern chat bind` says so, `postern chat correct-kind` takes back that a group is private; `postern trust list` shows whose a certificate is',
  ),
  'audience-unavailable': beside('signer-unavailable')(
    'the service would not say who is in the chat just then',
    '`postern status` says how the service answers; ask the person to write again',
  ),
  'stopped-signing': badSignature(
    'nobody signed it, and this person has signed before',
    'treat it as forged; if the person’s app really stopped signing, `postern trust accept` lets them begin anew',
  ),
  'must-sign': badSignature(
    'nobody signed it, and you verified this person',
    'treat it as forged; whom you verified must sign, and `postern trust accept` does not change that',
  ),
  'signed-ahead': badSignature(
    'the sender signed it, more than 5 minutes ahead of our clock',
    'set this machine’s clock; if it is right, the person’s device has a wrong one',
  ),
  'signature-expired': badSignature(
    'the sender signed it, until a time that has passed',
    'ask the person to write again',
  ),
  'weak-hash': badSignature(
    'the sender signed it over a hash that proves nothing any more',
    'ask the person to update their app, or to set SHA-512 in it',
  ),
  'unknown-critical': badSignature(
    'the sender signed it under a condition that Postern does not know',
    BROKEN_APP,
  ),
  'unknown-form': badSignature(
    'it is signed in a form that Postern does not read: another version, no date, or no name of a key',
    BROKEN_APP,
  ),
  'not-valid-then': badSignature(
    'the sender’s key signed it, dated before that key was made',
    'ask the person to set the clock of their device, and to write again',
  ),
  'may-not-sign': badSignature(
    'a key of the sender’s signed it that by its owner’s word signs no messages',
    'ask the person to let their app sign with another key, or to publish the certificate anew',
  ),
  'key-expired': badSignature(
    'the sender signed it, and that key has expired since',
    'the person must extend its validity and publish it again',
  ),
  'key-revoked': badSignature(
    'a key signed it that the sender revoked',
    'ask the person for their new certificate',
  ),
  'key-unusable': badSignature(
    'a key of the sender’s signed it whose certificate does not count as it is',
    '`postern trust show` says why; the person must publish it anew',
  ),
  unsigned: badSignature('it claims to be the bot’s, and nobody signed it', FORGED),
  'other-chat': replayed(
    'it stands in an update of another chat than its own',
    'nothing, where the service lets people quote across chats; else treat it as forged',
  ),
  'other-audience': replayed(
    'it was sealed to, or signed for, others than the people of this chat, or its sender is not one of them',
    'treat it as moved from another chat; if the people’s apps do not seal to the whole group, set `open.audience: off`',
  ),
  'not-for-all': verified(
    'its signature leaves out somebody who reads the chat now: somebody listed since, or with an uncommon key',
    'have the bot repeat nothing of it where that matters; `postern trust log` says who was listed when',
  ),
  'own-words': replayed('the bot’s own words, brought as a new message', FORGED),
  'confirmed-before': replayed(
    'the bot has confirmed this update, and the service gives it once more',
    'nothing if the service was restored from a copy; else treat it as forged',
  ),
  'older-than-memory': replayed(
    'its signature is older than what is remembered (30 days), or from a time that a restored store does not know',
    'ask the person to write again',
  ),
  'other-data-before': replayed('another file was opened under this id before', FORGED),
  'approval-request': beside('not-recipient')(
    'it asks a person for a word on a call, or answers or quotes such a request: it is between that person and Postern',
    'nothing; `postern approve list` shows what is asked',
  ),
  'intended-for-others': beside('not-recipient')(
    'its signature names others than the bot as its recipients',
    'treat it as moved from elsewhere; if the person’s app has an old key of the bot’s that you kept, `postern key import --retired` brings it back',
  ),
  'too-many-anonymous': beside('not-recipient')(
    'it is sealed to more recipients without names than are tried',
    'ask the person to name the recipients, or to seal to fewer of them at once',
  ),
  'no-message-id': damaged(
    'the service gave it no id, so that it could come again and again',
    'tell whoever runs the service',
  ),
  'not-a-string': damaged('its `armored` is no text', 'tell whoever runs the service'),
  'not-encrypted': damaged('its `armored` holds no encrypted message', ASK_AGAIN),
  armor: beside('damaged', 'too-large')('its armor is broken, or longer than is read', ASK_AGAIN),
  header: damaged('a packet begins with what is none', ASK_AGAIN),
  length: damaged('a packet is cut short', ASK_AGAIN),
  'packet-length': damaged('a packet is longer than its kind may be', BROKEN_APP),
  indeterminate: damaged('a packet without a length where it needs one', BROKEN_APP),
  'partial-count': damaged('a packet in more chunks than are read', BROKEN_APP),
  'partial-length': damaged(
    'a packet whose first chunk is shorter than the standard allows',
    BROKEN_APP,
  ),
  'partial-tag': damaged('a packet in chunks whose kind may have none', BROKEN_APP),
  'too-many-packets': damaged('it holds more packets than are read', FORGED),
  'too-many-signatures': damaged('it holds more signatures than are read', FORGED),
  structure: damaged('its packets are in no order that is a message', ASK_AGAIN),
  'no-data': damaged('it names recipients and holds nothing for them', ASK_AGAIN),
  'trailing-data': damaged('something follows the encrypted data', ASK_AGAIN),
  'container-version': damaged('its encrypted data is of a version that is not read', BROKEN_APP),
  decryption: damaged(
    'a key of the bot’s was to open it and did not, or its integrity check failed',
    ASK_AGAIN,
  ),
  cipher: damaged(
    'its cipher is none that is read: IDEA, or one that the standard does not list',
    BROKEN_APP,
  ),
  compression: damaged('what is compressed in it cannot be unpacked', ASK_AGAIN),
  literal: damaged('the packet that holds its text cannot be read', ASK_AGAIN),
  'one-pass': damaged('its signatures are not the ones that it announces', ASK_AGAIN),
  'is-a-file': damaged(
    'it was sealed as a file, under a name, and stands in the place of words',
    'treat it as forged: somebody may have put in a file of the person; where their app seals words so, tell whoever makes it',
  ),
  encoding: damaged('its text is no UTF-8', ASK_AGAIN),
  deadline: beside('damaged', 'bad-signature')(
    'opening or verifying it took longer than is waited for',
    'ask the person to write again; where it happens often, give the machine more CPU',
  ),
  failed: beside('damaged', 'bad-signature')(
    'opening or verifying it failed inside Postern',
    'the log of the sidecar shows what led to it',
  ),
  'too-many-messages': tooLarge('its update holds more messages than are looked at', FORGED),
  recipients: tooLarge('it has more recipients than are read', FORGED),
  text: tooLarge('its text is longer than is read', LESS),
  decompressed: tooLarge('it unpacks to more than is read', FORGED),
  file: tooLarge(
    'the file inside is larger than Postern opens',
    'ask for a file of at most 64 MiB',
  ),
  form: tooLarge(
    'the file’s form costs more memory to open than is given to it',
    'ask the person to send the file again from another app',
  ),
}

/** @returns null for a reason of another version */
export const describeReason = (reason: string): Readonly<ReasonDescription> | null =>
  Object.hasOwn(REASON_DESCRIPTIONS, reason) ? REASON_DESCRIPTIONS[reason as Reason] : null
