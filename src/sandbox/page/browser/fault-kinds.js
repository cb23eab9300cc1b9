/** Who would notice each fault, in a sentence. */

/** @type {Record<import('../../faults/table.ts').FaultName, string>} */
export const NOTICED = {
  'lost-answer':
    'Nobody, where the sidecar asks again under the same key; else the message is there twice.',
  'half-answer': 'Nobody, as long as the next try gets through.',
  error: 'The bot, which gets the error; for 429 and 503 the sidecar waits and tries again first.',
  cut: 'The bot, once the sidecar has tried a few times.',
  hang: 'The bot, when the sidecar’s time for an answer is over.',
  delay: 'Whoever waits for the answer.',
  html: 'The bot gets an error of the sidecar that names it.',
  redirect: 'The bot gets an error of the sidecar that names it.',
  answer: 'Whoever relies on the answer.',
  'slow-body': 'The bot, when the sidecar’s time for an answer is over.',
  'giant-body': 'The bot gets an error of the sidecar, which reads no answer of that size.',
  'invalid-json': 'The bot gets an error of the sidecar; what it asked for was done.',
  'keep-confirmed':
    'Nobody with a sidecar, which gives each to the bot once; a bot without one sees them twice.',
  'late-key': 'People who write meanwhile: the sidecar waits until its key is there.',
  'claim-mode':
    'The bot, whose readable words for an encrypted chat are refused; the page shows the claim.',
  'claim-kind': 'The bot, which may look for members where there are none.',
  'claim-limits': 'The bot, whose polls and texts the sidecar judges by these limits.',
  'claim-unprotected':
    'Operators: the sidecar is not ready, says why, and sends nothing readable meanwhile.',
  'claim-fingerprint':
    'Operators: the sidecar is not ready and says that the key is not the bot’s.',
  'swap-key':
    'The bot and operators, who are told that the key changed; the person cannot read the answer.',
  ghost: 'The bot, whose answer is refused, since list and members differ.',
  'hide-key': 'The bot, which is told whom its answer skipped, or that it is refused.',
}
