import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import { Capability } from '../../src/attachments/capability.ts'
import { ATTACHMENT_BOUNDS, Attachments } from '../../src/attachments/attachments.ts'
import type {
  AttachmentBounds,
  AttachmentOutcome,
  AttachmentsParts,
} from '../../src/attachments/attachments.ts'
import { refused } from '../support/refused.ts'
import { contentOf } from '../support/memory-room.ts'
import { PLACE, SEALED, scene } from './attachment-scene.ts'

const PDF = Buffer.from('%PDF-1.7 words')
const BOUNDS: AttachmentBounds = {
  ...ATTACHMENT_BOUNDS,
  openings: 2,
  keptBytes: 1000,
  keptFiles: 10,
  keptMs: 60_000,
}

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
    room: Object.assign(room, { bytes: 77 }),
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

test('an attachment opened by its url is reported with verdict, duration and key', async () => {
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
  expect(await contentOf(lease.value.file)).toEqual(PDF)
  expect(lease.value.verdict).toBe('verified')
  expect(outcomes).toEqual([{ outcome: 'verified', ms: 40 }])
  expect(decrypted).toEqual(['own fingerprint'])
  expect([attachments.openings, attachments.spoolBytes]).toEqual([0, 77])
  lease.release()
})

test.each([
  [new Refusal('postern_media_too_large'), 'postern_media_too_large'],
  [new Error('odd'), 'service'],
])(
  'a failed attachment is reported, and the next request fetches it again: %s',
  async (error, outcome) => {
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
  },
)

test('an attachment requested under another chat is fetched and judged again', async () => {
  const { byUrl, come, stored } = stage()
  const reading = [byUrl('abc'), byUrl('abc', 51)]
  await come(2)
  const [one, other] = await Promise.all(reading)
  expect(one?.value).not.toBe(other?.value)
  expect(stored).toHaveBeenCalledTimes(2)
})

test('disposed `Attachments` abort fetches under way, refuse new ones and close their files', async () => {
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

const takeCall = vi.fn()

test('each fetch of a file for a client counts as its call, a refused file again, and a kept one not', async () => {
  const { attachments, asked, placeOf, come } = stage({})
  takeCall.mockClear()
  placeOf.mockImplementation(async (mediaId) => ({ ...PLACE, mediaId }))
  const get = () => attachments.named('abc', { name: 'reporter', takeCall }, async () => {})
  const refusing = expect(get()).rejects.toThrow()
  await vi.waitFor(() => expect(asked.length).toBe(1))
  asked[0]?.come(new Refusal('postern_media_too_large'))
  await refusing
  const got = get()
  await come(2)
  ;(await got).release()
  ;(await get()).release()
  expect(takeCall).toHaveBeenCalledTimes(2)
  takeCall.mockImplementationOnce(() => {
    throw new Refusal('rate_limited')
  })
  placeOf.mockImplementation(async (mediaId) => ({ ...PLACE, mediaId, chatId: 77 }))
  await expect(get()).rejects.toThrow(refused('rate_limited'))
  expect(asked.length).toBe(2)
})

test('a client’s files are opened one at a time, in turns with other clients, and never in place of the bot’s', async () => {
  const { attachments, asked, byUrl, placeOf } = stage({ bounds: { openings: 1, clientFiles: 3 } })
  placeOf.mockImplementation(async (mediaId) => ({ ...PLACE, mediaId }))
  const of = (client: string, mediaId: string) =>
    attachments.named(mediaId, { name: client, takeCall }, async () => {})
  const greedy = ['a1', 'a2', 'a3'].map((id) => of('greedy', id))
  await expect(of('greedy', 'a4')).rejects.toThrow(refused('rate_limited', 'share of files'))
  const later = [of('second', 'b1'), of('third', 'c1')]
  const own = byUrl('a2')
  const ids = () => asked.map(({ mediaId }) => mediaId)
  await vi.waitFor(() => expect(ids().toSorted()).toEqual(['a1', 'a2', 'b1']))
  await expect(byUrl('abe')).rejects.toThrow(refused('postern_busy'))
  for (let n = 0; n < 6; n++) {
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(n))
    asked[n]?.come()
  }
  expect(ids().slice(3)).toEqual(['c1', 'a2', 'a3'])
  for (const file of await Promise.all([...greedy, ...later, own])) file?.release()
  const again = await of('greedy', 'a1')
  again.release()
})

test('a client’s file is refused where files of half the room are on the disk, and the bot’s is not', async () => {
  const { attachments, byUrl, come } = stage({ bounds: { clientSpoolBytes: 76 } })
  const refusal = attachments.named('abc', { name: 'reporter', takeCall }, async () => {})
  await expect(refusal).rejects.toThrow(refused('rate_limited'))
  const own = byUrl('abc')
  await come(1)
  expect(await own).not.toBeNull()
})
