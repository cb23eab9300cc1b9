import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import type { Reply } from '../support/double-wire.ts'

/** A poll that failed is answered a tenth of a second later, and not a second. */
const stage = useStage({ env: { TESTS_PATIENCE: '0.1' } })
const lured: string[] = []
const elsewhere: Server = createServer((request, response) => {
  lured.push(request.url ?? '')
  response.end('{"ok":true,"result":[]}')
}).listen(0, '127.0.0.1')
afterAll(() => elsewhere.close())
const away = () => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/bot/v1/commands`

// more of them, at the client alone: test/upstream/misbehaving.test.ts
const lies: [string, () => Reply][] = [
  [
    'an HTML page with 200',
    () => ({ headers: { 'content-type': 'text/html' }, body: '<h1>Hi</h1>' }),
  ],
  ['a redirect elsewhere', () => ({ status: 307, headers: { location: away() }, body: '' })],
  ['`ok: true` with 500', () => ({ status: 500, json: { ok: true, result: 1 } })],
  ['truncated JSON', () => ({ body: '{"ok":true,"result":{' })],
  ['invalid UTF-8', () => ({ body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) })],
  ['a body of two megabytes', () => ({ json: { ok: true, result: 'x'.repeat(2 << 20) } })],
  ['a wrong content length', () => 'cut-within'],
  ['a closed connection', () => 'cut'],
]

test.each(lies)(
  '%s in answer to any call is refused with 502, and never followed',
  async (_what, reply) => {
    const chat = stage.openGroup()
    await stage.send(chat, 'the mode is known')
    const since = lured.length
    using _get = stage.double.script('GET', '/commands', reply)
    using _put = stage.double.script('PUT', '/commands', reply)
    using _poll = stage.double.script('GET', '/updates', reply)
    using _send = stage.double.script('POST', '/messages', reply)
    const code = reply() === 'cut' || reply() === 'cut-within' ? 'unreachable' : 'invalid'
    const answers = [
      await stage.sidecar.call('GET', '/commands'),
      await stage.sidecar.call('PUT', '/commands', { commands: [] }),
      await stage.sidecar.call('GET', '/updates'),
      await stage.send(chat, 'hello'),
    ]
    for (const { status, json } of answers) {
      expect([status, json.error.status, json.error.code]).toEqual([
        502,
        502,
        `postern_upstream_${code}`,
      ])
    }
    expect(lured.length).toBe(since)
  },
)

test('an unreachable service is reported to the bot and in /readyz, and the sidecar recovers', async () => {
  const { port } = stage.double
  await stage.double.rest()
  const answer = await stage.sidecar.call('GET', '/commands')
  expect([answer.status, answer.json.error.code]).toEqual([502, 'postern_upstream_unreachable'])
  expect((await stage.sidecar.readiness()).reasons).toContain('upstream')
  await stage.double.rise(port)
  await stage.sidecar.whenReady()
})

test('a refused answer of the service appears neither in the log nor in the answer to the bot', async () => {
  const words = canary()
  for (const body of [words, `{"ok":true,"result":${words}`, `HTTP/1.1 200 ${words}`]) {
    using _lie = stage.double.script('GET', '/commands', { body })
    const answer = await stage.sidecar.call('GET', '/commands')
    expect(answer.text).not.toContain(words)
  }
  stage.expectNowhere(words)
})
