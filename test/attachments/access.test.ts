import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { BEARER, fetched, named, outcomeOf, picture, sealedBy } from './support.ts'

const stage = useStage()

async function sent(): Promise<{ url: string; content: Buffer }> {
  const from = await stage.friend()
  const content = picture()
  const sealed = await sealedBy(from, stage, content)
  const url = await named(stage, sealed, { chat: stage.privateChat(from), from })
  return { url, content }
}

const pathOf = (url: string): string => url.split('?')[0] ?? ''

test('the media url of an update has the specification’s shape and needs no token', async () => {
  const { url, content } = await sent()
  expect(url).toMatch(/^\/media\/file-\d+\?chat=\d+&from=\d+&key=[\w-]{43}$/)
  expect((await fetched(stage, url)).body).toEqual(content)
})

test('a media id that an update named is served with the bot’s token', async () => {
  const { url, content } = await sent()
  expect((await fetched(stage, pathOf(url), { headers: BEARER })).body).toEqual(content)
})

test('a media request without token and url key is 401, both for existing and for unknown files', async () => {
  const { url } = await sent()
  const wrong = { authorization: `Bearer ${'x'.repeat(50)}` }
  for (const path of [pathOf(url), '/media/never-named', '/media/a%20b']) {
    for (const headers of [{}, wrong, { authorization: 'Basic eDp5' }]) {
      expect(await outcomeOf(stage, path, { headers })).toBe('401 unauthorized')
    }
  }
})

test('the bot’s token alone reads no media id that no update named', async () => {
  const { id } = stage.double.world.store(picture())
  const mark = stage.double.mark()
  for (const path of [
    `/media/${id}`,
    '/media/nothing',
    '/media/a%20b',
    `/media/${'x'.repeat(200)}`,
  ]) {
    expect(await outcomeOf(stage, path, { headers: BEARER })).toBe('404 media_not_found')
  }
  expect(stage.double.calls('GET', /^\/media/, mark)).toEqual([])
})

test('a media url that was changed in any part is refused with 401', async () => {
  const { url } = await sent()
  const other = await sent()
  const key = /key=([\w-]+)/.exec(url)?.[1] ?? ''
  const flip = (key.startsWith('A') ? 'B' : 'A') + key.slice(1)
  for (const changed of [
    url.replace(key, flip),
    url.replace(key, key.slice(0, -4)),
    url.replace(key, `${key}AAAA`),
    url.replace(key, ''),
    url.replace(/chat=\d+/, 'chat=1'),
    url.replace(/from=\d+&/, ''),
    url.replace(/from=\d+/, 'from=1'),
    url.replace(/from=\d+/, 'from=x'),
    `${url}&chat=1`,
    `${url}&key=${key}`,
    url.replace(pathOf(url), pathOf(other.url)),
    pathOf(url),
  ]) {
    expect(await outcomeOf(stage, changed), changed).toBe('401 unauthorized')
  }
})

test('media urls and named media ids are valid after a restart', async () => {
  const { url, content } = await sent()
  await stage.restart()
  expect((await fetched(stage, url)).body).toEqual(content)
  expect((await fetched(stage, pathOf(url), { headers: BEARER })).body).toEqual(content)
})

test('a media url of another sidecar is refused with 401', async () => {
  const { url } = await sent()
  await using other = await stage.another(() => {})
  await other.sidecar.whenReady()
  expect((await fetched(other, url)).status).toBe(401)
})

test('media of quoted and pressed Messages are served, each in the name of its own sender', async () => {
  const [from, presser] = [await stage.friend(), stage.double.world.addUser(null)]
  const chat = stage.group([from, presser])
  const contents = ['quoted', 'pressed', 'small'].map(() => picture())
  const items = await Promise.all(
    contents.map(async (content) => stage.double.world.store(await sealedBy(from, stage, content))),
  )
  const [quoted, pressed, small] = items as [Json, Json, Json]
  const { world } = stage.double
  const inside = world.message(chat, from, { text: '', media: [quoted] })
  const { chat: _chat, ...withoutChat } = inside
  const updates = await stage.deliverUpdates([
    { kind: 'message', message: world.message(chat, presser, { replyTo: withoutChat }) },
    {
      kind: 'callback_query',
      callbackQuery: {
        id: 'press',
        from: { id: presser.id },
        message: world.message(chat, from, {
          media: [{ ...pressed, thumbnail: { url: small.url } }],
        }),
        data: 'x',
      },
    },
  ])
  const item = updates[1].callbackQuery.message.media[0]
  const urls = [updates[0].message.replyTo.media[0].url, item.url, item.thumbnail.url]
  for (const [index, url] of urls.entries()) {
    expect(url).toContain(`from=${from.id}`)
    expect((await fetched(stage, url)).body).toEqual(contents[index])
  }
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'a media request by %s is 404',
  async (method) => {
    const { url } = await sent()
    expect((await fetched(stage, url, { method, headers: BEARER })).status).toBe(404)
  },
)

test('a web page with token and media url is refused with 403', async () => {
  const { url } = await sent()
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const outcome = await outcomeOf(stage, url, { headers: { ...headers, ...BEARER } })
    expect(outcome).toBe('403 postern_browser_refused')
  }
})
