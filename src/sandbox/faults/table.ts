import { z } from 'zod'
import { ENDPOINTS } from '../../api/endpoints.ts'
import { accountId, botId, chatId, count, flag, text } from '../control/fields.ts'

/** Names of endpoints (src/api/endpoints.ts), and `media`. */
export const FAULT_ROUTES = [...ENDPOINTS.map(({ name }) => name), 'media'] as const
export type FaultRoute = (typeof FAULT_ROUTES)[number]

/** When a fault strikes and what it does, as the README and the OpenAPI document show it. */
interface FaultKind {
  phase: 'before' | 'after' | 'rule' | 'lie'
  does: string
  /** Options of its own, beside those that say when it strikes. */
  options: readonly string[]
  /** Those without which it would do nothing. */
  needs?: readonly string[]
}

/**
 * Every fault by name. `before`: the request is not handled and changes nothing. `after`: the request
 * is handled, and its response is damaged. `rule`: a rule of the service works otherwise. `lie`: a
 * hostile service changes the response.
 */
export const FAULTS = {
  cut: {
    phase: 'before',
    does: 'Closes the connection without handling the request.',
    options: [],
  },
  hang: { phase: 'before', does: 'Never answers.', options: [] },
  delay: {
    phase: 'before',
    does: 'Waits `delayMs` of real time, then goes on as usual.',
    options: ['delayMs'],
    needs: ['delayMs'],
  },
  error: {
    phase: 'before',
    does: 'Answers with an error: `status` (500), `code` (`internal`), and what else is given.',
    options: ['status', 'code', 'retryAfter', 'retryAfterHeader', 'expected'],
  },
  answer: {
    phase: 'before',
    does: 'Answers with exactly this `status` (200), `headers` and `body`.',
    options: ['status', 'headers', 'body'],
  },
  html: {
    phase: 'before',
    does: 'Answers with an HTML page and `status` (502), as a proxy would.',
    options: ['status'],
  },
  redirect: {
    phase: 'before',
    does: 'Answers with a redirect: `status` (302) to `location`.',
    options: ['status', 'location'],
  },
  'lost-answer': {
    phase: 'after',
    does: 'Handles the request, then closes the connection instead of answering.',
    options: [],
  },
  'half-answer': {
    phase: 'after',
    does: 'Handles the request, and closes the connection after half of the response.',
    options: [],
  },
  'slow-body': {
    phase: 'after',
    does: 'Sends one byte of the response body every `delayMs` (1000).',
    options: ['delayMs'],
  },
  'giant-body': {
    phase: 'after',
    does: 'Appends `bytes` of blanks (64 MiB) to the response body.',
    options: ['bytes'],
  },
  'invalid-json': {
    phase: 'after',
    does: 'Drops the last character of the response body.',
    options: [],
  },
  'keep-confirmed': {
    phase: 'rule',
    does: 'Ignores `offset`, so that confirmed updates come again.',
    options: [],
  },
  'late-key': {
    phase: 'rule',
    does: 'Answers `PUT /key` at once, and applies it after `delayMs` of the sandbox’s clock.',
    options: ['delayMs'],
    needs: ['delayMs'],
  },
  'claim-mode': {
    phase: 'rule',
    does:
      'The service behaves in every way as if `chatId` had `mode` (and `historyVisible`); phones ' +
      'go by the true mode. Lasts until it is cleared.',
    options: ['chatId', 'mode', 'historyVisible'],
    needs: ['chatId'],
  },
  'claim-kind': {
    phase: 'lie',
    does: 'Every response shows `chatId` with the kind `kind`.',
    options: ['chatId', 'kind'],
    needs: ['chatId', 'kind'],
  },
  'claim-unprotected': { phase: 'lie', does: '`/me` claims that the bot has no key.', options: [] },
  'claim-fingerprint': {
    phase: 'lie',
    does: '`/me` shows `fingerprint` instead of the bot’s.',
    options: ['fingerprint'],
    needs: ['fingerprint'],
  },
  'swap-key': {
    phase: 'lie',
    does: 'Key lists and key records show `publicKey` and `fingerprint` for `userId`.',
    options: ['userId', 'publicKey', 'fingerprint'],
    needs: ['userId', 'publicKey'],
  },
  ghost: {
    phase: 'lie',
    does: 'Key lists (of `chatId`) also name `userId` with `publicKey` and `fingerprint`.',
    options: ['chatId', 'userId', 'publicKey', 'fingerprint'],
    needs: ['userId', 'publicKey', 'fingerprint'],
  },
  'hide-key': {
    phase: 'lie',
    does: 'Key lists (of `chatId`) leave out `userId`.',
    options: ['chatId', 'userId'],
    needs: ['userId'],
  },
} as const satisfies Record<string, FaultKind>

export type FaultName = keyof typeof FAULTS
export type FaultPhase = FaultKind['phase']

/** Of a final response; others a server cannot send. */
const httpStatus = z.int().min(200).max(599)
const positive = z.int().min(1)
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[]
const meanings = FAULT_NAMES.map((name) => `- \`${name}\`: ${FAULTS[name].does}`)

/** A fault's name, and how it strikes. Options that a fault does not use are ignored. */
export const FaultInput = z.strictObject({
  name: z.enum(FAULT_NAMES).describe(meanings.join('\n')),
  route: z.enum(FAULT_ROUTES).optional(),
  botId: botId.optional(),
  times: positive.optional().describe('strikes so many times; without end when absent'),
  after: count.optional().describe('lets so many calls pass first'),
  oneIn: positive.optional().describe('strikes one call in so many, by chance of `seed`'),
  seed: z.int().optional(),
  delayMs: count.optional(),
  bytes: count.optional(),
  status: httpStatus.optional(),
  code: text.optional(),
  retryAfter: z.int().optional(),
  retryAfterHeader: text.optional(),
  expected: z.enum(['text', 'armored']).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: text.optional(),
  location: text.optional(),
  chatId: chatId.optional(),
  mode: z.enum(['open', 'protected']).optional(),
  historyVisible: flag.optional(),
  kind: text.optional(),
  userId: accountId.optional(),
  publicKey: text.optional(),
  fingerprint: text.optional(),
})

/** How a fault strikes. */
export type FaultOptions = Omit<z.output<typeof FaultInput>, 'name'>

/** What a fault lacks so that it would do nothing, as a sentence; null when it lacks nothing. */
export function faultProblem(name: FaultName, options: FaultOptions): string | null {
  const { needs = [] }: FaultKind = FAULTS[name]
  const missing = needs.filter((need) => options[need as keyof FaultOptions] === undefined)
  return missing.length === 0 ? null : `${name} does nothing without ${missing.join(', ')}`
}
