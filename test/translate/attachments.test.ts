import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import { Capability } from '../../src/media/capability.ts'
import {
  ATTACHMENT_BOUNDS,
  Attachments,
  type AttachmentBounds,
  type AttachmentOutcome,
  type AttachmentsParts,
} from '../../src/translate/attachments.ts'
import { refused } from '../support/refused.ts'
import { PLACE, SEALED, contentOf, scene } from './attachment-scene.ts'

const admit = (): Promise<void> => Promise.resolve()

const PDF = Buffer.from('%PDF-1.7 words')
const BOUNDS: AttachmentBounds = { openings: 2, keptBytes: 1000, keptFiles: 10, keptMs: 60_000 }

/** Attachments of a private chat with Alice, each of which waits until a test lets it come. */
function stage(o: { bounds?: Partial<AttachmentBounds>; opens?: 'nothing' } = {}) {
  const { all, files, parts, room } = scene()
  const asked: { mediaId: string; signal: AbortSignal; come: (error?: Error) => void }[] = []
  const stored = vi.fn(async (mediaId: string, signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    asked.push({ mediaId, signal, come: (error) => (error ? reject(error) : resolve()) })
    signal.addEventListener('abort', () => reject(new NoResponseError('postern_upstream_timeout')))
    await promise
    return (async function* () {
      yield* all.stored
    })()
  })
  const capability = new Capability(Buffer.alloc(32))
  const placeOf = vi.fn((mediaId: string) =>
    Promise.resolve(mediaId === 'abc' ? { ...PLACE } : null),
  )
  const made: AttachmentsParts = {
    room: { ...room, bytes: 77 },
    stored,
    bounds: { ...BOUNDS, ...o.bounds },
    opens:
      o.opens === 'nothing'
        ? null
        : ({ ...parts(), named: { ...parts().named, placeOf }, stored, capability } as never),
  }
  const attachments = new Attachments(made)
  onTestFinished(() => attachments[Symbol.asyncDispose]())
  const outcomes: AttachmentOutcome[] = []
  const decrypted: string[] = []
  attachments.onFetched((outcome) => outcomes.push(outcome))
  attachments.onDecrypted((fingerprint) => decrypted.push(fingerprint))
  const queryOf = (mediaId: string, chatId = PLACE.chatId): string =>
    new URL(capability.pathOf({ ...PLACE, mediaId, chatId }), 'http://x').search.slice(1)
  const byUrl = (mediaId: string, chatId?: number) =>
    attachments.byUrl(mediaId, queryOf(mediaId, chatId))
  /** Waits until so many were asked for, and lets them come. */
  const come = async (count: number, error?: Error): Promise<void> => {
    await vi.waitFor(() => expect(asked.length).toBe(count))
    for (const one of asked) one.come(error)
  }
  return { attachments, all, files, asked, come, stored, byUrl, outcomes, decrypted, placeOf }
}

describe('an attachment', () => {
  test('is opened for a url of ours, and reported with its verdict and its time', async () => {
    const { attachments, byUrl, asked, outcomes, decrypted } = stage()
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    vi.advanceTimersByTime(1000)
    const reading = byUrl('abc')
    while (asked.length === 0) await turn()
    vi.advanceTimersByTime(40)
    asked[0]?.come()
    const lease = await reading
    if (lease === null) throw new Error('no right')
    expect(await contentOf(lease.value)).toEqual(PDF)
    expect(lease.value.verdict).toBe('verified')
    expect(outcomes).toEqual([{ outcome: 'verified', ms: 40 }])
    expect(decrypted).toEqual(['own fingerprint'])
    expect([attachments.openings, attachments.spoolBytes]).toEqual([0, 77])
    lease.release()
  })

  test('is not given for any other url, and nothing is asked', async () => {
    const { attachments, byUrl, stored } = stage()
    expect(await attachments.byUrl('abc', '')).toBeNull()
    expect(await attachments.byUrl('abc', 'chat=50&from=5&key=x')).toBeNull()
    expect(stored).not.toHaveBeenCalled()
    void byUrl('abc').catch(() => undefined)
    await vi.waitFor(() => expect(stored).toHaveBeenCalledTimes(1))
  })

  test('that an update named is given to whoever has the token, and no other', async () => {
    const { attachments, come } = stage()
    const reading = attachments.named('abc', admit)
    await come(1)
    expect((await reading).value.verdict).toBe('verified')
    await expect(attachments.named('other', admit)).rejects.toThrow(
      refused('media_not_found', 'no update named'),
    )
  })

  test('is given as it is stored by a sidecar that opens nothing, and none by its name', async () => {
    const { attachments, come, outcomes, decrypted } = stage({ opens: 'nothing' })
    const reading = attachments.byUrl('abc', 'any query')
    await come(1)
    const lease = await reading
    if (lease === null) throw new Error('no right')
    expect(await contentOf(lease.value)).toEqual(SEALED)
    expect([outcomes.map(({ outcome }) => outcome), decrypted]).toEqual([['stored'], []])
    await expect(attachments.named('abc', admit)).rejects.toThrow(refused('media_not_found'))
  })

  test.each([
    [new Refusal('postern_media_too_large'), 'postern_media_too_large'],
    [new Error('odd'), 'service'],
  ])('that cannot be had is reported, and asked for anew: %s', async (error, outcome) => {
    const { attachments, byUrl, come, outcomes } = stage()
    const reading = byUrl('abc')
    const failing = expect(reading).rejects.toBe(error)
    await come(1, error)
    await failing
    expect(outcomes.map((one) => one.outcome)).toEqual([outcome])
    expect(attachments.openings).toBe(0)
    const again = byUrl('abc')
    await come(2)
    expect((await again)?.value.verdict).toBe('verified')
  })
})

describe('one attachment', () => {
  test('is fetched once for all who ask while it is under way, and kept for those after', async () => {
    const { attachments, byUrl, come, stored } = stage()
    const reading = [byUrl('abc'), byUrl('abc'), attachments.named('abc', admit)]
    await turn()
    expect(attachments.openings).toBe(1)
    await come(1)
    const leases = await Promise.all(reading)
    const after = await byUrl('abc')
    expect(new Set([...leases, after].map((lease) => lease?.value)).size).toBe(1)
    expect(stored).toHaveBeenCalledTimes(1)
  })

  test('under the right of another chat is another', async () => {
    const { byUrl, come, stored } = stage()
    const reading = [byUrl('abc'), byUrl('abc', 51)]
    await come(2)
    const [one, other] = await Promise.all(reading)
    expect(one?.value).not.toBe(other?.value)
    expect(stored).toHaveBeenCalledTimes(2)
  })

  test('that is too large to be kept is given to whoever asked, and fetched anew for others', async () => {
    const { byUrl, come, stored, files } = stage({ bounds: { keptBytes: 5 } })
    const reading = byUrl('abc')
    await come(1)
    const lease = await reading
    expect(lease?.value.verdict).toBe('verified')
    const again = byUrl('abc')
    await come(2)
    await again
    expect([stored.mock.calls.length, files[0]?.isClosed]).toEqual([2, false])
    lease?.release()
    await turn()
    expect(files[0]?.isClosed).toBe(true)
  })
})

describe('too many at once', () => {
  test('are refused with the time to ask again, and those under way go on', async () => {
    const { attachments, byUrl, come } = stage()
    const reading = [byUrl('a'), byUrl('b')]
    await turn()
    await expect(byUrl('c')).rejects.toThrow(
      refused('postern_busy', 'other attachments are being opened', { extra: { retryAfter: 2 } }),
    )
    const same = byUrl('a')
    await come(2)
    await Promise.all([...reading, same])
    expect(attachments.openings).toBe(0)
  })

  test('are four, unless a test says otherwise', () => {
    expect(ATTACHMENT_BOUNDS).toEqual({
      openings: 4,
      keptBytes: 268_435_456,
      keptFiles: 200,
      keptMs: 300_000,
    })
  })
})

test('the end of it all ends what is under way, lets nothing begin, and gives the room back', async () => {
  const { attachments, all, files, byUrl, asked, come } = stage()
  all.stored = [SEALED]
  const kept = byUrl('kept')
  await come(1)
  ;(await kept)?.release()
  const reading = byUrl('abc')
  const failing = expect(reading).rejects.toThrow(refused('postern_upstream_timeout'))
  await vi.waitFor(() => expect(asked.length).toBe(2))
  await attachments[Symbol.asyncDispose]()
  await failing
  expect(asked[1]?.signal.aborted).toBe(true)
  await expect(byUrl('later')).rejects.toThrow(refused('postern_busy'))
  await turn()
  expect(files.map(({ isClosed }) => isClosed)).toEqual([true])
})
