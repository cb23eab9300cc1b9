/** Which alerts reach the operator when a condition flaps, or alerts are many. */
import { expect, test, vi } from 'vitest'
import { createAlerts, type Alert, type AlertOutcome } from '../../src/observe/alerts.ts'
import { useFakeTime } from '../support/fake-time.ts'
import { watchedLog } from '../support/watched-log.ts'

const MINUTE_MS = 60_000

useFakeTime({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

/** Alerts by a way that sends at once, unless it is blocked. */
function scene() {
  const sent: string[] = []
  const outcomes: AlertOutcome[] = []
  const state = { blocked: null as Promise<void> | null }
  const alerts = createAlerts({
    log: watchedLog(() => {}),
    ways: [
      {
        name: 'url',
        send: async ({ alert, holds, chatId }) => {
          await state.blocked
          sent.push(`${alert} ${chatId ?? ''}${holds ? 'holds' : 'over'}`)
        },
      },
    ],
  })
  alerts.onOutcome((outcome) => outcomes.push(outcome))
  const raise = async (alert: string, holds: boolean, more: Partial<Alert> = {}): Promise<void> => {
    alerts.raise({ alert, holds, what: '', hint: '', ...more })
    await vi.advanceTimersByTimeAsync(0)
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  return { alerts, sent, outcomes, state, raise, pass }
}

test('a reason that begins, ends and begins again is alerted as holding at last', async () => {
  const { sent, raise, pass } = scene()
  for (const holds of [true, false, true]) {
    await raise('key-conflict', holds)
    await pass(MINUTE_MS)
  }
  expect(sent).toEqual(['key-conflict holds', 'key-conflict over'])
  await pass(10 * MINUTE_MS)
  expect(sent.slice(2)).toEqual(['key-conflict holds'])
  await pass(60 * MINUTE_MS)
  expect(sent).toHaveLength(3)
})

test('a flapping reason raises two alerts in ten minutes at most, and one of its last state', async () => {
  const { sent, raise, pass } = scene()
  for (let n = 0; n < 120; n++) {
    await raise('second-poller', n % 2 === 0)
    await pass(10_000)
  }
  expect(sent.length).toBeLessThanOrEqual(5)
  await pass(20 * MINUTE_MS)
  expect(sent.at(-1)).toBe('second-poller over')
})

test('an alarm repeated within ten minutes is sent once, and again after them', async () => {
  const { sent, raise, pass } = scene()
  const about = { chatId: 5 }
  await raise('stranger', true, about)
  await pass(9 * MINUTE_MS)
  await raise('stranger', true, about)
  await pass(30 * MINUTE_MS)
  expect(sent).toHaveLength(1)
  await raise('stranger', true, about)
  expect(sent).toHaveLength(2)
})

test('a flood of alarms about chats does not displace the alert of a reason', async () => {
  const { sent, outcomes, state, raise, pass } = scene()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.blocked = promise
  for (let chatId = 0; chatId < 500; chatId++) await raise('list-contradicts', true, { chatId })
  await raise('key-conflict', true)
  const dropped = outcomes.filter(({ outcome }) => outcome === 'dropped').length
  expect(dropped).toBeGreaterThan(400)
  resolve()
  await pass(MINUTE_MS)
  expect(sent.at(-1)).toBe('key-conflict holds')
  expect(sent).toHaveLength(500 - dropped + 1)
  await raise('list-contradicts', true, { chatId: 499 })
  expect(sent.at(-1), 'what was dropped was not told').toBe('list-contradicts 499holds')
})

test('no alert is sent after the disposal of `Alerts`', async () => {
  const { alerts, sent, raise, pass } = scene()
  for (const holds of [true, false, true]) await raise('clock', holds)
  const ending = alerts[Symbol.asyncDispose]()
  await pass(20 * MINUTE_MS)
  await ending
  expect(sent).toHaveLength(2)
})
