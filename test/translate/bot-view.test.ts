import { describe, expect, test } from 'vitest'
import type { Recipients } from '../../src/kernel/people/recipients.ts'
import {
  chatView,
  meView,
  objectResult,
  sentView,
  webhookView,
  withOwnWebhook,
  withResult,
  withUpdates,
  type OwnWebhook,
} from '../../src/translate/bot-view.ts'
import { refused } from '../support/refused.ts'

const ANSWER = { status: 200, headers: { 'x-served-by': 'a' }, body: Buffer.from('before') }
const read = ({ body }: { body: Buffer }) => JSON.parse(body.toString()) as unknown

describe('an answer that is written anew', () => {
  test('keeps its status and its headers around another result', () => {
    const { body, ...rest } = withResult(ANSWER, { id: 1 })
    expect(rest).toEqual({ status: 200, headers: { 'x-served-by': 'a' } })
    expect(body.toString()).toBe('{"ok":true,"result":{"id":1}}')
  })

  test('is the same with updates', async () => {
    const answer = await withUpdates(ANSWER, [{ updateId: 1 }, { updateId: 2 }])
    expect(read(answer)).toEqual({ ok: true, result: [{ updateId: 1 }, { updateId: 2 }] })
    expect([answer.status, answer.headers]).toEqual([200, ANSWER.headers])
  })
})

describe('a result that must be an object', () => {
  test('is given without what another parser would read for a name of ours', () => {
    const result = { id: 1, ID: 2, mode: 'open', Mode: 'protected', own: 3, Postern: 4, postern: 5 }
    expect(objectResult(result, 'a chat')).toEqual({ id: 1, mode: 'open', own: 3 })
  })

  test.each([null, [], 'text', 5, undefined])('is not %j', (result) => {
    const invalid = refused('postern_upstream_invalid', 'a chat')
    expect(() => objectResult(result, 'a chat')).toThrow(invalid)
  })
})

describe('the bot', () => {
  const bot = { id: 1, mode: 'protected', fingerprint: 'f', username: 'echo' }

  test('is open to itself, and what it truly is stands under our name', () => {
    expect(meView(bot, { state: 'published', fingerprint: 'g' })).toEqual({
      id: 1,
      username: 'echo',
      mode: 'open',
      fingerprint: null,
      postern: { mode: 'protected', fingerprint: 'f', key: 'g', publication: 'published' },
    })
  })

  test('that has no key at the service has none under our name either', () => {
    const view = meView({ id: 1, mode: 'open' }, { state: 'off', fingerprint: null })
    expect(view['postern']).toStrictEqual({
      mode: 'open',
      fingerprint: null,
      key: null,
      publication: 'off',
    })
  })
})

const OWN: OwnWebhook = {
  url: 'http://127.0.0.1:9/hook',
  secret: 'a secret',
  failures: 2,
  lastError: 'it answered 500',
  nextAttemptAt: 77,
}

describe('the webhook that the bot registered here', () => {
  test('stands in the bot, without its secret, and what was delivered is no longer queued', () => {
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

  test('is described as the service describes one, its secret apart', () => {
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

  test('says when it is tried again under the name that the service has for it', () => {
    const info = { url: '', retryAt: null, pending: 0, hasSecret: false, failures: 0 }
    expect(webhookView({ ...info, lastError: null }, OWN, 0)).toMatchObject({ retryAt: 77 })
    expect(webhookView(info, OWN, 0)).not.toHaveProperty('nextAttemptAt')
  })
})

test('a chat is readable, and what the service says of it stands under our name', () => {
  expect(chatView({ id: 5, mode: 'protected', kind: 'group' }, { latched: true })).toEqual({
    id: 5,
    kind: 'group',
    mode: 'open',
    postern: { mode: 'protected', latched: true },
  })
})

describe('a sealed message that was sent', () => {
  const skipped = [{ userId: 3, reason: 'expired' }]
  const recipients = { certificates: ['a', 'b'], skipped } as unknown as Recipients
  const postern = { sealed: true, recipients: 2, skipped }

  test.each([{ armored: 'sealed words' }, { text: 'of the service' }])(
    'that the service gives back with %j has the words of the bot',
    (body) => {
      expect(sentView({ id: 7, ...body }, { text: 'words', recipients })).toEqual({
        id: 7,
        text: 'words',
        postern,
      })
    },
  )

  test('that the service gives back without a body gets none', () => {
    expect(sentView({ id: 7 }, { text: 'words', recipients })).toStrictEqual({ id: 7, postern })
  })
})
