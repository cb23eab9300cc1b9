import { createHash } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { EngineUnavailableError, NoResponseError, Refusal } from '../../src/errors.ts'
import { BOUNDS } from '../../src/openpgp/bounds.ts'
import { fetchAttachment, openAttachment, type Attachment } from '../../src/translate/attachment.ts'
import { refused } from '../support/refused.ts'
import { PLACE, SEALED, contentOf, scene } from './attachment-scene.ts'
import { ALICE, BOT, FINGERPRINT } from '../kernel/opening/signatures-scene.ts'

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

describe('what is not sealed', () => {
  test('is given as it is stored where the chat is readable, whenever that was asked', async () => {
    const mode = vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open'))
    const { attachment, all } = await open({ ...readable, mode, stored: [PDF, PDF] })
    const { contentType, verdict, signer, tag } = await attachment
    expect(await contentOf(await attachment)).toEqual(Buffer.concat([PDF, PDF]))
    expect([contentType, verdict, signer]).toEqual(['application/pdf', null, undefined])
    expect(tag).toMatch(/^[0-9a-f-]{36}$/)
    expect([mode.mock.calls, all.openFile.mock.calls, all.left.mock.calls.length]).toEqual([
      [[50, 0]],
      [],
      1,
    ])
  })

  test('is not given where the chat is protected, by what is known or what the service says', async () => {
    const mode = vi.fn(() => Promise.resolve('protected'))
    for (const more of [{}, { ...readable, mode }]) {
      const { attachment, files } = await open({ ...more, stored: [PDF] })
      await expect(attachment).rejects.toThrow(refused('postern_plaintext_in_protected'))
      expect(files).toEqual([])
    }
  })

  test('is not given when the chat is seen protected while the service is asked', async () => {
    const mustSeal = vi.fn(() => mustSeal.mock.calls.length > 1)
    const { attachment } = await open({ mustSeal, stored: [PDF] })
    await expect(attachment).rejects.toThrow(refused('postern_plaintext_in_protected'))
  })

  test('is given with its verdict where everything is delivered', async () => {
    const { attachment } = await open({ policyOfVerify: 'off', stored: [PDF] })
    expect((await attachment).verdict).toBe('plaintext-in-protected')
    expect(await contentOf(await attachment)).toEqual(PDF)
  })

  test('is not given while nobody says what the chat is', async () => {
    const mode = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
    for (const stored of [[PDF], [SEALED]]) {
      const { attachment, all } = await open({ ...readable, mode, stored })
      await expect(attachment).rejects.toThrow(refused('postern_upstream_timeout'))
      expect(all.left).toHaveBeenCalledTimes(1)
    }
  })
})

describe('a file as it is stored', () => {
  const chunk = Buffer.alloc(2 ** 20)
  const stored = (bytes: number): Buffer[] => [
    ...Array.from({ length: Math.floor(bytes / chunk.length) }, () => chunk),
    Buffer.alloc(bytes % chunk.length),
  ]

  test('is given up to the greatest size of a file, and no byte more; its room is given back', async () => {
    const fits = scene()
    fits.all.stored = stored(BOUNDS.attachmentBytes)
    const { file } = await fetchAttachment('abc', signal, fits.parts())
    expect([file.bytes, fits.files[0]?.isClosed]).toEqual([BOUNDS.attachmentBytes, false])
    const large = scene()
    large.all.stored = stored(BOUNDS.attachmentBytes + 1)
    const fetched = fetchAttachment('abc', signal, large.parts())
    await expect(fetched).rejects.toThrow(refused('postern_media_too_large'))
    expect(large.files.map(({ isClosed }) => isClosed)).toEqual([true])
    expect(large.all.left).toHaveBeenCalledTimes(1)
  })

  test('is fetched whatever it is by a sidecar that opens nothing', async () => {
    const { all, parts } = scene()
    const { verdict, contentType, ...attachment } = await fetchAttachment('abc', signal, parts())
    expect(await contentOf({ verdict, contentType, ...attachment })).toEqual(SEALED)
    expect([verdict, contentType]).toEqual([null, 'application/octet-stream'])
    expect([all.mustSeal.mock.calls, all.left.mock.calls.length]).toEqual([[], 1])
  })

  test('has another tag each time it is fetched', async () => {
    const { parts } = scene()
    const tags = await Promise.all(
      [1, 2].map(async () => (await fetchAttachment('abc', signal, parts())).tag),
    )
    expect(new Set(tags).size).toBe(2)
  })

  test('in a readable chat is the ciphertext itself, by an answer asked for since', async () => {
    const mode = vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open'))
    const beforeMs = performance.now()
    const { attachment, all } = await open({ ...readable, mode })
    expect(await contentOf(await attachment)).toEqual(SEALED)
    expect((await attachment).verdict).toBeNull()
    expect(all.openFile).not.toHaveBeenCalled()
    expect(mode.mock.calls[0]?.[1]).toBeGreaterThanOrEqual(beforeMs)
  })
})

describe('a sealed file', () => {
  test('by its sender is given opened, and remembered in its place', async () => {
    const { attachment, all } = await open()
    const { contentType, verdict, signer, tag } = await attachment
    expect(await contentOf(await attachment)).toEqual(PDF)
    expect([contentType, verdict, signer]).toEqual(['application/pdf', 'verified', FINGERPRINT])
    const digest = createHash('sha256').update('tag data digest').digest('base64url')
    expect(tag).toBe(digest.slice(0, 22))
    expect(all.onOpened.mock.calls).toEqual([['own fingerprint']])
    expect(all.openedBefore.mock.calls).toEqual([[PLACE, 'data digest']])
    expect(all.noteOpened.mock.calls).toEqual([[PLACE, 'data digest', undefined]])
    expect(all.rememberSigned.mock.calls).toEqual([[[ALICE], 'file']])
    const sighting = {
      ...PLACE,
      updateId: null,
      messageId: null,
      dateMs: null,
      dataDigest: 'data digest',
      signatureDigest: 'digest',
    }
    expect(all.recognize.mock.calls).toEqual([[sighting, ['digest']]])
    expect(all.remember.mock.calls).toEqual([[sighting, 'new']])
    expect(all.left).toHaveBeenCalledTimes(1)
  })

  test('is opened with the keys that are unlocked, in the form that it has', async () => {
    const { all, room } = await open()
    expect(all.openFile.mock.calls[0]?.[1]).toEqual({
      form: 'armored',
      keys: [{ fingerprints: expect.any(Array) as unknown }],
      room,
    })
  })

  test('is opened where the service says that the chat is protected', async () => {
    const mode = vi.fn(() => Promise.resolve('protected'))
    expect((await (await open({ ...readable, mode })).attachment).verdict).toBe('verified')
  })

  test.each([
    [{ outcome: 'not-encrypted' }, 'postern_damaged', 'not-encrypted'],
    [{ outcome: 'not-recipient' }, 'postern_not_recipient', ''],
    [{ outcome: 'damaged', reason: 'structure' }, 'postern_damaged', 'structure'],
    [{ outcome: 'too-large', reason: 'recipients' }, 'postern_media_too_large', 'recipients'],
  ])('that gives %j is refused as %s', async (outcome, code, detail) => {
    const openFile = vi.fn(() => Promise.resolve<object>(outcome))
    const { attachment, all } = await open({ openFile })
    await expect(attachment).rejects.toThrow(refused(code, detail))
    expect([all.onOpened.mock.calls.length, all.left.mock.calls.length]).toEqual([0, 1])
  })

  test.each(['openFile', 'openedBefore', 'signer'] as const)(
    'is not judged where %s fails for want of our own',
    async (name) => {
      const error = new EngineUnavailableError('no thread can be started')
      const { attachment, files } = await open({ [name]: vi.fn(() => Promise.reject(error)) })
      await expect(attachment).rejects.toBe(error)
      expect([error.status, error.extra.retryAfter]).toEqual([503, 2])
      expect(files.every(({ isClosed }) => isClosed)).toBe(true)
    },
  )

  test('that nobody signed is given as unsigned, and nobody is remembered to have signed', async () => {
    const made = scene()
    const unsigned = { ...(await made.opened()), signatures: [] }
    const { attachment, all } = await open({ openFile: vi.fn(() => Promise.resolve(unsigned)) })
    expect([(await attachment).verdict, (await attachment).signer]).toEqual(['unsigned', undefined])
    expect(all.rememberSigned).not.toHaveBeenCalled()
    expect(all.noteOpened).toHaveBeenCalledTimes(1)
  })

  test('that is not the sender’s is refused, forgotten, and its room is given back', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid']))
    const { attachment, all, files } = await open({ verify })
    await expect(attachment).rejects.toThrow(refused('postern_bad_signature'))
    expect(files.map(({ isClosed }) => isClosed)).toEqual([true])
    expect(all.onOpened, 'its key opened it all the same').toHaveBeenCalledTimes(1)
    for (const noted of [all.noteOpened, all.remember, all.rememberSigned]) {
      expect(noted).not.toHaveBeenCalled()
    }
  })

  test('that is not the sender’s is given with its verdict where everything is delivered', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid']))
    const { attachment, all } = await open({ verify, policyOfVerify: 'off' })
    expect((await attachment).verdict).toBe('bad-signature')
    expect(all.rememberSigned).not.toHaveBeenCalled()
  })

  test('whose sender cannot be asked for may be asked for again', async () => {
    const signer = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
    const { attachment } = await open({ signer })
    await expect(attachment).rejects.toThrow(refused('postern_upstream_unreachable'))
    const busy = vi.fn(() => Promise.reject(new Refusal('postern_busy')))
    await expect((await open({ signer: busy })).attachment).rejects.toMatchObject({
      code: 'postern_busy',
      extra: { retryAfter: 5 },
    })
  })

  test('that was seen before as something else is refused, whatever its signer’s state', async () => {
    const { attachment, all } = await open({ recognized: 'replayed' })
    await expect(attachment).rejects.toThrow(refused('postern_replayed'))
    expect(all.noteOpened).not.toHaveBeenCalled()
    const signer = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
    const withheld = await open({ recognized: 'replayed', signer })
    await expect(withheld.attachment).rejects.toThrow(refused('postern_replayed'))
  })

  test('under an id under which other data was opened is refused before it is judged', async () => {
    const { attachment, all, files } = await open({ before: 'other', policyOfVerify: 'off' })
    await expect(attachment).rejects.toThrow(refused('postern_replayed', 'other-data-before'))
    expect([all.recognize.mock.calls, files[0]?.isClosed]).toEqual([[], true])
  })

  test('under an id under which other data was opened meanwhile is not given', async () => {
    const noteOpened = vi.fn(() => Promise.resolve(false))
    const { attachment, files } = await open({ noteOpened })
    await expect(attachment).rejects.toThrow(refused('postern_replayed', 'other-data-before'))
    expect(files[0]?.isClosed).toBe(true)
  })

  test('that was opened here before is given again though its signature is old', async () => {
    const again = await open({ before: 'same', reaches: false, recognized: 'again' })
    expect((await again.attachment).verdict).toBe('verified')
    expect(again.all.noteOpened).not.toHaveBeenCalled()
    const { attachment } = await open({ reaches: false })
    await expect(attachment).rejects.toThrow(refused('postern_replayed', 'older-than-memory'))
  })

  test('by nobody is by an unknown signer, and nobody is remembered', async () => {
    const { attachment, all } = await open({ policyOfVerify: 'off' }, { ...PLACE, userId: null })
    expect((await attachment).verdict).toBe('unknown-signer')
    expect(all.rememberSigned).not.toHaveBeenCalled()
  })

  test('that the store cannot remember is not given, and its room is given back', async () => {
    const noteOpened = vi.fn(() => Promise.reject(new Refusal('postern_store_unwritable')))
    const { attachment, files } = await open({ noteOpened })
    await expect(attachment).rejects.toThrow(refused('postern_store_unwritable'))
    expect(files[0]?.isClosed).toBe(true)
  })
})

describe('in a private chat', () => {
  test('a file by somebody else than its person is not fetched', async () => {
    const { attachment, all, files } = await open({ personId: 6 })
    await expect(attachment).rejects.toThrow(refused('postern_bad_signature', 'other-person'))
    expect([files, all.left.mock.calls]).toEqual([[], []])
  })

  test('a file by the bot is as any other', async () => {
    const { attachment } = await open({}, { ...PLACE, userId: BOT })
    expect((await attachment).verdict).toBe('verified')
  })
})
