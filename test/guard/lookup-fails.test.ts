import { expect, test } from 'vitest'
import { expectReadable, expectRefused } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import { no, ok, type Reply } from '../support/double-wire.ts'

const stage = useStage()

const UNREACHABLE = [502, 'postern_upstream_unreachable'] as const
const INVALID = [502, 'postern_upstream_invalid'] as const
const html = '<!doctype html><title>Welcome to the proxy</title>'
const page = { headers: { 'content-type': 'text/html' }, body: html }
const redirect = { status: 302, headers: { location: '/bot/v1/me' } }

const LIMIT = { 'retry-after': '7', 'x-request-id': 'b' }
const LIMITED = no(429, 'rate_limited', { error: { retryAfter: 60 }, headers: LIMIT })

/** Two chats, each with the path of its look-up. */
async function lookUps() {
  const [open, closed] = [stage.openGroup(), stage.group([await stage.friend()])]
  const keys = [closed, `/chats/${closed.id}/keys`] as const
  return [[open, `/chats/${open.id}`] as const, keys]
}

test.each<[string, Reply, status: number, code: string]>([
  ['404', no(404, 'chat_not_found'), 404, 'chat_not_found'],
  ['500', no(500, 'internal'), 500, 'internal'],
  ['403 with an unknown code', no(403, 'shadow_banned'), 403, 'shadow_banned'],
  ['a cut connection', 'cut', ...UNREACHABLE],
  ['an answer that is cut', 'cut-within', ...UNREACHABLE],
  ['an HTML page', page, ...INVALID],
  ['success without a result', { json: { ok: true } }, ...INVALID],
  ['a result that is no object', ok([1]), ...INVALID],
  ['a redirect', redirect, ...INVALID],
])('no text leaves when mode and key list are answered by %s', async (...given) => {
  const [, reply, status, code] = given
  for (const [chat, path] of await lookUps()) {
    using _failure = stage.double.script('GET', path, reply)
    await expectRefused(stage, chat, code, status)
  }
})

test.each([no(403, 'shadow_banned'), LIMITED])(
  'a refusal of a lookup reaches the bot byte by byte: %o',
  async (refusal) => {
    for (const [chat, path] of await lookUps()) {
      using _failure = stage.double.script('GET', path, refusal)
      const since = stage.double.mark()
      const sent = await stage.send(chat, 'x')
      const asked = stage.double.calls('GET', path, since)
      expect(asked.map(({ answered }) => answered?.body.toString())).toEqual([sent.text])
      if (refusal === LIMITED) expect(sent.headers).toMatchObject(LIMIT)
      expect(stage.bodies(since)).toEqual([])
    }
  },
)

test('a stale mode is not used when the next lookup fails', async () => {
  const chat = stage.openGroup()
  await expectReadable(stage, chat)
  const notice = stage.double.world.message(chat, null, { kind: 'history_closed' })
  await stage.deliver([notice])
  using _failure = stage.double.script('GET', `/chats/${chat.id}`, no(500, 'internal'))
  await expectRefused(stage, chat, 'internal', 500)
})
