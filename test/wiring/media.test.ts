/** Attachments of a bot without a key; whole sidecars are in `test/attachments`. */
import { expect, test, vi } from 'vitest'
import { settingsFrom } from '../../src/config/settings.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { createMedia } from '../../src/wiring/media.ts'
import { open, temporary } from '../store/support.ts'
import { contentOf } from '../support/memory-room.ts'
import { PlayedParts } from './played-parts.ts'

const PDF = Buffer.from('%PDF-1.7 as it is stored')

test('a bot without a key receives files unopened, under unchanged urls', async () => {
  const dataDir = temporary()
  const store = await open(dataDir, { protection: 'none', isRequired: true })
  const stored = vi.fn(async (_id: string, _signal: AbortSignal) => {
    return (async function* () {
      yield PDF
    })()
  })
  const link = new PlayedParts().part('link', { upstream: { media: stored } })
  const settings = settingsFrom({ upstream: { url: 'https://service.example/base' }, dataDir })
  const parts = { settings, link, store, memory: memoryOf(store), name: undefined }
  await using media = await createMedia(parts, null)
  const { attachments, urls } = media
  expect(urls).toBeNull()
  const lease = await attachments.byUrl('abc', '')
  expect(lease?.value.verdict).toBeNull()
  expect(lease && (await contentOf(lease.value.file))).toEqual(PDF)
  expect(stored.mock.calls.map(([id]) => id)).toEqual(['abc'])
  await expect(attachments.named('abc', null, () => Promise.resolve())).rejects.toMatchObject({
    code: 'media_not_found',
  })
  const secrets = await store.read((db) => db.selectFrom('secrets').select('name').execute())
  expect(secrets.map(({ name }) => name)).not.toContain('media-url')
})
