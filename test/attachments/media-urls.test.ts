import type { MediaPlace } from '../../src/kernel/index.ts'
import { expect, test, vi } from 'vitest'
import type { NamedMedia } from '../../src/kernel/opening/named-media.ts'
import { Refusal } from '../../src/errors.ts'
import { Capability } from '../../src/attachments/capability.ts'
import { MediaUrls } from '../../src/attachments/media-urls.ts'

const capability = new Capability(Buffer.alloc(32, 1))
const BASE = 'https://service.example/base'

function scene(upstreamUrl = `${BASE}//`) {
  const name = vi.fn((_places: readonly MediaPlace[]) => Promise.resolve())
  const named = { name } as unknown as NamedMedia
  return { urls: new MediaUrls({ capability, named, upstreamUrl }), name }
}

const place = (mediaId: string, more: Partial<MediaPlace> = {}): MediaPlace => ({
  mediaId,
  chatId: 50,
  userId: 5,
  ...more,
})

/** A Message of Alice's in chat 50 with these items. */
const message = (media: unknown, more: object = {}) => ({
  chat: { id: 50 },
  from: { id: 5 },
  media,
  ...more,
})

async function rewrite(update: unknown, chatId: number | null = 50, made = scene()) {
  const { changed } = await made.urls.rewrite([{ update, chatId }])
  return { changed, update, places: made.name.mock.calls[0]?.[0] }
}

test.each(['/media/a', `${BASE}/media/a`])(
  'the media url %s becomes a url of the sidecar, and its place is remembered',
  async (url) => {
    const item = { id: 1, name: 'x.png', sizes: [1, { a: null }] }
    const update = { message: message([{ ...item, url }]) }
    const { changed, places } = await rewrite(update)
    expect(update.message.media).toEqual([{ ...item, url: capability.pathOf(place('a')) }])
    expect([changed, places]).toEqual([true, [place('a')]])
  },
)

test('a media url under `upstream.url` is rewritten, and one under another base is not', async () => {
  const update = { message: message([{ url: 'http://x/media/a' }, { url: `${BASE}/media/b` }]) }
  expect((await rewrite(update, 50, scene('http://x'))).places).toEqual([place('a')])
  expect(update.message.media).toMatchObject([{}, { url: `${BASE}/media/b` }])
})

test.each([
  'https://elsewhere.example/media/a',
  '//elsewhere.example/media/a',
  '/media/../a',
  '/media/../bot/v1/me',
  '/media/..',
  '/media/a/b',
  '/media/a?b=c',
  '/media/a%2fb',
  '/media/',
  'media/a',
  '',
  5,
  null,
])('the media url %j is left unchanged', async (url) => {
  const item = { id: 1, durationMs: 1234, sizes: [1, { a: null }], url }
  const { changed, update } = await rewrite({ message: message([{ ...item }]) })
  expect([changed, update]).toEqual([false, { message: message([item]) }])
})

test('a media url anywhere inside a media item is rewritten', async () => {
  const item = { url: '/media/a', smaller: { url: '/media/b' }, sizes: [['/media/c']], id: 4 }
  const update = { message: message([item]) }
  const { places } = await rewrite(update)
  expect(places?.map(({ mediaId }) => mediaId)).toEqual(['a', 'b', 'c'])
  expect(item.sizes).toEqual([[capability.pathOf(place('c'))]])
})

test('the place of a media item without a valid sender has no person', async () => {
  for (const from of [undefined, null, 5, { id: '5' }, { id: 1.5 }]) {
    const { places } = await rewrite({ message: message([{ url: '/media/a' }], { from }) })
    expect(places).toEqual([place('a', { userId: null })])
  }
})

const item = () => [{ url: '/media/a' }]

test('a media item of another chat than its update’s is not rewritten', async () => {
  for (const chat of [{ id: 51 }, { id: '50' }, {}, 50, 'chat']) {
    const update = { message: message(item(), { chat }) }
    expect(await rewrite(structuredClone(update))).toEqual({ changed: false, update, places: [] })
  }
  for (const chat of [{ id: 50 }, null]) {
    const { changed } = await rewrite({ message: message(item(), { chat }) }, null)
    expect(changed).toBe(false)
  }
})

test('a media item inside a Message of another chat is not rewritten', async () => {
  const inner = message(item())
  expect((await rewrite({ chat: { id: 51 }, message: inner })).changed).toBe(false)
  const quoted = { chat: { id: 51 }, replyTo: message(item()) }
  expect((await rewrite({ message: { ...message([]), replyTo: quoted } })).changed).toBe(false)
})

test('a media item of a quotation or press has its own sender and the chat of its update', async () => {
  const quotation = { from: { id: 6 }, media: [{ url: '/media/b' }] }
  const quoting = message([{ url: '/media/a' }], { replyTo: quotation })
  const update = { callbackQuery: { id: 'p', from: { id: 9 }, message: quoting } }
  const { places } = await rewrite(update)
  expect(places).toEqual([place('a'), place('b', { userId: 6 })])
})

test.each([undefined, null])(
  'a media item of a Message whose chat is %s has the chat of its update',
  async (chat) => {
    const { places } = await rewrite({ message: message(item(), { chat }) })
    expect(places).toEqual([place('a')])
  },
)

test('a media field that is no list is left unchanged', async () => {
  expect((await rewrite({ message: message({ url: '/media/a' }) })).changed).toBe(false)
  expect((await rewrite({ message: message(null) })).changed).toBe(false)
})

test('a media item is found up to a depth of 32', async () => {
  const within = (levels: number): unknown =>
    levels === 0 ? { media: ['/media/a'] } : { inner: within(levels - 1) }
  expect((await rewrite(within(32))).changed).toBe(true)
  expect((await rewrite(within(33))).changed).toBe(false)
  const deepIn = (levels: number): unknown =>
    levels === 0 ? '/media/a' : { inner: deepIn(levels - 1) }
  expect((await rewrite(message([deepIn(32)]))).changed).toBe(true)
  expect((await rewrite(message([deepIn(33)]))).changed).toBe(false)
})

test('an answer’s first thousand media items are remembered, and all are rewritten', async () => {
  const items = Array.from({ length: 1001 }, (_, n) => ({ url: `/media/m${n}` }))
  const { places } = await rewrite({ message: message(items) })
  expect(places?.length).toBe(1000)
  expect(items[1000]).toEqual({ url: capability.pathOf(place('m1000')) })
})

test('an answer with an unwritable store ends before the first media item', async () => {
  const made = scene()
  made.name.mockRejectedValue(new Refusal('postern_store_unwritable'))
  const updates = [{}, {}, { message: message([{ url: '/media/a' }]) }, {}]
  const asked = updates.map((update) => ({ update, chatId: 50 }))
  expect(await made.urls.rewrite(asked)).toEqual({ changed: true, count: 2 })
  made.name.mockResolvedValue()
  expect((await made.urls.rewrite(asked)).count).toBe(4)
})

test.each(['postern_store_unwritable', 'postern_locked', 'odd'] as const)(
  'a failure to remember a media item of the first update is thrown: %s',
  async (what) => {
    const error = what === 'odd' ? new Error(what) : new Refusal(what)
    const made = scene()
    made.name.mockRejectedValue(error)
    const writing = rewrite({ message: message([{ url: '/media/a' }]) }, 50, made)
    await expect(writing).rejects.toBe(error)
  },
)

test('the media items of several updates are remembered each in its own chat', async () => {
  const made = scene()
  const [here, there] = [50, 51].map((id) => ({
    chatId: id,
    update: { message: message([{ url: `/media/${id}` }], { chat: { id } }) },
  }))
  if (here === undefined || there === undefined) throw new Error('two updates')
  expect(await made.urls.rewrite([here, there])).toEqual({ changed: true, count: 2 })
  expect(made.name.mock.calls).toEqual([[[place('50'), place('51', { chatId: 51 })]]])
})
