/** The loop of the outbox over a store, with a clock and a service that a test plays. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { EngineUnavailableError, NoResponseError, Refusal, ServiceError } from '../../src/errors.ts'
import { OutboxEntries, type NewEntry } from '../../src/outbox/entries.ts'
import {
  Outbox,
  type OutboxAttempt,
  type OutboxEvent,
  type OutboxParts,
} from '../../src/outbox/outbox.ts'
import type { Store } from '../../src/store/store.ts'
import { open, temporary } from '../store/support.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { entryOf } from './support.ts'

const HOUR_MS = 3_600_000
const SENT: OutboxAttempt = { code: null, sentId: 7, retryMs: null, mayPass: false, isOfAll: false }

async function scene(o: { store?: Store; lock?: OutboxParts['store'] } = {}) {
  const store = o.store ?? (await open(temporary(), { protection: 'none' }))
  const entries = await OutboxEntries.load(store, NO_APPROVALS)
  const clock = playedClock()
  const tries: string[] = []
  const answers: (OutboxAttempt | Error)[] = []
  const settled: OutboxEvent[] = []
  const stuck: (string | null)[] = []
  const outbox = new Outbox({
    entries,
    store: o.lock ?? store,
    clock,
    send: async (_entry, words) => {
      tries.push(words.toString())
      await turn()
      const answer = answers.shift() ?? SENT
      if (answer instanceof Error) throw answer
      return answer
    },
    maxAgeMs: 72 * HOUR_MS,
  })
  outbox.onSettled((event) => settled.push(event))
  outbox.onStuck((entry) => stuck.push(entry?.id ?? null))
  onTestFinished(() => outbox[Symbol.asyncDispose]())
  const give = (words: string, more: Partial<NewEntry> = {}) =>
    entries.add(
      entryOf({ createdAtMs: clock.now(), dueAtMs: clock.now(), ...more }),
      Buffer.from(words),
    )
  return { store, entries, outbox, clock, tries, answers, settled, stuck, give }
}

test('the outbox sends the entries of a chat in order, each at its due time', async () => {
  const { outbox, give, tries, clock } = await scene()
  await give('late', { dueAtMs: 5000 })
  for (const words of ['one', 'two', 'three']) await give(words)
  outbox.start()
  await rest()
  expect(tries).toEqual(['one', 'two', 'three'])
  await clock.pass(4999)
  expect(tries).toHaveLength(3)
  await clock.pass(1)
  expect(tries[3]).toBe('late')
})

test('an entry delayed by slow mode delays the later entries of its own chat and no other chat', async () => {
  const { outbox, give, tries, answers, clock } = await scene()
  answers.push({ ...SENT, code: 'slow_mode', retryMs: 30_000, mayPass: true })
  await give('slow')
  await give('behind')
  await give('elsewhere', { chatId: 2 })
  outbox.start()
  await rest()
  expect(tries).toEqual(['slow', 'elsewhere'])
  await clock.pass(29_999)
  expect(tries).toHaveLength(2)
  await clock.pass(1)
  expect(tries.slice(2)).toEqual(['slow', 'behind'])
})

test.each<[string, OutboxAttempt | Error]>([
  ['a failed connection', new NoResponseError('postern_upstream_unreachable')],
  [
    'an `internal` error of the service',
    { ...SENT, code: 'internal', mayPass: true, isOfAll: true },
  ],
  [
    'a `rate_limited` error of the service',
    { ...SENT, code: 'rate_limited', mayPass: true, isOfAll: true },
  ],
  ['an `EngineUnavailableError`', new EngineUnavailableError('memory')],
  ['`postern_store_unwritable`', new Refusal('postern_store_unwritable')],
  ['`postern_key_unpublished`', new Refusal('postern_key_unpublished')],
])('the outbox delays the entries of all chats after %s', async (_what, answer) => {
  const { outbox, give, tries, answers, clock, settled } = await scene()
  answers.push(answer, answer)
  await give('one')
  outbox.start()
  await rest()
  await give('other', { chatId: 2 })
  await rest()
  expect([tries, settled]).toEqual([['one'], []])
  await clock.pass(10_000)
  expect(tries).toEqual(['one', 'one'])
  await clock.pass(60_000)
  expect(tries).toEqual(['one', 'one', 'one', 'other'])
})

test.each<[string, OutboxAttempt | Error, string]>([
  ['the service', { ...SENT, code: 'write_forbidden' }, 'write_forbidden'],
  ['a look-up of the chat', serviceError('chat_not_found', 404), 'chat_not_found'],
  ['Postern', new Refusal('postern_no_recipient'), 'postern_no_recipient'],
])(
  'an entry refused for good by %s is set aside with its code, and the next entry leaves',
  async (_who, answer, code) => {
    const { outbox, give, tries, answers, settled, entries } = await scene()
    answers.push(answer)
    const { id } = await give('poison')
    await give('next')
    outbox.start()
    await rest()
    expect(tries).toEqual(['poison', 'next'])
    expect(settled[0]).toEqual({ id, chatId: 1, state: 'refused', code })
    expect((await entries.words(id))?.toString()).toBe('poison')
    await entries.wait(id, { isForSealed: true, nowMs: 0 })
    await rest()
    expect([tries[2], entries.get(id)?.state, await entries.words(id)]).toEqual([
      'poison',
      'sent',
      null,
    ])
  },
)

test('an entry for sealed readers is held in a readable chat, and an unexpected error delays its own chat only', async () => {
  const { outbox, give, tries, answers, entries, clock } = await scene()
  answers.push(new Refusal('postern_mode_changed'), new Error('defect'))
  const { id } = await give('for sealed eyes')
  const other = await give('met a defect')
  outbox.start()
  await rest()
  await give('elsewhere', { chatId: 2 })
  await rest()
  expect(entries.get(id)).toMatchObject({ state: 'held', code: 'postern_mode_changed' })
  expect(entries.get(other.id)?.state).toBe('waiting')
  expect(tries).toContain('elsewhere')
  await clock.pass(1000)
  expect(entries.get(other.id)?.state).toBe('sent')
})

test('an entry 72 hours past its due time is refused with `postern_outbox_expired` and not sent', async () => {
  const { outbox, give, tries, clock, settled } = await scene()
  await give('old', { dueAtMs: 10 })
  await clock.pass(72 * HOUR_MS + 11)
  outbox.start()
  await rest()
  expect(tries).toEqual([])
  expect(settled).toMatchObject([{ state: 'refused', code: 'postern_outbox_expired' }])
})

test('the outbox reports an entry as stuck after ten minutes, once, until the entry has left', async () => {
  const { outbox, give, answers, clock, stuck } = await scene()
  answers.push(...Array.from({ length: 12 }, () => new NoResponseError('postern_upstream_timeout')))
  const { id } = await give('stuck')
  outbox.start()
  await rest()
  for (let minute = 0; minute < 30 && stuck.length < 2; minute++) await clock.pass(60_000)
  expect(stuck).toEqual([id, null])
})

test('a sidecar that loses its turn as the sending one starts no further entry', async () => {
  const held = { isHeld: true }
  const { signal } = new AbortController()
  const lock = {
    tryLock: async () =>
      held.isHeld
        ? {
            get isHeld() {
              return held.isHeld
            },
            signal,
            asked: signal,
            [Symbol.asyncDispose]: async () => {},
          }
        : null,
    untilFree: (_name: string, end: AbortSignal) =>
      new Promise<void>((resolve) => end.addEventListener('abort', () => resolve())),
  }
  const { outbox, give, tries } = await scene({ lock: lock as unknown as OutboxParts['store'] })
  outbox.onSettled(() => (held.isHeld = false))
  for (const words of ['one', 'two']) await give(words)
  outbox.start()
  await rest()
  expect(tries).toEqual(['one'])
})

function serviceError(code: string, status: number): ServiceError {
  const answer = { status, headers: {}, body: Buffer.from('{}') }
  return new ServiceError({
    code,
    status,
    expected: undefined,
    retryAfterSeconds: undefined,
    answer,
  })
}
