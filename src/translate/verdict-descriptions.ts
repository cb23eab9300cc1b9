import type { Verdict } from '../kernel/index.ts'
import { describeReason } from './reasons/reason-descriptions.ts'

/** The meaning of each verdict, and the operator's options; for `postern explain`. */
export const VERDICT_DESCRIPTIONS: Readonly<Record<Verdict, { what: string; hint: string }>> = {
  verified: { what: 'signed by the sender', hint: 'nothing' },
  unsigned: { what: 'nobody signed it, and this person never has', hint: 'nothing' },
  'before-key': {
    what: 'private words from before the bot’s first key',
    hint: 'nothing; it ends 72 hours after the first publication',
  },
  'unknown-signer': {
    what: 'there is no certificate of the sender’s that is believed',
    hint: 'the person must publish a key',
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
    what: 'it was sealed for others, or to a key of the bot’s that Postern no longer has',
    hint: 'nothing, in a group with privacy mode; else `postern key import --retired` brings a key back that you kept, and the person’s app must learn the bot’s present one',
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
    what: 'it could not be opened, or not be recorded as seen, by a former version',
    hint: 'ask the person to write again; now such a message waits at the service',
  },
  'mode-unknown': {
    what: 'the service would not say whether the chat is encrypted',
    hint: '`postern status` says how the service answers; ask the person to write again',
  },
}

/** By the reason where it has one that is known. @returns null for a verdict of another version */
export function describeVerdict(verdict: string, reason: string | null) {
  const byReason = reason === null ? null : describeReason(reason)
  if (byReason !== null || !Object.hasOwn(VERDICT_DESCRIPTIONS, verdict)) return byReason
  return VERDICT_DESCRIPTIONS[verdict as Verdict]
}
