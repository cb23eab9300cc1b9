/** The routes of the bot's webhook, over a service and a webhook that are played. */
import { describe, expect, test, vi } from 'vitest'
import { webhookRoutes, type WebhookRouteParts } from '../../../src/http/routes/webhook.ts'
import { call as callDoor, openDoor } from '../support.ts'
import { no, playedRoute, playedUpstream, yes } from '../played-route.ts'

const STATE = { url: null, hasSecret: false, pending: 5, failures: 0, lastError: null }
const OWN = { url: 'https://bot.example/', secret: 's', failures: 1, lastError: 'x' }

function scene({ own = null as object | null, answer = yes(STATE) } = {}) {
  const { upstream, asked } = playedUpstream(answer)
  const onServiceWebhook = vi.fn()
  const set = vi.fn(async (_request: object) => yes({ set: true }))
  const remove = vi.fn(async (_query: string) => answer)
  const webhook = { look: async () => own, unconfirmedCount: 2, set, remove }
  const route = webhookRoutes({
    upstream,
    webhook,
    onServiceWebhook,
  } as unknown as WebhookRouteParts)
  return { asked, onServiceWebhook, set, remove, route, call: playedRoute(route) }
}

describe('a bot that looks at its webhook', () => {
  test('sees its own, and the service’s is reported', async () => {
    const { call, asked, onServiceWebhook } = scene({ own: { ...OWN, nextAttemptAt: 9 } })
    const { result } = await call('GET', '/webhook?a=1')
    const shown = { url: OWN.url, hasSecret: true, failures: 1, lastError: 'x', nextAttemptAt: 9 }
    expect([result, asked]).toEqual([{ ...shown, pending: 3 }, ['GET /webhook?a=1']])
    expect(onServiceWebhook.mock.calls).toEqual([[STATE]])
  })

  test('without one sees the answer as it came, which is reported', async () => {
    const { call, onServiceWebhook } = scene()
    expect((await call('GET', '/webhook')).text).toBe(yes(STATE).body.toString())
    expect(onServiceWebhook.mock.calls).toEqual([[STATE]])
  })

  test('gets a refusal as it came, and nothing that is no state', async () => {
    const { call, onServiceWebhook } = scene({ own: OWN, answer: no(429, 'rate_limited') })
    expect(await call('GET', '/webhook')).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(onServiceWebhook).not.toHaveBeenCalled()
    const { error } = await scene({ own: OWN, answer: yes('text') }).call('GET', '/webhook')
    expect(error).toMatchObject({ code: 'postern_upstream_invalid' })
    expect(error?.['message']).toContain('the state of a webhook')
  })
})

test.each([
  ['without a secret', {}, null],
  ['with one', { secret: 's' }, 's'],
])('a webhook is set %s', async (_what, more, secret) => {
  const { call, set } = scene()
  const { text } = await call('POST', '/webhook', { url: OWN.url, ...more })
  expect(text).toBe(yes({ set: true }).body.toString())
  expect(set.mock.calls).toEqual([[{ url: OWN.url, secret }]])
})

test.each([
  ['no url', {}, 'url'],
  ['a secret of other characters', { url: OWN.url, secret: 'a b' }, 'secret: must be 1 to 256'],
])('a webhook is not set by %s', async (_what, body, problem) => {
  const { call, set } = scene()
  const { status, code, error } = await call('POST', '/webhook', body)
  expect([status, code, set.mock.calls]).toEqual([400, 'bad_request', []])
  expect(error?.['message']).toContain(problem)
})

describe('a webhook that is removed', () => {
  test('is reported as the service answers, where that is no refusal', async () => {
    const { call, remove, onServiceWebhook } = scene()
    expect((await call('DELETE', '/webhook?drop=1')).text).toBe(yes(STATE).body.toString())
    expect([remove.mock.calls, onServiceWebhook.mock.calls]).toEqual([[['?drop=1']], [[STATE]]])
    const refused = scene({ answer: no(403, 'bot_paused') })
    expect((await refused.call('DELETE', '/webhook')).code).toBe('bot_paused')
    expect(refused.onServiceWebhook).not.toHaveBeenCalled()
  })

  test('may have any body, which is dropped', async () => {
    const { route, remove } = scene()
    const world = await openDoor({ parts: { routes: [route] } })
    const { status } = await callDoor(world, 'DELETE', '/bot/v1/webhook', { body: 'no JSON' })
    expect([status, remove.mock.calls]).toEqual([200, [['']]])
  })
})
