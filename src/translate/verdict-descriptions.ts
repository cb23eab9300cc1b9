import type { Verdict } from './verdict.ts'

/** What each verdict means, and what an operator can do; for `postern explain`. */
export const VERDICT_DESCRIPTIONS: Readonly<Record<Verdict, { what: string; hint: string }>> = {
  verified: {
    what: 'signed by the sender',
    hint: 'nothing; with the reason `shared-certificate`, `postern trust accept` or `trust verify` names whose the certificate is',
  },
  unsigned: { what: 'nobody signed it, and this person never has', hint: 'nothing' },
  'before-key': {
    what: 'private words from before the bot’s first key',
    hint: 'nothing; it ends 72 hours after the first publication',
  },
  'unknown-signer': {
    what: 'there is no certificate of the sender’s that is believed',
    hint: 'with a reason: `postern trust list` and `postern trust accept`; without: the person must publish a key',
  },
  'signer-unavailable': {
    what: 'the sender’s certificate could not be had from the service just then',
    hint: '`postern status` says how the service answers; ask the person to write again',
  },
  'bad-signature': {
    what: 'signed by somebody else, or not at all by somebody who must sign',
    hint: 'treat it as forged; if the person’s app really stopped signing, `postern trust accept` lets them begin anew (whom you verified must sign in any case)',
  },
  replayed: {
    what: 'this data or this signature was seen before as another message, or is too old to tell',
    hint: 'treat it as forged',
  },
  'plaintext-in-protected': {
    what: 'readable words in a chat that must be encrypted',
    hint: 'treat it as forged; if the chat really became readable, `postern chat allow-readable`',
  },
  'not-recipient': {
    what: 'it was sealed for others',
    hint: 'nothing, in a group with privacy mode; else the person’s app has an old key of the bot’s',
  },
  damaged: {
    what: 'it is no message that can be opened',
    hint: 'ask the person to write again; `postern open` shows what it makes of a copy',
  },
  'too-large': {
    what: 'it is larger, or costs more, than Postern opens',
    hint: 'ask the person to write less at once',
  },
  locked: {
    what: 'it could not be opened, or not be recorded as seen',
    hint: '`postern status` says why; free space on the disk of dataDir',
  },
  'mode-unknown': {
    what: 'the service would not say whether the chat is encrypted',
    hint: '`postern status` says how the service answers; ask the person to write again',
  },
}

/** What a reason beside a verdict means, and what an operator can do, where it says more than that. */
export const REASON_DESCRIPTIONS: Readonly<Record<string, { what: string; hint: string }>> = {
  'other-chat': {
    what: 'it stands in an update of another chat than its own',
    hint: 'nothing, where the service lets people quote across chats; else treat it as forged',
  },
  'other-audience': {
    what: 'it was sealed to others than the people of this chat',
    hint: 'treat it as moved from another chat; if the people’s apps do not seal to the whole group, set `open.audience: off`',
  },
  'audience-unavailable': {
    what: 'the service would not say who is in the chat just then',
    hint: '`postern status` says how the service answers; ask the person to write again',
  },
  'own-words': {
    what: 'the bot’s own words, brought as a new message',
    hint: 'treat it as forged',
  },
  'other-person': {
    what: 'it is by, or under the certificate of, somebody who is not its person',
    hint: '`postern chat list` shows whose a private chat is, `postern chat bind` says so; `postern trust list` shows whose a certificate is',
  },
  'other-data-before': {
    what: 'another file was opened under this id before',
    hint: 'treat it as forged',
  },
  'older-than-memory': {
    what: 'its signature is older than what is remembered, or from a time that a restored store does not know',
    hint: 'ask the person to write again',
  },
  'own-key': {
    what: 'the sender lists a key of the bot’s as their own',
    hint: 'the person must publish a key of their own; treat it as forged',
  },
  'must-sign': {
    what: 'nobody signed it, and you verified this person',
    hint: 'treat it as forged; whom you verified must sign, and `postern trust accept` does not change that',
  },
  'stopped-signing': {
    what: 'nobody signed it, and this person has signed before',
    hint: 'treat it as forged; if the person’s app really stopped signing, `postern trust accept` lets them begin anew',
  },
  blocked: {
    what: 'you blocked this person',
    hint: 'nothing; `postern trust accept` or `trust verify` ends it',
  },
  'key-changed': {
    what: 'the service lists another certificate for the person than before',
    hint: 'ask the person for their fingerprint, then `postern trust accept` or `trust verify`',
  },
  'not-accepted': {
    what: 'the policy is `pinned`, and you have not accepted this person',
    hint: '`postern trust accept` or `postern trust verify`',
  },
  'shared-certificate': {
    what: 'signed with a certificate that several people are listed with',
    hint: '`postern trust accept` or `trust verify` names whose it is',
  },
  'intended-for-others': {
    what: 'its signature names others than the bot as its recipients',
    hint: 'treat it as moved from elsewhere, or the person’s app has an old key of the bot’s',
  },
  'no-from': { what: 'nobody is named as its sender', hint: 'nothing; treat it as nobody’s words' },
  unsigned: { what: 'it claims to be the bot’s, and nobody signed it', hint: 'treat it as forged' },
  'no-message-id': {
    what: 'the service gave it no id, so that it could come again and again',
    hint: 'tell whoever runs the service',
  },
  'not-a-string': {
    what: 'its `armored` is no text',
    hint: 'tell whoever runs the service',
  },
  'too-many-messages': {
    what: 'its update holds more messages than are looked at',
    hint: 'treat it as forged',
  },
  'store-unwritable': {
    what: 'it could not be recorded as seen',
    hint: 'free space on the disk of dataDir; `postern status` says why',
  },
}
