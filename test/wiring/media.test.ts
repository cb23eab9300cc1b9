/** Attachments over a real store and spool: where their urls point, and what those open. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { settingsFrom, type Settings } from '../../src/config/settings.ts'
import { NamedMedia } from '../../src/kernel/index.ts'
import { Capability } from '../../src/media/capability.ts'
import { memoryOf } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createMedia, SPOOL_MAX_BYTES } from '../../src/wiring/media.ts'
import { open, temporary } from '../store/support.ts'
import { contentOf, PLACE, scene as opening, SEALED } from '../translate/attachment-scene.ts'
import { PlayedParts } from './played-parts.ts'

const URL_OF_SERVICE = 'https://service.example/base'
const PDF = Buffer.from('%PDF-1.7 as it is stored')

interface Scene {
  store?: Store
  verify?: Settings['open']['verify']
  name?: string
  hasKey?: boolean
}

/** Attachments of a protected chat with Alice; the service stores `content` under every id. */
async function scene({ verify = 'off', name, hasKey = true, ...given }: Scene = {}) {
  const dataDir = temporary()
  const store = given.store ?? (await open(dataDir, { protection: 'none', isRequired: true }))
  const memory = memoryOf(store)
  const service = { content: PDF }
  const stored = vi.fn(async (_id: string, _signal: AbortSignal) => {
    return (async function* () {
      yield service.content
    })()
  })
  const link = new PlayedParts().part('link', { upstream: { media: stored } })
  const { all, parts } = opening()
  const { room: _room, stored: _stored, named: _named, verify: _verify, ...opens } = parts()
  const settings = settingsFrom({ upstream: { url: URL_OF_SERVICE }, dataDir, open: { verify } })
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
  return { ...media, media, all, dataDir, store, memory, service, stored, rewritten }
}

const queryOf = (url: URL): string => url.search.slice(1)

describe('a file in an update', () => {
  test('has a url at our own door, which gives it in its chat alone', async () => {
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

  test('is given by its id once an update has named it, and not before', async () => {
    const { attachments, rewritten } = await scene()
    const unknown = { code: 'media_not_found' }
    await expect(attachments.named('abc', () => Promise.resolve())).rejects.toMatchObject(unknown)
    await rewritten()
    expect(
      await contentOf((await attachments.named('abc', () => Promise.resolve())).value),
    ).toEqual(PDF)
    await expect(attachments.named('abd', () => Promise.resolve())).rejects.toMatchObject(unknown)
  })

  test('is withheld where it should have been sealed, unless the settings deliver everything', async () => {
    const { attachments, rewritten } = await scene({ verify: 'flag' })
    const given = attachments.byUrl('abc', queryOf(await rewritten()))
    await expect(given).rejects.toMatchObject({ code: 'postern_plaintext_in_protected' })
  })

  test('is opened where it is sealed, and remembered as what was opened', async () => {
    const { attachments, all, memory, store, service, rewritten } = await scene()
    service.content = SEALED
    const lease = await attachments.byUrl('abc', queryOf(await rewritten()))
    expect(lease?.value).toMatchObject({ verdict: 'verified' })
    expect(all.openFile).toHaveBeenCalledOnce()
    const named = new NamedMedia(memory, await store.secret('media-seen'))
    expect(await named.openedBefore(PLACE, 'data digest')).toBe('same')
    expect(await named.openedBefore(PLACE, 'other digest')).toBe('other')
  })

  test('names the bot where there are several', async () => {
    const [one, other] = [await scene({ name: 'one' }), await scene()]
    expect((await one.rewritten()).searchParams.get('bot')).toBe('one')
    expect((await other.rewritten()).searchParams.has('bot')).toBe(false)
  })

  test('keeps its url for the life of the store, and has none of another store', async () => {
    const first = await scene()
    const url = await first.rewritten()
    const capability = new Capability(await first.store.secret('media-url'))
    expect(capability.read('abc', queryOf(url))).toEqual(PLACE)
    const again = await scene({ store: first.store })
    expect(await again.attachments.byUrl('abc', queryOf(url))).not.toBeNull()
    const { attachments } = await scene()
    expect(await attachments.byUrl('abc', queryOf(url))).toBeNull()
  })
})

test('without a key, files are given as they are stored, and no url is written anew', async () => {
  const { attachments, urls, stored, store } = await scene({ hasKey: false })
  expect(urls).toBeNull()
  const lease = await attachments.byUrl('abc', '')
  expect(lease?.value.verdict).toBeNull()
  expect(lease && (await contentOf(lease.value))).toEqual(PDF)
  expect(stored.mock.calls.map(([id]) => id)).toEqual(['abc'])
  await expect(attachments.named('abc', () => Promise.resolve())).rejects.toMatchObject({
    code: 'media_not_found',
  })
  const secrets = await store.read((db) => db.selectFrom('secrets').select('name').execute())
  expect(secrets.map(({ name }) => name)).not.toContain('media-url')
})

test('files rest in dataDir, at most 1 GiB of them, until the sidecar ends', async () => {
  const { attachments, media, rewritten, dataDir } = await scene()
  const query = queryOf(await rewritten())
  const lease = await attachments.byUrl('abc', query)
  expect(attachments.spoolBytes).toBe(PDF.length)
  expect([readdirSync(join(dataDir, 'spool')), SPOOL_MAX_BYTES]).toEqual([[], 1_073_741_824])
  await media[Symbol.asyncDispose]()
  expect(attachments.spoolBytes).toBe(0)
  await expect(lease && contentOf(lease.value)).rejects.toThrow()
  await expect(attachments.byUrl('abc', query)).rejects.toMatchObject({ code: 'postern_busy' })
})
