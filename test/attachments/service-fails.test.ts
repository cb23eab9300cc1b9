import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { no, type Reply } from '../support/double-wire.ts'
import { listening } from '../support/listening.ts'
import { fetched, named, outcomeOf, picture, sealedBy } from './support.ts'

const stage = useStage()

/** A file that is there, and what the service answers for it once. */
async function answering(reply: Reply, times = 1): Promise<string> {
  const from = await stage.friend()
  const sealed = await sealedBy(from, stage, picture())
  const url = await named(stage, sealed, { chat: stage.privateChat(from), from })
  const path = url.split('?')[0] ?? ''
  const rule = stage.double.script('GET', path, reply, times)
  const outcome = await outcomeOf(stage, url)
  rule[Symbol.dispose]()
  expect((await fetched(stage, url)).status, 'afterwards').toBe(200)
  return outcome
}

const page = '<html>hello</html>'

test.each<[string, Reply, string]>([
  ['media_not_found', no(404, 'media_not_found'), '404 media_not_found'],
  [
    'rate_limited',
    no(429, 'rate_limited', { headers: { 'retry-after': '7' } }),
    '429 rate_limited',
  ],
  ['its own failure', no(500, 'internal'), '500 internal'],
  ['a code that nobody knows', no(418, 'brand_new'), '418 brand_new'],
  ['a page with an error', { status: 404, body: page }, '502 postern_upstream_invalid'],
  ['a page of a proxy', { status: 502, body: page }, '502 postern_upstream_invalid'],
  ['no content', { status: 204, body: '' }, '502 postern_upstream_invalid'],
  ['a part', { status: 206, body: 'part' }, '502 postern_upstream_invalid'],
  [
    'an encoding that nobody asked for',
    { body: page, headers: { 'content-encoding': 'gzip' } },
    '502 postern_upstream_invalid',
  ],
  ['a connection that ends within the answer', 'cut-within', '502 postern_upstream_unreachable'],
])(
  'a file request answered by the service with %s has the right code, and the next attempt succeeds',
  async (_, reply, outcome) => {
    expect(await answering(reply)).toBe(outcome)
  },
)

test('a file request survives one lost connection of the service, and two are `postern_upstream_unreachable`', async () => {
  expect(await answering('cut', 1)).toBe('verified')
  expect(await answering('cut', 2)).toBe('502 postern_upstream_unreachable')
  expect((await stage.sidecar.readiness()).status).toBe(200)
})

test.each([301, 302, 303, 307, 308])(
  'a redirect with status %i for a file is not followed',
  async (status) => {
    let asked = 0
    const elsewhere = createServer((_request, response) => {
      asked++
      response.end('gotcha')
    })
    for (const location of [`${await listening(elsewhere)}/media/x`, '/media/other']) {
      const outcome = await answering({ status, headers: { location }, body: '' })
      expect(outcome).toBe('502 postern_upstream_invalid')
    }
    expect(asked).toBe(0)
  },
)

test('the Retry-After of a refused file request reaches the bot unchanged', async () => {
  const from = await stage.friend()
  const url = await named(stage, picture(), { chat: stage.privateChat(from), from })
  const path = url.split('?')[0] ?? ''
  using _ = stage.double.script(
    'GET',
    path,
    no(429, 'flood_wait', { headers: { 'retry-after': '9' } }),
  )
  const { headers, code } = await fetched(stage, url)
  expect({ code, wait: headers.get('retry-after') }).toEqual({ code: 'flood_wait', wait: '9' })
})
