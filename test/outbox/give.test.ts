/** How a call enters the outbox and leaves it: times, units, modes, and requests sent in part. */
import { expect, test, vi } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { OutboxEntries, type OutboxEntry } from '../../src/outbox/entries.ts'
import { clearNow, giveLater, sendNow, type GiveParts } from '../../src/outbox/give.ts'
import { decide } from '../../src/outbox/hear.ts'
import type { OutboxAttempt } from '../../src/outbox/outbox.ts'
import type { Draft } from '../../src/translate/draft.ts'
import { open, temporary } from '../store/support.ts'
import { approvalsOf, editsOf, NO_APPROVALS } from '../support/approvals.ts'
import { clientOf } from '../support/client.ts'
import { pauses } from '../support/fake-time.ts'
import { refused } from '../support/refused.ts'
import { entryOf, FREE } from './support.ts'

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
    admitLater: vi.fn(async () => OWN_CALL),
    leaves: vi.fn(async () => {}),
    takeCalls: vi.fn(),
    signer: vi.fn(async () => null),
    rule: vi.fn(async () => ({ body: 'readable' })),
  }
  const deliver = async (draft: Draft, how: object) => {
    delivered.push({ draft, how })
    await draft.target.later?.renew()
    const answer = answers.shift() ?? {}
    if (answer instanceof Error) throw answer
    const { status = 201, headers = {}, error, result = { id: 12 } } = answer
    const envelope = error === undefined ? { ok: true, result } : { ok: false, error }
    return { status, headers, envelope, body: Buffer.from(JSON.stringify(envelope)) }
  }
  const played = { guard: calls, clients: calls, directory: calls, clientShares: calls }
  const parts = {
    ...played,
    entries,
    edits: editsOf(),
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
    return await sendNow(entries.get(id) as OutboxEntry, { words, turn: FREE }, parts)
  }
  const requests = (id: string) =>
    entries.get(id)?.approval?.requests.map(({ messageId }) => messageId)
  /** The chats of what was delivered since the last time. */
  const places = () => delivered.splice(0).map(({ draft }) => draft.chatId)
  return { entries, answers, delivered, calls, give, send, requests, places, parts }
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

test.each<[string, rule: string | Error | null, isForSealed: boolean]>([
  ['a readable chat', 'readable', false],
  ['a chat of sealed words', 'sealed', true],
  ['a chat without an answer', AWAY, true],
  ['a chat of a slow service', null, true],
])('words for %s are marked by the rule of now', async (_what, rule, isForSealed) => {
  const made = rule === null ? pauses() : []
  const { calls, give, delivered, send } = await scene()
  calls.rule.mockImplementation(() => {
    if (rule === null) return new Promise(() => {})
    return rule instanceof Error ? Promise.reject(rule) : Promise.resolve({ body: rule })
  })
  const entry = await give()
  expect([entry.isForSealed, made]).toEqual([isForSealed, rule === null ? [2000] : []])
  await send(entry)
  expect(delivered[0]?.draft.target.later?.isForSealed).toBe(isForSealed)
})

test('a `sendId` in the outbox is a conflict for another chat and for another caller alone', async () => {
  const { give } = await scene()
  const { id: sendId, number } = await give()
  expect((await give({ sendId, text: 'other words' })).number).toBe(number)
  const CONFLICT = refused('conflict')
  await expect(give({ sendId, chatId: 6 })).rejects.toThrow(CONFLICT)
  await expect(give({ sendId }, { isClient: true })).rejects.toThrow(CONFLICT)
})

test('a direct send under the `sendId` of another caller in the outbox is a conflict', async () => {
  const { give, parts } = await scene()
  const { id: sendId } = await give()
  const clear = (id: string, client = null as ReturnType<typeof clientOf> | null) =>
    clearNow({ chatId: GROUP, messageId: null, client, sendId: id }, parts)
  await expect(clear(sendId)).resolves.not.toBeNull()
  await expect(clear('another', clientOf())).resolves.not.toBeNull()
  await expect(clear(sendId, clientOf())).rejects.toThrow(refused('conflict'))
})

test('a request that is accepted without an id reaches nobody', async () => {
  const { send, answers, give, requests } = await scene({ isAsked: true })
  const { id } = await give()
  answers.push({ result: {} }, { result: { id: 2 } })
  await send({ id })
  expect(requests(id)).toEqual([2])
})

const HEADER = { 'retry-after': '3' }
test.each<[what: string, answer: Answered, attempt: Partial<OutboxAttempt>]>([
  ['an id', {}, { code: null, sentId: 12, mayPass: false }],
  ['a wait in a header', { status: 429, headers: HEADER, error: { code: 'x' } }, { retryMs: 3000 }],
  ['a wait in the body', { status: 429, error: { code: 'x', retryAfter: 4 } }, { retryMs: 4000 }],
  [
    'a refused token',
    { status: 401, error: { code: 'unauthorized' } },
    { extent: 'all', isAnswered: true },
  ],
  [
    'a failure',
    { status: 500, error: { code: 'internal' } },
    { extent: 'all', mayPass: true, isAnswered: false },
  ],
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
  const by = expect.objectContaining({ client: 'reporter', credential: 'h' })
  expect(calls.admitLater.mock.calls).toEqual([
    [by, { call: 'sendMessage', chatIds: [GROUP], textChars: 5, hasButtons: true }],
    [by, { call: 'editMessage', chatIds: [GROUP], textChars: 1, hasButtons: false }],
  ])
  const hidden = { seesPeople: false, stillMay: OWN_CALL }
  expect(delivered.map(({ how }) => how)).toMatchObject([hidden, hidden])
})

test('a call of a client counts by its rate as it leaves, once, and neither the bot’s nor an approved one', async () => {
  const { calls, entries, send, give } = await scene()
  const isAsked = { isClient: true }
  const [own, first, again, approved] = [
    await give(),
    await give({}, isAsked),
    await give({}, isAsked),
    await give({}, isAsked),
  ]
  await entries.change(again.id, () => ({ call: 'open' }))
  for (const one of [own, again]) await send(one)
  expect(calls.leaves.mock.calls).toEqual([])
  await send(first)
  expect(calls.leaves.mock.calls).toEqual([['reporter']])
  expect(approved.call).toBe('none')
})

test('requests that were sent in part are completed under their ids, and none is sent twice', async () => {
  const { send, answers, delivered, give, requests, places, parts } = await scene({ isAsked: true })
  const { id } = await give()
  answers.push({ result: { id: 1 } }, AWAY)
  expect(await send({ id })).toMatchObject({ mayPass: true, extent: 'all' })
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
  const FIXED = refused('postern_request_fixed')
  await expect(send(edit)).rejects.toThrow(FIXED)
  const now = { chatId: 1815, client: null }
  await expect(clearNow({ ...now, messageId: '1' }, parts)).rejects.toThrow(FIXED)
  expect(await clearNow({ ...now, messageId: null }, parts)).not.toBeNull()
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
    async (id: string) => (await here.drop(id)) !== null,
  ]) {
    const entry = await here.add(entryOf(), Buffer.from('{}'))
    const { id } = entry
    await here.settle(entry, { state: 'refused', code: 'x' }, 1)
    await there.settle(entry, { state: 'sent', code: null, sentId: 7 }, 2)
    expect(await change(id)).toBe(false)
    const again = await OutboxEntries.load(store, NO_APPROVALS)
    for (const one of [here, again]) {
      expect(one.get(id)).toMatchObject({ state: 'sent', sentId: 7, settledAtMs: 2 })
    }
  }
})
