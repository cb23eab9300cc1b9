/** Attachments over a real store and spool; whole sidecars are in `test/media`. */
import { expect, onTestFinished, test, vi } from 'vitest'
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
