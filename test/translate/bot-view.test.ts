import { expect, test } from 'vitest'
import { objectResult, webhookView, withOwnWebhook } from '../../src/translate/bot-view.ts'
import type { OwnWebhook } from '../../src/translate/bot-view.ts'
import { refused } from '../support/refused.ts'

test('`objectResult` drops fields that a case-insensitive parser would read as known ones', () => {
  const result = { id: 1, ID: 2, mode: 'open', Mode: 'protected', own: 3, Postern: 4, postern: 5 }
  expect(objectResult(result, 'a chat')).toEqual({ id: 1, mode: 'open', own: 3 })
})

test.each([null, [], 'text', 5, undefined])('`objectResult` refuses the result %j', (result) => {
  const invalid = refused('postern_upstream_invalid', 'a chat')
  expect(() => objectResult(result, 'a chat')).toThrow(invalid)
})

const OWN: OwnWebhook = {
  url: 'http://127.0.0.1:9/hook',
  secret: 'a secret',
  failures: 2,
  lastError: 'it answered 500',
  nextAttemptAt: 77,
}

test('`withOwnWebhook` adds the webhook without its secret and subtracts delivered updates from the queue', () => {
  const bot = { id: 1, queued: 5, webhook: { url: 'https://elsewhere' } }
  expect(withOwnWebhook(bot, OWN, 2)).toEqual({
    id: 1,
    queued: 3,
    webhook: { url: OWN.url, hasSecret: true, failures: 2, lastError: 'it answered 500' },
  })
  expect(withOwnWebhook(bot, OWN, 9)['queued']).toBe(0)
  expect(withOwnWebhook({ id: 1 }, { ...OWN, secret: null }, 2)).toEqual({
    id: 1,
    webhook: { url: OWN.url, hasSecret: false, failures: 2, lastError: 'it answered 500' },
  })
  expect(withOwnWebhook({ queued: 'many' }, OWN, 2)['queued']).toBe('many')
})

test('`webhookView` describes the webhook without its secret and subtracts delivered updates', () => {
  const info = { url: '', hasSecret: false, pending: 7, failures: 0, lastError: null }
  expect(webhookView(info, OWN, 3)).toEqual({
    url: OWN.url,
    hasSecret: true,
    pending: 4,
    failures: 2,
    lastError: 'it answered 500',
    nextAttemptAt: 77,
  })
  const without = webhookView({ ...info, pending: null }, { ...OWN, secret: null }, 3)
  expect([without['hasSecret'], without['pending']]).toEqual([false, null])
  expect(webhookView(info, OWN, 8)['pending']).toBe(0)
})

test('`webhookView` shows the time of the next attempt under the service’s field name', () => {
  const info = { url: '', retryAt: null, pending: 0, hasSecret: false, failures: 0 }
  expect(webhookView({ ...info, lastError: null }, OWN, 0)).toMatchObject({ retryAt: 77 })
  expect(webhookView(info, OWN, 0)).not.toHaveProperty('nextAttemptAt')
})
