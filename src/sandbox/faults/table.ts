import { z } from 'zod'
import { ENDPOINTS } from '../../api/endpoints.ts'
import { described } from '../openapi/schemas.ts'
import { accountId, botId, chatId, count, flag, text } from '../control/fields.ts'

/** Names of endpoints (src/api/endpoints.ts), and `media`. */
export const FAULT_ROUTES = [...ENDPOINTS.map(({ name }) => name), 'media'] as const

/** When a fault strikes and what it does, as the README and the OpenAPI document show it. */
interface FaultKind {
  phase: 'before' | 'after' | 'rule' | 'lie'
  does: string
  /** Options of its own, beside those for when it strikes. */
  options: readonly string[]
  /** Those without which it would do nothing. */
  needs: readonly string[]
}

/** Makes the kinds of one phase. Options are words; one that a fault does nothing without ends in `!`. */
const during =
  (phase: FaultKind['phase']) =>
  (does: string, written = ''): FaultKind => {
    const options = written.match(/\w+/g) ?? []
    return { phase, does, options, needs: written.match(/\w+(?=!)/g) ?? [] }
  }
/** The request is not handled and changes nothing. */
const before = during('before')
/** The request is handled, and its response is damaged. */
const after = during('after')
/** A rule of the service works otherwise. */
const rule = during('rule')
/** A hostile service changes the response. */
const lie = during('lie')

/** Every fault by name. */
export const FAULTS = {
  cut: before('Closes the connection without handling the request.'),
  hang: before('Never answers.'),
  delay: before('Waits `delayMs` of real time, then goes on as usual.', 'delayMs!'),
  error: before(
    'Answers with an error: `status` (500), `code` (`internal`), and what else is given.',
    'status code retryAfter retryAfterHeader expected',
  ),
  answer: before(
    'Answers with exactly this `status` (200), `headers` and `body`.',
    'status headers body',
  ),
  html: before('Answers with an HTML page and `status` (502), as a proxy would.', 'status'),
  redirect: before('Answers with a redirect: `status` (302) to `location`.', 'status location'),
  'lost-answer': after('Handles the request, then closes the connection instead of answering.'),
  'half-answer': after(
    'Handles the request, and closes the connection after half of the response.',
  ),
  'slow-body': after('Sends one byte of the response body every `delayMs` (1000).', 'delayMs'),
  'giant-body': after('Appends `bytes` of blanks (64 MiB) to the response body.', 'bytes'),
  'invalid-json': after('Drops the last character of the response body.'),
  'keep-confirmed': rule('Ignores `offset`, so that confirmed updates come again.'),
  'late-key': rule(
    'Answers `PUT /key` at once, and applies it after `delayMs` of the sandbox’s clock.',
    'delayMs!',
  ),
  'claim-mode': rule(
    'The service behaves in every way as if `chatId` had `mode` (and `historyVisible`); phones ' +
      'go by the true mode. Lasts until it is cleared.',
    'chatId! mode historyVisible',
  ),
  'claim-kind': lie('Every response shows `chatId` with the kind `kind`.', 'chatId! kind!'),
  'claim-unprotected': lie('`/me` claims that the bot has no key.'),
  'claim-fingerprint': lie('`/me` shows `fingerprint` instead of the bot’s.', 'fingerprint!'),
  'claim-limits': lie(
    '`/me` shows these `limits` beside and in place of the true ones.',
    'limits!',
  ),
  'swap-key': lie(
    'Key lists and key records show `publicKey` and `fingerprint` for `userId`.',
    'userId! publicKey! fingerprint',
  ),
  ghost: lie(
    'Key lists (of `chatId`) also name `userId` with `publicKey` and `fingerprint`.',
    'chatId userId! publicKey! fingerprint!',
  ),
  'hide-key': lie('Key lists (of `chatId`) leave out `userId`.', 'chatId userId!'),
}

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
  limits: z.record(z.string(), z.unknown()).optional(),
})

/** An active fault, and its remaining strikes. */
export const FaultStatus = described('ActiveFault', 'A fault that is set, with its options.', {
  ...FaultInput.shape,
  id: z.int(),
  struck: z.int().describe('how often it struck'),
  left: z.int().nullable().describe('how often it still can; null: without end'),
})

/** How a fault strikes. */
export type FaultOptions = Omit<z.output<typeof FaultInput>, 'name'>

/** What a fault lacks so that it would do nothing, as a sentence; null when it lacks nothing. */
export function faultProblem(name: FaultName, options: FaultOptions): string | null {
  const missing = FAULTS[name].needs.filter(
    (need) => options[need as keyof FaultOptions] === undefined,
  )
  return missing.length === 0 ? null : `${name} does nothing without ${missing.join(', ')}`
}
