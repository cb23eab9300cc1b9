/**
 * The service's statements about people that an operator must not miss, each with a hint. The table
 * of this folder's README and the metric `postern_trust_alarms_total` are made from it.
 */
export const TRUST_ALARMS = {
  'verified-changed': {
    what: 'the service lists another certificate, or none, for a person whom you verified',
    hint: 'ask the person; `postern trust verify` takes a new fingerprint, until then nothing is sealed to them',
  },
  'pinned-changed': {
    what: 'somebody’s certificate changed where the policy is `pinned`',
    hint: 'ask the person, then `postern trust accept` or `verify`; until then nothing is sealed to them there',
  },
  'first-use-changed': {
    what: 'somebody’s certificate changed where the policy is `first-use`',
    hint: 'ask the person, then `postern trust accept`, `verify` or `block`, before `trust.after` has passed',
  },
  'certification-revoked': {
    what: 'an authority revoked its certification of somebody’s certificate',
    hint: 'ask the person, then `postern trust verify` or `block`',
  },
  'shared-certificate': {
    what: 'the service lists one certificate for several people',
    hint: 'ask them whose it is; `postern trust accept` or `trust verify` names its owner, and the others get nothing under it',
  },
  'own-key-listed': {
    what: 'the service lists the bot’s own certificate or subkey for a person',
    hint: 'nothing is sealed to them; ask the person to publish their own key, and `postern trust block` them if they do not',
  },
  'list-contradicts': {
    what: 'the key list of a chat says what no honest service can',
    hint: 'nothing is sealed by it; `postern trust log` says what it was',
  },
  'list-shrank': {
    what: 'within a day, the key list of a chat lost half of its people or more',
    hint: 'ask in the chat whether they left; who is not listed cannot read what the bot says, and `postern trust log` names them',
  },
  'kind-tightened': {
    what: 'the service shows a chat as one of a stricter kind than before, such as a group as private',
    hint: 'the stricter kind counts; if the service was wrong, run `postern chat correct-kind`',
  },
  stranger: {
    what: 'in a private chat, the service shows somebody else than its person',
    hint: 'nothing is sealed to them, and their words are withheld; if Postern learned the wrong person first, run `postern chat bind`',
  },
} as const satisfies Record<string, { what: string; hint: string }>

/** The code of an alarm, which an alert and the metric carry. */
export type TrustAlarm = keyof typeof TRUST_ALARMS

export const TRUST_ALARM_CODES = Object.keys(TRUST_ALARMS) as TrustAlarm[]
