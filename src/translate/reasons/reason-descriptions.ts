import type { Reason, Verdict } from '../../kernel/index.ts'

interface ReasonDescription {
  /** Verdicts that it stands beside. */
  with: readonly Verdict[]
  /** What it means. */
  what: string
  /** What an operator can do. */
  hint: string
}

const ASK_AGAIN = 'ask the person to write again; `postern open` shows what it makes of a copy'
const BROKEN_APP = 'tell whoever makes the sender’s app; no common program writes it so'
const LESS = 'ask the person to write less at once'
const FORGED = 'treat it as forged'

/**
 * Every reason that can stand beside a verdict: in `postern.reason`, in the log and in `postern
 * explain`. The compiler asks for each and refuses any other; the table in this folder's README is made from it.
 */
export const REASON_DESCRIPTIONS = {
  'shared-certificate': {
    with: ['verified'],
    what: 'signed with a certificate that several people are listed with',
    hint: '`postern trust accept` or `trust verify` names whose it is',
  },
  'signed-long-before': {
    with: ['verified'],
    what: 'signed more than 72 hours before the date of its Message; withheld under `open.verify: require`',
    hint: 'ask the person whether they wrote it then: somebody may have held the words back',
  },
  'former-certificate': {
    with: ['verified'],
    what: 'signed before the person’s certificate was seen to change, with the one before it (for 72 hours)',
    hint: 'ask the person whether they changed it; a revoked one verifies nothing, and `postern trust verify` ends it at once',
  },
  'readable-chat': {
    with: ['unsigned'],
    what: 'somebody’s armored words in a readable chat, delivered unchanged',
    hint: 'nothing',
  },
  'no-from': {
    with: ['unknown-signer'],
    what: 'nobody is named as its sender',
    hint: 'nothing; treat it as nobody’s words',
  },
  blocked: {
    with: ['unknown-signer'],
    what: 'you blocked this person',
    hint: 'nothing; `postern trust accept` or `trust verify` ends it',
  },
  'key-changed': {
    with: ['unknown-signer'],
    what: 'the service lists another certificate for the person than before',
    hint: 'ask the person for their fingerprint, then `postern trust accept` or `trust verify`',
  },
  'not-accepted': {
    with: ['unknown-signer'],
    what: 'the policy is `pinned`, and you have not accepted this person',
    hint: '`postern trust accept` or `postern trust verify`',
  },
  'own-key': {
    with: ['unknown-signer'],
    what: 'the sender lists a key of the bot’s as their own',
    hint: 'the person must publish a key of their own; treat it as forged',
  },
  'other-person': {
    with: ['unknown-signer', 'bad-signature'],
    what: 'it is by, or under the certificate of, somebody who is not its person',
    hint: '`postern chat list` shows whose a private chat is, `postern chat bind` says so, `postern chat correct-kind` takes back that a group is private; `postern trust list` shows whose a certificate is',
  },
  'audience-unavailable': {
    with: ['signer-unavailable'],
    what: 'the service would not say who is in the chat just then',
    hint: '`postern status` says how the service answers; ask the person to write again',
  },
  'stopped-signing': {
    with: ['bad-signature'],
    what: 'nobody signed it, and this person has signed before',
    hint: 'treat it as forged; if the person’s app really stopped signing, `postern trust accept` lets them begin anew',
  },
  'must-sign': {
    with: ['bad-signature'],
    what: 'nobody signed it, and you verified this person',
    hint: 'treat it as forged; whom you verified must sign, and `postern trust accept` does not change that',
  },
  unsigned: {
    with: ['bad-signature'],
    what: 'it claims to be the bot’s, and nobody signed it',
    hint: FORGED,
  },
  'other-chat': {
    with: ['replayed'],
    what: 'it stands in an update of another chat than its own',
    hint: 'nothing, where the service lets people quote across chats; else treat it as forged',
  },
  'other-audience': {
    with: ['replayed'],
    what: 'it was sealed to, or signed for, others than the people of this chat, or its sender is not one of them',
    hint: 'treat it as moved from another chat; if the people’s apps do not seal to the whole group, set `open.audience: off`',
  },
  'not-for-all': {
    with: ['verified'],
    what: 'its signature leaves out somebody who reads the chat now: somebody listed since, or with an uncommon key',
    hint: 'have the bot repeat nothing of it where that matters; `postern trust log` says who was listed when',
  },
  'own-words': {
    with: ['replayed'],
    what: 'the bot’s own words, brought as a new message',
    hint: FORGED,
  },
  'confirmed-before': {
    with: ['replayed'],
    what: 'the bot has confirmed this update, and the service gives it once more',
    hint: 'nothing if the service was restored from a copy; else treat it as forged',
  },
  'older-than-memory': {
    with: ['replayed'],
    what: 'its signature is older than what is remembered (30 days), or from a time that a restored store does not know',
    hint: 'ask the person to write again',
  },
  'other-data-before': {
    with: ['replayed'],
    what: 'another file was opened under this id before',
    hint: FORGED,
  },
  'intended-for-others': {
    with: ['not-recipient'],
    what: 'its signature names others than the bot as its recipients',
    hint: 'treat it as moved from elsewhere; if the person’s app has an old key of the bot’s that you kept, `postern key import --retired` brings it back',
  },
  'too-many-anonymous': {
    with: ['not-recipient'],
    what: 'it is sealed to more recipients without names than are tried',
    hint: BROKEN_APP,
  },
  'no-message-id': {
    with: ['damaged'],
    what: 'the service gave it no id, so that it could come again and again',
    hint: 'tell whoever runs the service',
  },
  'not-a-string': {
    with: ['damaged'],
    what: 'its `armored` is no text',
    hint: 'tell whoever runs the service',
  },
  'not-encrypted': {
    with: ['damaged'],
    what: 'its `armored` holds no encrypted message',
    hint: ASK_AGAIN,
  },
  armor: {
    with: ['damaged', 'too-large'],
    what: 'its armor is broken, or longer than is read',
    hint: ASK_AGAIN,
  },
  header: { with: ['damaged'], what: 'a packet begins with what is none', hint: ASK_AGAIN },
  length: { with: ['damaged'], what: 'a packet is cut short', hint: ASK_AGAIN },
  'packet-length': {
    with: ['damaged'],
    what: 'a packet is longer than its kind may be',
    hint: BROKEN_APP,
  },
  indeterminate: {
    with: ['damaged'],
    what: 'a packet without a length where it needs one',
    hint: BROKEN_APP,
  },
  'partial-count': {
    with: ['damaged'],
    what: 'a packet in more chunks than are read',
    hint: BROKEN_APP,
  },
  'partial-length': {
    with: ['damaged'],
    what: 'a packet in chunks shorter than the standard allows',
    hint: BROKEN_APP,
  },
  'partial-tag': {
    with: ['damaged'],
    what: 'a packet in chunks whose kind may have none',
    hint: BROKEN_APP,
  },
  'too-many-packets': {
    with: ['damaged'],
    what: 'it holds more packets than are read',
    hint: FORGED,
  },
  'too-many-signatures': {
    with: ['damaged'],
    what: 'it holds more signatures than are read',
    hint: FORGED,
  },
  structure: {
    with: ['damaged'],
    what: 'its packets are in no order that is a message',
    hint: ASK_AGAIN,
  },
  'no-data': {
    with: ['damaged'],
    what: 'it names recipients and holds nothing for them',
    hint: ASK_AGAIN,
  },
  'trailing-data': {
    with: ['damaged'],
    what: 'something follows the encrypted data',
    hint: ASK_AGAIN,
  },
  'container-version': {
    with: ['damaged'],
    what: 'its encrypted data is of a version that is not read',
    hint: BROKEN_APP,
  },
  decryption: {
    with: ['damaged'],
    what: 'a key of the bot’s was to open it and did not, or its integrity check failed',
    hint: ASK_AGAIN,
  },
  compression: {
    with: ['damaged'],
    what: 'what is compressed in it cannot be unpacked',
    hint: ASK_AGAIN,
  },
  literal: {
    with: ['damaged'],
    what: 'the packet that holds its text cannot be read',
    hint: ASK_AGAIN,
  },
  'one-pass': {
    with: ['damaged'],
    what: 'its signatures are not the ones that it announces',
    hint: ASK_AGAIN,
  },
  'is-a-file': {
    with: ['damaged'],
    what: 'it was sealed as a file, under a name, and stands in the place of words',
    hint: 'treat it as forged: somebody may have put in a file of the person; where their app seals words so, tell whoever makes it',
  },
  encoding: { with: ['damaged'], what: 'its text is no UTF-8', hint: ASK_AGAIN },
  deadline: {
    with: ['damaged'],
    what: 'opening it took longer than is waited for',
    hint: 'ask the person to write again; where it happens often, give the machine more CPU',
  },
  failed: {
    with: ['damaged'],
    what: 'opening it failed inside Postern',
    hint: 'the log of the sidecar shows what led to it',
  },
  'too-many-messages': {
    with: ['too-large'],
    what: 'its update holds more messages than are looked at',
    hint: FORGED,
  },
  recipients: { with: ['too-large'], what: 'it has more recipients than are read', hint: FORGED },
  text: { with: ['too-large'], what: 'its text is longer than is read', hint: LESS },
  decompressed: { with: ['too-large'], what: 'it unpacks to more than is read', hint: FORGED },
  file: {
    with: ['too-large'],
    what: 'the file inside is larger than Postern opens',
    hint: 'ask for a file of at most 64 MiB',
  },
  form: {
    with: ['too-large'],
    what: 'the file’s form costs more memory to open than is given to it',
    hint: 'ask the person to send the file again from another app',
  },
} as const satisfies Readonly<Record<Reason, ReasonDescription>>

/** @returns null for a reason of another version */
export function describeReason(reason: string): Readonly<ReasonDescription> | null {
  return Object.hasOwn(REASON_DESCRIPTIONS, reason) ? REASON_DESCRIPTIONS[reason as Reason] : null
}
