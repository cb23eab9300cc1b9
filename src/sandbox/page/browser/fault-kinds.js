/** Every fault in a sentence: what it does, who would notice, and which fields it has. */

/**
 * @typedef {import('../../faults/table.ts').FaultName} FaultName
 * @typedef {{ does: string, noticed: string, fields: string[] }} FaultKind
 */

/** Those of a field that names a certificate. */
const CERTIFICATE = ['publicKey', 'fingerprint']

/** @type {Record<FaultName, FaultKind>} */
export const FAULT_KINDS = {
  'lost-answer': kind(
    'The service does what it is asked, and the connection breaks before it answers.',
    'Nobody, where the sidecar asks again under the same key; else the message is there twice.',
  ),
  'half-answer': kind(
    'The service does what it is asked, and the connection breaks in the middle of the answer.',
    'Nobody, as long as the next try gets through.',
  ),
  error: kind(
    'The service refuses the call with the error that you choose.',
    'The bot, which gets the error; for 429 and 503 the sidecar waits and tries again first.',
    ['status', 'code', 'retryAfter', 'retryAfterHeader', 'expected'],
  ),
  cut: kind(
    'The connection breaks before anything is done.',
    'The bot, once the sidecar has tried a few times.',
  ),
  hang: kind(
    'The service takes the call and never answers.',
    'The bot, when the sidecar’s time for an answer is over.',
  ),
  delay: kind('The service answers later than usual.', 'Whoever waits for the answer.', [
    'delayMs',
  ]),
  html: kind(
    'A page of HTML comes instead of an answer, as of a proxy between.',
    'The bot gets an error of the sidecar that names it.',
    ['status'],
  ),
  redirect: kind(
    'The service sends the caller elsewhere. The sidecar does not follow, so that the token stays.',
    'The bot gets an error of the sidecar that names it.',
    ['status', 'location'],
  ),
  answer: kind('The answer is exactly what you write here.', 'Whoever relies on the answer.', [
    'status',
    'headers',
    'body',
  ]),
  'slow-body': kind(
    'The answer comes byte by byte.',
    'The bot, when the sidecar’s time for an answer is over.',
    ['delayMs'],
  ),
  'giant-body': kind(
    'The answer has many megabytes of blanks behind it.',
    'The bot gets an error of the sidecar, which reads no answer of that size.',
    ['bytes'],
  ),
  'invalid-json': kind(
    'The last character of the answer is missing.',
    'The bot gets an error of the sidecar; what it asked for was done.',
  ),
  'keep-confirmed': kind(
    'Updates that the bot confirmed come again.',
    'Nobody with a sidecar, which gives each to the bot once; a bot without one sees them twice.',
  ),
  'late-key': kind(
    'The bot’s new key is taken at once, and shown to others later.',
    'People who write meanwhile: the sidecar waits until its key is there.',
    ['delayMs'],
  ),
  'claim-mode': kind(
    'The service behaves as if a chat had another mode; phones go by the true one.',
    'The bot, whose readable words for an encrypted chat are refused; the page shows the claim.',
    ['chatId', 'mode', 'historyVisible'],
  ),
  'claim-kind': kind(
    'Every answer shows a chat as of another kind.',
    'The bot, which may look for members where there are none.',
    ['chatId', 'kind'],
  ),
  'claim-unprotected': kind(
    'The service says that the bot has published no key.',
    'Operators: the sidecar is not ready, says why, and sends nothing readable meanwhile.',
  ),
  'claim-fingerprint': kind(
    'The service shows another fingerprint as that of the bot.',
    'Operators: the sidecar is not ready and says that the key is not the bot’s.',
    ['fingerprint'],
  ),
  'swap-key': kind(
    'Key lists name another certificate as somebody’s.',
    'The bot and operators, who are told that the key changed; the person cannot read the answer.',
    ['userId', ...CERTIFICATE],
  ),
  ghost: kind(
    'The key list of a chat also names somebody who is not in it, and who would read along.',
    'The bot, whose answer is refused, since list and members differ.',
    ['chatId', 'userId', ...CERTIFICATE],
  ),
  'hide-key': kind(
    'Key lists leave somebody out, who then cannot read.',
    'The bot, which is told whom its answer skipped, or that it is refused.',
    ['chatId', 'userId'],
  ),
}

/** @param {string} does @param {string} noticed @param {string[]} [fields] @returns {FaultKind} */
function kind(does, noticed, fields = []) {
  return { does, noticed, fields }
}
