/** How a call enters the outbox and leaves it: times, units, modes, and requests sent in part. */
import { expect, test, vi } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { OutboxEntries, type OutboxEntry } from '../../src/outbox/entries.ts'
import { giveLater, sendNow, type GiveParts } from '../../src/outbox/give.ts'
import { decide } from '../../src/outbox/hear.ts'
import type { OutboxAttempt } from '../../src/outbox/outbox.ts'
import type { Draft } from '../../src/translate/draft.ts'
import { open, temporary } from '../store/support.ts'
import { approvalsOf, NO_APPROVALS } from '../support/approvals.ts'
import { clientOf } from '../support/client.ts'
import { pauses } from '../support/fake-time.ts'
import { refused } from '../support/refused.ts'
import { entryOf } from './support.ts'

const [NOW, WEEK_MS, GROUP] = [1_700_000_000_000, 7 * 86_400_000, -5]
const AWAY = new NoResponseError('postern_upstream_timeout')
const OFFICES = [815, 816].map((personId) => {
  return { id: personId + 1000, kind: 'private', personId, latchedAtMs: null, refusedAtMs: null }
})
const RULE = { chats: [GROUP], kinds: ['send' as const], by: [815, 816], withinMs: 3_600_000 }

interface Answered {
  status?: number
  headers?: Record<string, string>
  error?: { code: string; retryAfter?: number }
  result?: object
}

async function scene({ isAsked = false } = {}) {
  const store = await open(temporary(), { protection: 'none' })
  const knownChats = { all: OFFICES, get: () => undefined }
  const approvals = approvalsOf({ rules: isAsked ? [RULE] : [], knownChats })
  const entries = await OutboxEntries.load(store, { ...NO_APPROVALS, approvals })
  const answers: (Answered | Error)[] = []
  const delivered: { draft: Draft; how: object }[] = []
  const calls = {
    admitLater: vi.fn(async () => {}),
    signer: vi.fn(async () => null),
    mustSeal: vi.fn(() => false),
    peek: vi.fn((): { mode: string } | undefined => ({ mode: 'open' })),
    rule: vi.fn(async () => ({ body: 'readable' })),
  }
  const deliver = async (draft: Draft, how: object) => {
    delivered.push({ draft, how })
    const answer = answers.shift() ?? {}
    if (answer instanceof Error) throw answer
    const { status = 201, headers = {}, error, result = { id: 12 } } = answer
    const envelope = error === undefined ? { ok: true, result } : { ok: false, error }
    return { status, headers, envelope, body: Buffer.from(JSON.stringify(envelope)) }
  }
  const played = { guard: calls, modes: calls, clients: calls, directory: calls }
  const parts = {
    ...played,
    entries,
    approvals,
    messages: { deliver },
    approverMaxAgeMs: 17_000,
    fresh: async () => {},
    rules: () => ({ textMax: 4096, sealsForBot: true }),
    nowMs: () => NOW,
  } as unknown as GiveParts
  const give = (more: object = {}, o: { messageId?: string; isClient?: boolean } = {}) => {
    const { messageId = null, isClient = false } = o
    const body = { chatId: GROUP, text: 'words', ...more }
    return giveLater({ body, messageId, client: isClient ? clientOf() : null }, parts)
  }
  const send = async ({ id }: { id: string }): Promise<OutboxAttempt> => {
    const words = (await entries.words(id)) ?? Buffer.from('{}')
    return await sendNow(entries.get(id) as OutboxEntry, words, parts)
  }
  const requests = (id: string) =>
    entries.get(id)?.approval?.requests.map(({ messageId }) => messageId)
  /** The chats of what was delivered since the last time. */
  const places = () => delivered.splice(0).map(({ draft }) => draft.chatId)
  return { entries, answers, delivered, calls, give, send, requests, places }
}

test.each<[string, unknown, number | null]>([
  ['no time', undefined, NOW],
  ['a time that is over', NOW - 1, NOW],
  ['a week', NOW + WEEK_MS, NOW + WEEK_MS],
  ['more than a week', NOW + WEEK_MS + 1, null],
])('a call with %s as its time is due then, or is refused', async (_what, deliverAt, dueAtMs) => {
  const { give } = await scene()
  const given = give({ deliverAt })
  if (dueAtMs === null) await expect(given).rejects.toThrow(refused('bad_request', 'deliverAt'))
  else expect(await given).toMatchObject({ dueAtMs, createdAtMs: NOW })
})

test.each<[string, mustSeal: boolean, mode: string | null, rule: string | Error | null, boolean]>([
  ['a chat of sealed words', true, 'open', 'readable', true],
  ['an open chat', false, 'open', 'sealed', false],
  ['a protected chat', false, 'protected', 'readable', true],
  ['a chat of another mode', false, 'x', 'readable', true],
  ['a chat that is found open', false, null, 'readable', false],
  ['a chat that is found sealed', false, null, 'sealed', true],
  ['a chat without an answer', false, null, AWAY, true],
  ['a chat of a slow service', false, null, null, true],
])('words for %s are marked by its mode', async (_what, mustSeal, mode, rule, isForSealed) => {
  const made = rule === null ? pauses() : []
  const { calls, give, delivered, send } = await scene()
  calls.mustSeal.mockReturnValue(mustSeal)
  calls.peek.mockReturnValue(mode === null ? undefined : { mode })
  calls.rule.mockImplementation(() => {
    if (rule === null) return new Promise(() => {})
    return rule instanceof Error ? Promise.reject(rule) : Promise.resolve({ body: rule })
  })
  const entry = await give()
  expect([entry.isForSealed, made]).toEqual([isForSealed, rule === null ? [2000] : []])
  await send(entry)
  expect(delivered[0]?.draft.target.isForSealed).toBe(isForSealed)
})

const HEADER = { 'retry-after': '3' }
test.each<[what: string, answer: Answered, attempt: Partial<OutboxAttempt>]>([
  ['an id', {}, { code: null, sentId: 12, mayPass: false }],
  ['a wait in a header', { status: 429, headers: HEADER, error: { code: 'x' } }, { retryMs: 3000 }],
  ['a wait in the body', { status: 429, error: { code: 'x', retryAfter: 4 } }, { retryMs: 4000 }],
  ['a refused token', { status: 401, error: { code: 'unauthorized' } }, { isOfAll: true }],
  ['a failure', { status: 500, error: { code: 'internal' } }, { isOfAll: true, mayPass: true }],
  ['a refusal', { status: 403, error: { code: 'x' } }, { mayPass: false }],
])('an answer with %s has its consequence', async (_what, answer, attempt) => {
  const { answers, send, give } = await scene()
  answers.push(answer)
  expect(await send(await give())).toMatchObject(attempt)
})

test('a call of a client is admitted by its rights of now, as the call that it is', async () => {
  const { calls, delivered, send, give } = await scene()
  await send(await give({ markup: { rows: [] } }, { isClient: true }))
  await send(await give({ text: 'x' }, { isClient: true, messageId: '7' }))
  expect(calls.admitLater.mock.calls).toEqual([
    ['reporter', { call: 'sendMessage', chatIds: [GROUP], textChars: 5, hasButtons: true }],
    ['reporter', { call: 'editMessage', chatIds: [GROUP], textChars: 1, hasButtons: false }],
  ])
  const hidden = { seesPeople: false }
  expect(delivered.map(({ how }) => how)).toMatchObject([hidden, hidden])
})

test('requests that were sent in part are completed under their ids, and none is sent twice', async () => {
  const { send, answers, delivered, give, requests, places } = await scene({ isAsked: true })
  const { id } = await give()
  answers.push({ result: { id: 1 } }, AWAY)
  expect(await send({ id })).toMatchObject({ mayPass: true, isOfAll: true })
  const lost = delivered[1]?.draft.fields['sendId']
  expect([places(), requests(id)]).toEqual([
    [1815, 1816],
    [1, null],
  ])
  answers.push({ result: { id: 2 } })
  expect(await send({ id })).toMatchObject({ code: null, sentId: null })
  expect(delivered[0]?.draft.fields['sendId']).toBe(lost)
  expect([places(), requests(id)]).toEqual([[1816], [1, 2]])
  await send({ id })
  expect(places()).toEqual([])
  const edit = await give({ chatId: 1815 }, { messageId: '1' })
  await expect(send(edit)).rejects.toThrow(refused('postern_request_fixed'))
})

test('a call leaves by the certificate of its approver that is fresh by the cache', async () => {
  const { send, calls, entries, give, delivered } = await scene({ isAsked: true })
  const { id, approval } = await give()
  const by = { userId: 816, messageId: 5, fingerprint: 'f', atMs: NOW }
  await decide(entries, { id, code: approval?.code ?? '', isApproved: true, ...by })
  const now = vi.spyOn(performance, 'now').mockReturnValue(100_000)
  await expect(send({ id })).rejects.toThrow(refused('postern_approver_changed'))
  now.mockRestore()
  expect([calls.signer.mock.calls, delivered]).toEqual([[[816, 1816, 83_000]], []])
})

test('an entry that another sidecar has sent is neither retried nor dropped', async () => {
  const store = await open(temporary(), { protection: 'none' })
  const [here, there] = [
    await OutboxEntries.load(store, NO_APPROVALS),
    await OutboxEntries.load(store, NO_APPROVALS),
  ]
  for (const change of [
    (id: string) => here.wait(id, { isForSealed: true, nowMs: 3 }),
    (id: string) => here.drop(id),
  ]) {
    const { id } = await here.add(entryOf(), Buffer.from('{}'))
    await here.settle(id, { state: 'refused', code: 'x' }, 1)
    await there.settle(id, { state: 'sent', code: null, sentId: 7 }, 2)
    expect(await change(id)).toBe(false)
    const again = await OutboxEntries.load(store, NO_APPROVALS)
    for (const one of [here, again]) {
      expect(one.get(id)).toMatchObject({ state: 'sent', sentId: 7, settledAtMs: 2 })
    }
  }
})
