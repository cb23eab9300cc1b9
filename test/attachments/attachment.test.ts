import { expect, test, vi } from 'vitest'
import { EngineUnavailableError, NoResponseError, Refusal } from '../../src/errors.ts'
import { openAttachment, type Attachment } from '../../src/attachments/attachment.ts'
import { refused } from '../support/refused.ts'
import { PLACE, SEALED, scene } from './attachment-scene.ts'

type Scene = ReturnType<typeof scene>

const { signal } = new AbortController()
const PDF = Buffer.from('%PDF-1.7 words')

/** Opens the file of a scene of which some things are otherwise. */
async function open(
  more: Partial<Scene['all']> = {},
  place = PLACE,
): Promise<Scene & { attachment: Promise<Attachment> }> {
  const made = scene()
  Object.assign(made.all, more)
  const attachment = openAttachment(place, signal, made.parts())
  await attachment.catch(() => undefined)
  return { ...made, attachment }
}

const readable = { mustSeal: vi.fn(() => false) }

test('an unsealed attachment is refused when its chat becomes protected during the lookup of its mode', async () => {
  for (const readableLooks of [1, 2]) {
    const mustSeal = vi.fn(() => mustSeal.mock.calls.length > readableLooks)
    const { attachment } = await open({ mustSeal, stored: [PDF] })
    await expect(attachment).rejects.toThrow(refused('postern_plaintext_in_protected'))
  }
})

test('an attachment of a private chat is not fetched when its sender is not the chat’s person', async () => {
  const { attachment, files } = await open({ personId: 6 })
  await expect(attachment).rejects.toThrow(refused('postern_bad_signature', 'other-person'))
  expect(files).toEqual([])
})

test('an attachment is refused while the mode of its chat cannot be read', async () => {
  const mode = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
  for (const stored of [[PDF], [SEALED]]) {
    const { attachment, all } = await open({ ...readable, mode, stored })
    await expect(attachment).rejects.toThrow(refused('postern_upstream_timeout'))
    expect(all.left).toHaveBeenCalledTimes(1)
  }
})

test.each(['openFile', 'openedBefore', 'signer'] as const)(
  'a sealed attachment is refused with 503 where `%s` fails inside the sidecar',
  async (name) => {
    const error = new EngineUnavailableError('no thread can be started')
    const { attachment, files } = await open({ [name]: vi.fn(() => Promise.reject(error)) })
    await expect(attachment).rejects.toBe(error)
    expect([error.status, error.extra.retryAfter]).toEqual([503, 2])
    expect(files.every(({ isClosed }) => isClosed)).toBe(true)
  },
)

test('a sealed attachment whose sender’s certificate cannot be read is refused with a transient code', async () => {
  const signer = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
  const { attachment } = await open({ signer })
  await expect(attachment).rejects.toThrow(refused('postern_upstream_unreachable'))
  const busy = vi.fn(() => Promise.reject(new Refusal('postern_busy')))
  await expect((await open({ signer: busy })).attachment).rejects.toMatchObject({
    code: 'postern_busy',
    extra: { retryAfter: 5 },
  })
})

test('a sealed attachment is `postern_replayed` when other data was opened under its id meanwhile', async () => {
  const noteOpened = vi.fn(() => Promise.resolve(false))
  const { attachment, files } = await open({ noteOpened })
  await expect(attachment).rejects.toThrow(refused('postern_replayed', 'other-data-before'))
  expect(files[0]?.isClosed).toBe(true)
})

test('a sealed attachment that the store cannot record is refused, and its file is closed', async () => {
  const noteOpened = vi.fn(() => Promise.reject(new Refusal('postern_store_unwritable')))
  const { attachment, files } = await open({ noteOpened })
  await expect(attachment).rejects.toThrow(refused('postern_store_unwritable'))
  expect(files[0]?.isClosed).toBe(true)
})
