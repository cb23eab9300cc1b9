import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { NoResponseError } from '../../src/errors.ts'
import type { FoundMessage } from '../../src/kernel/opening/find-messages.ts'
import { DAMAGED, SHORT, asking, damaged, findings, never, sealed } from './batch-scene.ts'
import { found } from '../kernel/opening/examine-scene.ts'

const TIMES = { ...SHORT, budgetMs: 60_000, failedMs: 600_000, othersMs: 30_000 }
const BAD_CHAT = 99

useFakeTime({ toFake: ['performance'] }, 1_000_000)

const words = (text: string, chatId = 50): FoundMessage[] => [
  found({ text }, { chatId, updateChatId: chatId }),
]
const bad = (text: string): FoundMessage[] => words(text, BAD_CHAT)
const OK = [{ kind: 'untouched' }]
const WITHHELD = [{ kind: 'plain', verdict: 'mode-unknown', transientError: 'failed' }]

/** A service that does not answer about one chat, until `heal`. */
function scene(times = TIMES) {
  const made = asking(() => Promise.resolve('open'), times)
  const state = { isBroken: true }
  made.all.mode.mockImplementation(async (chatId?: number) => {
    if (chatId === BAD_CHAT && state.isBroken) throw new NoResponseError('postern_upstream_timeout')
    return 'open'
  })
  const asked = (chatId: number): number =>
    made.all.mode.mock.calls.filter(([id]: unknown[]) => id === chatId).length
  return { ...made, asked, heal: () => (state.isBroken = false) }
}

test('an update without an answer of the service is left with all later ones, and is delivered later with its text', async () => {
  const { batches, asked, heal } = scene()
  const updates = [words('a'), bad('b'), bad('c'), words('d')]
  expect(findings(await batches.examine(updates))).toEqual([OK])
  const left = updates.slice(1)
  expect(await batches.examine(left)).toEqual([])
  const before = asked(BAD_CHAT)
  expect(await batches.examine(left)).toEqual([])
  expect(asked(BAD_CHAT) - before, 'one call for both, without a repetition').toBe(1)
  expect(asked(50), 'what could be answered is asked for once').toBe(2)
  heal()
  expect(findings(await batches.examine(left))).toEqual([OK, OK, OK])
})

test('a sender’s updates are withheld together once other senders have waited for half a minute', async () => {
  const { batches } = scene()
  const updates = [bad('a'), words('b'), bad('c'), words('d'), bad('e'), words('f')]
  expect(await batches.examine(updates)).toEqual([])
  vi.advanceTimersByTime(30_000)
  expect(findings(await batches.examine(updates))).toEqual([
    WITHHELD,
    OK,
    WITHHELD,
    OK,
    WITHHELD,
    OK,
  ])
})

test('a batch ends at once when its caller leaves while the service does not answer', async () => {
  const { batches } = scene()
  const gone = new AbortController()
  const examining = batches.examine([bad('a')], { gone: gone.signal })
  await pause(1100)
  gone.abort()
  expect(await Promise.race([examining, pause(500, 'late')])).toEqual([])
})

test('a lookup that never ends delays the first update of a batch, and later updates are judged by themselves', async () => {
  const { batches, all } = scene({ ...TIMES, budgetMs: 40, firstMs: 2000 })
  expect(await batches.examine([bad('a')])).toEqual([])
  all.mode.mockImplementation((chatId?: number) =>
    chatId === BAD_CHAT ? never : Promise.resolve('open'),
  )
  const updates = [bad('a'), words('b'), bad('c')]
  for (let tries = 1; tries < 3; tries++) expect(await batches.examine(updates)).toEqual([])
  expect(findings(await batches.examine(updates))).toEqual([
    [{ kind: 'plain', verdict: 'mode-unknown' }],
  ])
  expect(findings(await batches.examine([words('b')]))).toEqual([OK])
})

test('a slow opening is aborted, and its update left, while another lookup is pending', async () => {
  const { batches, all } = scene({ ...TIMES, budgetMs: 40, firstMs: 2000 })
  expect(await batches.examine([bad('a')])).toEqual([])
  all.protectedChats.add(50)
  const aborted = vi.fn()
  const open = async (armored: string, _keys?: unknown, signal?: AbortSignal) => {
    if (armored !== 'slow') return DAMAGED
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
    aborted()
    throw new Error('aborted')
  }
  all.open.mockImplementation(open)
  const updates = [...['quick', 'slow'].map(sealed), bad('a')]
  expect(findings(await batches.examine(updates))).toEqual([[damaged()]])
  expect(aborted).toHaveBeenCalled()
})
