import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import { no, type Reply } from '../support/double-wire.ts'

const stage = useStage({ inside: true })

const html = '<!doctype html><title>Welcome to the proxy</title>'
const failures: [string, Reply, number, string][] = [
  ['404', no(404, 'chat_not_found'), 404, 'chat_not_found'],
  ['500', no(500, 'internal'), 500, 'internal'],
  ['403 with a code nobody knows', no(403, 'shadow_banned'), 403, 'shadow_banned'],
  ['a cut connection', 'cut', 502, 'postern_upstream_unreachable'],
  ['a cut within the answer', 'cut-within', 502, 'postern_upstream_unreachable'],
  [
    'a page',
    { headers: { 'content-type': 'text/html' }, body: html },
    502,
    'postern_upstream_invalid',
  ],
  ['success without a result', { json: { ok: true } }, 502, 'postern_upstream_invalid'],
  [
    'a result that is no chat',
    { json: { ok: true, result: [1] } },
    502,
    'postern_upstream_invalid',
  ],
  [
    'a redirect',
    { status: 302, headers: { location: '/bot/v1/me' } },
    502,
    'postern_upstream_invalid',
  ],
]

for (const [name, reply, status, code] of failures) {
  test(`a mode that is answered by ${name} lets no text out, and the bot is told ${code}`, async () => {
    const chat = stage.openGroup()
    using _failure = stage.double.script('GET', `/chats/${chat.id}`, reply)
    const words = canary()
    const since = stage.double.mark()
    for (const answer of [
      await stage.send(chat, words),
      await stage.edit(chat, 7, { text: words }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([status, code])
    }
    expect(stage.bodies(since)).toEqual([])
    stage.expectNowhere(words)
  })

  test(`a key list that is answered by ${name} lets no text out, and the bot is told ${code}`, async () => {
    const chat = stage.group([await stage.friend()])
    using _failure = stage.double.script('GET', `/chats/${chat.id}/keys`, reply)
    const words = canary()
    const since = stage.double.mark()
    for (const answer of [
      await stage.send(chat, words),
      await stage.edit(chat, 7, { text: words }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([status, code])
    }
    expect(stage.bodies(since)).toEqual([])
    stage.expectNowhere(words)
  })
}

test('what is refused as it came keeps its body to the byte', async () => {
  const chat = stage.openGroup()
  using _failure = stage.double.script('GET', `/chats/${chat.id}`, no(403, 'shadow_banned'))
  const sent = await stage.send(chat, 'x')
  expect(sent.text).toBe(
    stage.double.calls('GET', `/chats/${chat.id}`).at(-1)?.answered?.body.toString(),
  )
})

test('an answer that is no longer fresh is not used when asking again fails', async () => {
  const chat = stage.openGroup()
  expect((await stage.send(chat, 'readable')).status).toBe(201)
  const notice = stage.double.world.message(chat, null, { kind: 'history_closed' })
  await stage.deliver([notice])
  using _failure = stage.double.script('GET', `/chats/${chat.id}`, no(500, 'internal'))
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('internal')
  stage.expectNowhere(words)
})
