/** Attachments over a real store and spool; whole sidecars are in `test/media`. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { settingsFrom } from '../../src/config/settings.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { createMedia } from '../../src/wiring/media.ts'
import { open, temporary } from '../store/support.ts'
import { contentOf, PLACE, scene as opening } from '../translate/attachment-scene.ts'
import { PlayedParts } from './played-parts.ts'

const URL_OF_SERVICE = 'https://service.example/base'
const PDF = Buffer.from('%PDF-1.7 as it is stored')

/** Attachments of a protected chat with Alice; the service stores a PDF under every id. */
async function scene({ name, hasKey = true }: { name?: string; hasKey?: boolean } = {}) {
  const dataDir = temporary()
  const store = await open(dataDir, { protection: 'none', isRequired: true })
  const memory = memoryOf(store)
  const stored = vi.fn(async (_id: string, _signal: AbortSignal) => {
    return (async function* () {
      yield PDF
    })()
  })
  const link = new PlayedParts().part('link', { upstream: { media: stored } })
  const {
    room: _room,
    stored: _stored,
    named: _named,
    verify: _verify,
    ...opens
  } = opening().parts()
  const open_ = { verify: 'off' } as const
  const settings = settingsFrom({ upstream: { url: URL_OF_SERVICE }, dataDir, open: open_ })
  const media = await createMedia({ settings, link, store, memory, name }, hasKey ? opens : null)
  onTestFinished(() => media[Symbol.asyncDispose]())
  /** Writes the url of a file in an update of Alice's anew. @returns it as the bot gets it */
  const rewritten = async (url = `/media/${PLACE.mediaId}`) => {
    const { chatId, userId } = PLACE
    const item = { url }
    const message = { chat: { id: chatId }, from: { id: userId }, media: [item] }
    await media.urls?.rewrite([{ update: { message }, chatId }])
    return new URL(item.url, 'http://door')
  }
  return { ...media, store, stored, rewritten }
}

const queryOf = (url: URL): string => url.search.slice(1)

describe('a file in an update', () => {
  test('the url of a file points at the door of the bot, and is valid for its own chat alone', async () => {
    const { attachments, rewritten, stored } = await scene()
    const url = await rewritten()
    expect(url.href).toMatch(/^http:\/\/door\/media\/abc\?chat=50&from=5&key=/)
    expect((await rewritten(`${URL_OF_SERVICE}/media/abc`)).href).toBe(url.href)
    expect(await attachments.byUrl('abc', queryOf(url).replace('chat=50', 'chat=51'))).toBeNull()
    expect(await attachments.byUrl('abd', queryOf(url))).toBeNull()
    expect(stored).not.toHaveBeenCalled()
    const lease = await attachments.byUrl('abc', queryOf(url))
    expect(lease?.value).toMatchObject({ verdict: 'plaintext-in-protected' })
    expect(lease && (await contentOf(lease.value))).toEqual(PDF)
    expect(stored.mock.calls).toEqual([['abc', expect.any(AbortSignal)]])
  })

  test('a file is served by its id only after an update has named the file', async () => {
    const { attachments, rewritten } = await scene()
    const unknown = { code: 'media_not_found' }
    await expect(attachments.named('abc', null, () => Promise.resolve())).rejects.toMatchObject(
      unknown,
    )
    await rewritten()
    expect(
      await contentOf((await attachments.named('abc', null, () => Promise.resolve())).value),
    ).toEqual(PDF)
    await expect(attachments.named('abd', null, () => Promise.resolve())).rejects.toMatchObject(
      unknown,
    )
  })

  test('the url of a file names the bot of a process with several bots', async () => {
    const [one, other] = [await scene({ name: 'one' }), await scene()]
    expect((await one.rewritten()).searchParams.get('bot')).toBe('one')
    expect((await other.rewritten()).searchParams.has('bot')).toBe(false)
  })
})

test('a bot without a key receives files unopened, under unchanged urls', async () => {
  const { attachments, urls, stored, store } = await scene({ hasKey: false })
  expect(urls).toBeNull()
  const lease = await attachments.byUrl('abc', '')
  expect(lease?.value.verdict).toBeNull()
  expect(lease && (await contentOf(lease.value))).toEqual(PDF)
  expect(stored.mock.calls.map(([id]) => id)).toEqual(['abc'])
  await expect(attachments.named('abc', null, () => Promise.resolve())).rejects.toMatchObject({
    code: 'media_not_found',
  })
  const secrets = await store.read((db) => db.selectFrom('secrets').select('name').execute())
  expect(secrets.map(({ name }) => name)).not.toContain('media-url')
})
