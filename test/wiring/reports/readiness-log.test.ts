import { expect, test } from 'vitest'
import type { Bot } from '../../../src/api/bot.ts'
import { NoResponseError } from '../../../src/errors.ts'
import type { RemoteKeyState } from '../../../src/kernel/own-key/key-state.ts'
import { Health } from '../../../src/observe/health.ts'
import { describeNoResponse, readinessLog } from '../../../src/wiring/reports/readiness-log.ts'
import { DoubleWorld } from '../../support/double-world.ts'
import { watchedLog } from '../../support/watched-log.ts'

const BOT = { ...new DoubleWorld().bot, username: 'echo_bot', fingerprint: 'AB'.repeat(20) } as Bot
const LEVELS: Record<number, string> = { 30: 'info', 40: 'warn', 50: 'error' }

/** A sidecar that starts, with what it logs. */
function followed({ managesKey = false } = {}) {
  const health = new Health()
  const lines: string[] = []
  const log = watchedLog(({ level, msg }) =>
    lines.push(`${LEVELS[level as number]} ${String(msg)}`),
  )
  let known: Bot | null = null
  let remoteKeyState: RemoteKeyState | null = null
  const publication = {
    get remoteKeyState() {
      return remoteKeyState
    },
  }
  const readiness = readinessLog({
    health,
    log,
    bot: () => known,
    publication: managesKey ? publication : null,
  })
  health.onChange((change) => readiness.changed(change))
  return {
    health,
    lines,
    answer: () => {
      health.clear('starting')
      known = BOT
      readiness.look()
    },
    compare: (state: RemoteKeyState) => {
      remoteKeyState = state
      readiness.look()
    },
    settle: () => new Promise(setImmediate),
  }
}

test('the first answer of the service is logged once as `ready`', async () => {
  const { answer, lines, settle } = followed()
  await settle()
  expect(lines).toEqual([])
  answer()
  answer()
  await settle()
  expect(lines).toEqual(['info ready'])
})

test('`ready` is logged only after the published key was compared', async () => {
  const { answer, compare, lines, settle } = followed({ managesKey: true })
  answer()
  await settle()
  expect(lines).toEqual([])
  compare('equal')
  await settle()
  expect(lines).toEqual(['info ready'])
})

test.each([
  ['key-conflict', 'error'],
  ['bot-unprotected', 'error'],
  ['token', 'error'],
  ['store', 'error'],
  ['upstream', 'warn'],
  ['paused', 'warn'],
] as const)(
  'the reason %s is logged once with the level %s, and its end as `ready`',
  async (code, level) => {
    const { answer, health, lines, settle } = followed()
    answer()
    await settle()
    health.set(code, 'a detail')
    health.set(code, 'another')
    await settle()
    expect(lines.splice(0)).toEqual([
      'info ready',
      expect.stringMatching(`^${level} not ready: .*: a detail$`),
    ])
    health.clear(code)
    await settle()
    expect(lines).toEqual(['info ready'])
  },
)

test('a reason replaced by another causes no line `ready` between them', async () => {
  const { answer, health, lines, settle } = followed()
  answer()
  await settle()
  health.set('upstream', '')
  health.clear('upstream')
  health.set('token', '')
  await settle()
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'info ready',
    'warn not ready',
    'error not ready',
  ])
})

test('the end of one of two reasons is logged without `ready`', async () => {
  const { answer, health, lines, settle } = followed()
  answer()
  health.set('clock', '')
  health.set('paused', '')
  health.clear('clock')
  await settle()
  expect(lines.at(-1)).toBe('info a reason is over, and others hold')
  expect(lines).not.toContain('info ready')
})

test('the reason `stopping` is not logged', async () => {
  const { answer, health, lines, settle } = followed()
  answer()
  health.set('stopping', '')
  await settle()
  expect(lines).toEqual([])
})

test.each([
  ['postern_upstream_unreachable', 'ECONNREFUSED', 'https://a.test (ECONNREFUSED)'],
  ['postern_upstream_timeout', '', 'https://a.test did not answer in time'],
  [
    'postern_upstream_invalid',
    'a redirect',
    /^https:\/\/a\.test answers, but not as .*\(a redirect\)$/,
  ],
] as const)('the text of %s has the url and the cause', (code, detail, words) => {
  expect(describeNoResponse(new NoResponseError(code, detail), 'https://a.test')).toMatch(words)
})
