import type { FaultName, FaultOptions } from './table.ts'

/** What a fault does, as the README and the OpenAPI document show it. */
interface FaultDescription {
  does: string
  /** Options of its own, beside those that say when it strikes. */
  options: readonly (keyof FaultOptions)[]
  /** Those without which it would do nothing. */
  needs?: readonly (keyof FaultOptions)[]
}

export const FAULT_DESCRIPTIONS: Record<FaultName, FaultDescription> = {
  cut: { does: 'Closes the connection without handling the request.', options: [] },
  hang: { does: 'Never answers.', options: [] },
  delay: {
    does: 'Waits `delayMs` of real time, then goes on as usual.',
    options: ['delayMs'],
    needs: ['delayMs'],
  },
  error: {
    does: 'Answers with an error: `status` (500), `code` (`internal`), and what else is given.',
    options: ['status', 'code', 'retryAfter', 'retryAfterHeader', 'expected'],
  },
  answer: {
    does: 'Answers with exactly this `status` (200), `headers` and `body`.',
    options: ['status', 'headers', 'body'],
  },
  html: {
    does: 'Answers with an HTML page and `status` (502), as a proxy would.',
    options: ['status'],
  },
  redirect: {
    does: 'Answers with a redirect: `status` (302) to `location`.',
    options: ['status', 'location'],
  },
  'lost-answer': {
    does: 'Handles the request, then closes the connection instead of answering.',
    options: [],
  },
  'half-answer': {
    does: 'Handles the request, and closes the connection after half of the response.',
    options: [],
  },
  'slow-body': {
    does: 'Sends one byte of the response body every `delayMs` (1000).',
    options: ['delayMs'],
  },
  'giant-body': {
    does: 'Appends `bytes` of blanks (64 MiB) to the response body.',
    options: ['bytes'],
  },
  'invalid-json': { does: 'Drops the last character of the response body.', options: [] },
  'keep-confirmed': {
    does: 'Ignores `offset`, so that confirmed updates come again.',
    options: [],
  },
  'late-key': {
    does: 'Answers `PUT /key` at once, and applies it after `delayMs` of the sandbox’s clock.',
    options: ['delayMs'],
    needs: ['delayMs'],
  },
  'claim-mode': {
    does:
      'The service behaves in every way as if `chatId` had `mode` (and `historyVisible`); phones ' +
      'go by the true mode. Lasts until it is cleared.',
    options: ['chatId', 'mode', 'historyVisible'],
    needs: ['chatId'],
  },
  'claim-kind': {
    does: 'Every response shows `chatId` with the kind `kind`.',
    options: ['chatId', 'kind'],
    needs: ['chatId', 'kind'],
  },
  'claim-unprotected': { does: '`/me` claims that the bot has no key.', options: [] },
  'claim-fingerprint': {
    does: '`/me` shows `fingerprint` instead of the bot’s.',
    options: ['fingerprint'],
    needs: ['fingerprint'],
  },
  'swap-key': {
    does: 'Key lists and key records show `publicKey` and `fingerprint` for `userId`.',
    options: ['userId', 'publicKey', 'fingerprint'],
    needs: ['userId', 'publicKey'],
  },
  ghost: {
    does: 'Key lists (of `chatId`) also name `userId` with `publicKey` and `fingerprint`.',
    options: ['chatId', 'userId', 'publicKey', 'fingerprint'],
    needs: ['userId', 'publicKey', 'fingerprint'],
  },
  'hide-key': {
    does: 'Key lists (of `chatId`) leave out `userId`.',
    options: ['chatId', 'userId'],
    needs: ['userId'],
  },
}

/** What a fault lacks so that it would do nothing, as a sentence; null when it lacks nothing. */
export function faultProblem(name: FaultName, options: FaultOptions): string | null {
  const missing = (FAULT_DESCRIPTIONS[name].needs ?? []).filter(
    (need) => options[need] === undefined,
  )
  return missing.length === 0 ? null : `${name} does nothing without ${missing.join(', ')}`
}
