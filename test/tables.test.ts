/** Tables whose entries decide something, entry by entry: a new entry has to be decided here, too. */
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createHostedBot } from '../src/wiring/several/hosted-bot.ts'
import { OperatorError, Refusal, type OperatorCode } from '../src/errors.ts'
import { isWorthless, type DecisionAgainst, type Unusable } from '../src/kernel/people/person.ts'
import { chooseRecipients } from '../src/kernel/people/recipients.ts'
import { Health, type ReasonCode } from '../src/observe/health.ts'
import { alertForReason } from '../src/observe/alerting.ts'
import { readinessLog } from '../src/wiring/reports/readiness-log.ts'
import { createBot } from '../src/wiring/bot.ts'
import { watchedLog } from './support/watched-log.ts'

vi.mock('../src/wiring/bot.ts', () => ({ createBot: vi.fn() }))
afterAll(() => vi.useRealTimers())

const entries = <Key extends string, Value>(table: Record<Key, Value>): [Key, Value][] =>
  Object.entries(table) as [Key, Value][]

describe('a bot that did not start may make a store at the next start', () => {
  const MAY: Record<OperatorCode, boolean> = {
    usage: true,
    settings: true,
    environment: true,
    listen: true,
    'not-running': true,
    'data-dir': true,
    'store-missing': true,
    'store-in-use': false,
    'store-locked': true,
    'store-passphrase': false,
    'store-derivation': false,
    'store-corrupt': false,
    'store-newer': false,
    'store-older': true,
    'store-unwritable': true,
    'store-unreachable': true,
    'store-no-database': true,
    'store-login': true,
    'store-tls': true,
    'store-pooler': true,
    'store-rights': true,
    'store-read-only': true,
    'store-rolled-back': true,
    'store-moved': false,
    'store-other-bot': false,
    'store-restored': false,
    protection: false,
    keychain: true,
    'key-command': true,
    passphrase: true,
    'number-differs': true,
    'scenario-differs': true,
    refused: true,
    failed: true,
  }

  test.each(entries(MAY))(
    'a bot that ended with `%s` may make a store at its next start: %s',
    async (code, may) => {
      vi.useFakeTimers()
      const made = vi.mocked(createBot).mockReset()
      made.mockRejectedValue(new OperatorError(code, 'what happened', 'what to do'))
      const bot = createHostedBot(
        { name: 'news', settings: {}, secrets: {} } as never,
        {
          log: watchedLog(),
          parts: {},
          start: (task: () => Promise<unknown>) => task(),
          lanes: {},
          toDoor: () => {},
        } as never,
      )
      await bot.begin()
      await vi.advanceTimersByTimeAsync(2000)
      await bot.end()
      const tries = made.mock.calls.map(([options]) => options.mayCreateStore)
      expect(tries.slice(0, 2)).toEqual([true, may])
    },
  )
})

const UNUSABLE: Record<Unusable, { isWorthless: boolean }> = {
  unparseable: { isWorthless: true },
  'secret-key': { isWorthless: true },
  'several-certificates': { isWorthless: true },
  version: { isWorthless: true },
  revoked: { isWorthless: false },
  expired: { isWorthless: false },
  'not-yet-valid': { isWorthless: false },
  'no-encryption-subkey': { isWorthless: false },
  'no-user-id': { isWorthless: false },
  'weak-algorithm': { isWorthless: false },
  'weak-hash': { isWorthless: false },
  'too-large-to-seal': { isWorthless: false },
  'too-large': { isWorthless: true },
  deadline: { isWorthless: true },
  'fingerprint-mismatch': { isWorthless: true },
  'not-remembered': { isWorthless: true },
}

test.each(entries(UNUSABLE))(
  'a certificate that is %s verifies or not by the table',
  (reason, it) => {
    expect(isWorthless(reason)).toBe(it.isWorthless)
  },
)

describe('a chat in which nobody can be sealed to is refused', () => {
  const DECIDED: Record<DecisionAgainst, 'postern_trust_required'> = {
    blocked: 'postern_trust_required',
    'key-changed': 'postern_trust_required',
    'not-accepted': 'postern_trust_required',
    'other-person': 'postern_trust_required',
  }
  const codeFor = (unusable: Unusable | null, decision: DecisionAgainst | null): string => {
    const person = {
      userId: 5,
      fingerprint: 'a',
      unusable,
      certificateStatus: { encryptionKeys: ['s'], fingerprint: 'a' },
    }
    const list = { people: [person], nameless: 0, memberCount: undefined, tooMany: null }
    const rules = {
      isPrivate: false,
      personId: null,
      unusable: 'skip',
      botId: 1,
      own: new Set(),
      epoch: 0,
      decisionAgainst: () => decision,
    }
    try {
      chooseRecipients(list as never, rules as never)
      return 'nothing'
    } catch (error) {
      return error instanceof Refusal ? error.code : String(error)
    }
  }

  test.each(entries(DECIDED))(
    'a send to a person with the decision `%s` is refused with %s',
    (decision, code) => {
      expect(codeFor(null, decision)).toBe(code)
    },
  )

  test.each(entries(UNUSABLE))(
    'a send to a certificate that is %s is refused as unusable',
    (reason) => {
      expect(codeFor(reason, null)).toBe('postern_recipient_unusable')
    },
  )
})

describe('a reason against readiness', () => {
  const REASONS: Record<ReasonCode, { alerts: boolean; level: 'none' | 'warn' | 'error' }> = {
    starting: { alerts: false, level: 'none' },
    upstream: { alerts: false, level: 'warn' },
    token: { alerts: true, level: 'error' },
    identity: { alerts: true, level: 'error' },
    paused: { alerts: false, level: 'warn' },
    'key-unpublished': { alerts: false, level: 'warn' },
    'key-conflict': { alerts: true, level: 'error' },
    'key-expired': { alerts: true, level: 'error' },
    'bot-unprotected': { alerts: true, level: 'error' },
    'outbox-stuck': { alerts: true, level: 'error' },
    'consumer-behind': { alerts: true, level: 'error' },
    clock: { alerts: true, level: 'warn' },
    store: { alerts: true, level: 'error' },
    'store-unreachable': { alerts: true, level: 'warn' },
    'store-rolled-back': { alerts: true, level: 'error' },
    'no-threads': { alerts: true, level: 'warn' },
    'key-agent': { alerts: true, level: 'error' },
    'engine-differs': { alerts: true, level: 'none' },
    'webhook-at-service': { alerts: false, level: 'warn' },
    'webhook-failing': { alerts: true, level: 'error' },
    'updates-waiting': { alerts: false, level: 'warn' },
    'updates-expiring': { alerts: true, level: 'error' },
    'second-poller': { alerts: true, level: 'warn' },
    stopping: { alerts: false, level: 'none' },
  }

  test.each(entries(REASONS))(
    'the reason `%s` alerts and is logged by the table',
    (code, expected) => {
      const health = new Health()
      const levels: string[] = []
      const log = {
        info: () => {},
        warn: () => levels.push('warn'),
        error: () => levels.push('error'),
      }
      const parts = { health, log, bot: () => null, publication: null } as never
      health.set(code, '')
      readinessLog(parts).changed({ code, holds: true })
      const alerts = alertForReason({ code, holds: true }) !== null
      expect({ alerts, level: levels[0] ?? 'none' }).toEqual(expected)
    },
  )
})
