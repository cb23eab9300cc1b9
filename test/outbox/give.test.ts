/** How a call enters the outbox and leaves it: times, units, modes, and requests sent in part. */
import { describe, expect, test, vi } from 'vitest'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import type { Approval, ApprovalRule, Approvals, KnownChat } from '../../src/kernel/index.ts'
import { OutboxEntries, type NewEntry, type OutboxEntry } from '../../src/outbox/entries.ts'
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

const [NOW, YEAR_MS, GROUP] = [1_700_000_000_000, 366 * 86_400_000, -5]
const OPEN = { kind: 'group', mode: 'open', historyVisible: true } as const
const chat = (id: number, personId: number): KnownChat => {
  return { id, kind: 'private', personId, latchedAtMs: null, refusedAtMs: null }
}
const OFFICES = [chat(31, 815), chat(32, 816)]
const RULE: ApprovalRule = {
  chats: [GROUP],
  kinds: ['send'],
  by: [815, 816],
  withinMs: 3_600_000,
}

interface Answered {
  status?: number
  headers?: Record<string, string>
  error?: { code: string; retryAfter?: number }
  result?: object
}
const answerOf = ({ status = 201, headers = {}, error, result = { id: 12 } }: Answered) => {
  const envelope = error === undefined ? { ok: true, result } : { ok: false, error }
  return { status, headers, envelope, body: Buffer.from(JSON.stringify(envelope)) }
}

async function scene(rules: ApprovalRule[] = []) {
  const store = await open(temporary(), { protection: 'none' })
  const knownChats = { all: OFFICES, get: (id: number) => OFFICES.find((one) => one.id === id) }
  const approvals: Approvals = approvalsOf({ rules, knownChats })
  const entries = await OutboxEntries.load(store, { ...NO_APPROVALS, approvals })
  const answers: (Answered | Error)[] = []
  const delivered: { draft: Draft; how: object }[] = []
  const calls = {
    admitLater: vi.fn(async () => {}),
    signer: vi.fn(async () => null),
    mustSeal: vi.fn(() => false),
    peek: vi.fn<() => typeof OPEN | undefined>(() => OPEN),
    rule: vi.fn<() => Promise<{ body: string }>>(async () => ({ body: 'readable' })),
    during: async (): Promise<void> => {},
  }
  const deliver = async (draft: Draft, how: object) => {
    delivered.push({ draft, how })
    await calls.during()
    const answer = answers.shift() ?? {}
    if (answer instanceof Error) throw answer
    return answerOf(answer)
  }
  const parts = {
    entries,
    messages: { deliver },
    guard: { mustSeal: calls.mustSeal, rule: calls.rule },
    modes: { peek: calls.peek },
    clients: { admitLater: calls.admitLater },
    approvals,
    directory: { signer: calls.signer },
    approverMaxAgeMs: 17_000,
    fresh: async () => {},
    rules: () => ({ textMax: 4096, sealsForBot: true }),
    nowMs: () => NOW,
  } as unknown as GiveParts
  const give = (more: object = {}, messageId: string | null = null) => {
    const body = { chatId: GROUP, text: 'words', ...more }
    return giveLater({ body, messageId, client: null }, parts)
  }
  const send = async (entry: OutboxEntry): Promise<OutboxAttempt> =>
    await sendNow(entry, (await entries.words(entry.id)) ?? Buffer.from('{}'), parts)
  const add = (more: Partial<NewEntry> = {}) =>
    entries.add(entryOf({ chatId: GROUP, ...more }), Buffer.from(WORDS))
  return { entries, answers, delivered, calls, parts, give, send, add }
}
const WORDS = JSON.stringify({ chatId: GROUP, text: 'words' })

test.each<[string, unknown, number | null]>([
  ['no time', undefined, NOW],
  ['a time that is over', NOW - 1, NOW],
  ['a time to come', NOW + 1, NOW + 1],
  ['a year', NOW + YEAR_MS, NOW + YEAR_MS],
  ['more than a year', NOW + YEAR_MS + 1, null],
  ['a fraction', NOW + 0.5, null],
  ['a text', String(NOW), null],
])('a call with %s as its time is due then, or is refused', async (_what, deliverAt, dueAtMs) => {
  const { give } = await scene()
  const given = give({ deliverAt })
  if (dueAtMs === null) await expect(given).rejects.toThrow(refused('bad_request', 'deliverAt'))
  else expect(await given).toMatchObject({ dueAtMs, createdAtMs: NOW })
})

const SLOW = 'a chat of a slow service'
/** What is known of a chat, and whether words for it are for sealed eyes. */
const MODES: Record<
  string,
  [(calls: Awaited<ReturnType<typeof scene>>['calls']) => void, boolean]
> = {
  'a chat of sealed words': [({ mustSeal }) => mustSeal.mockReturnValue(true), true],
  'an open chat': [() => {}, false],
  'a protected chat': [
    ({ peek }) => peek.mockReturnValue({ ...OPEN, mode: 'protected' } as never),
    true,
  ],
  'a chat of another mode': [
    ({ peek }) => peek.mockReturnValue({ ...OPEN, mode: 'x' } as never),
    true,
  ],
  'a chat that the service calls open': [({ peek }) => peek.mockReturnValue(undefined), false],
  'a chat that the service calls sealed': [
    ({ peek, rule }) => {
      peek.mockReturnValue(undefined)
      rule.mockResolvedValue({ body: 'sealed' })
    },
    true,
  ],
  'a chat without an answer': [
    ({ peek, rule }) => {
      peek.mockReturnValue(undefined)
      rule.mockRejectedValue(new NoResponseError('postern_upstream_timeout'))
    },
    true,
  ],
  [SLOW]: [
    ({ peek, rule }) => {
      peek.mockReturnValue(undefined)
      rule.mockReturnValue(new Promise(() => {}))
    },
    true,
  ],
}

test.each(Object.entries(MODES))(
  'words for %s are marked by its mode',
  async (what, [set, isForSealed]) => {
    const made = what === SLOW ? pauses() : []
    const { calls, give, delivered, send } = await scene()
    set(calls)
    const entry = await give()
    expect(entry.isForSealed).toBe(isForSealed)
    expect(made).toEqual(what === SLOW ? [2000] : [])
    await send(entry)
    expect(delivered[0]?.draft.target.isForSealed).toBe(isForSealed)
  },
)

/** Each answer of the service, and its consequence; waits are in ms. */
const ANSWERS: [what: string, answer: Answered, attempt: Partial<OutboxAttempt>][] = [
  ['an id', {}, { code: null, sentId: 12, mayPass: false }],
  ['no id', { result: {} }, { code: null, sentId: null }],
  ['an id that is a text', { result: { id: '12' } }, { code: null, sentId: null }],
  [
    'a wait in a header',
    { status: 429, headers: { 'retry-after': '3' }, error: { code: 'slow_mode' } },
    { code: 'slow_mode', retryMs: 3000, mayPass: true, isOfAll: false },
  ],
  [
    'a wait in the body',
    { status: 429, error: { code: 'rate_limited', retryAfter: 4 } },
    { code: 'rate_limited', retryMs: 4000, mayPass: true, isOfAll: true },
  ],
  ['a failure', { status: 503, error: { code: 'internal' } }, { retryMs: null, mayPass: true }],
  ['a refusal', { status: 403, error: { code: 'write_forbidden' } }, { mayPass: false }],
]

test.each(ANSWERS)('an answer with %s has its consequence', async (_what, answer, attempt) => {
  const { answers, send, add } = await scene()
  answers.push(answer)
  expect(await send(await add())).toMatchObject(attempt)
})

test('a call of a client is admitted by its rights of now, as the call that it is', async () => {
  const { calls, delivered, send, entries, parts } = await scene()
  const client = clientOf()
  const body = { chatId: GROUP, text: 'words', markup: { rows: [] } }
  const sent = await giveLater({ body, messageId: null, client }, parts)
  const edited = await giveLater(
    { body: { chatId: GROUP, text: 'x' }, messageId: '7', client },
    parts,
  )
  for (const { id } of [sent, edited]) await send(entries.get(id) as OutboxEntry)
  expect(calls.admitLater.mock.calls).toEqual([
    ['reporter', { call: 'sendMessage', chatIds: [GROUP], textChars: 5, hasButtons: true }],
    ['reporter', { call: 'editMessage', chatIds: [GROUP], textChars: 1, hasButtons: false }],
  ])
  expect(delivered.map(({ how }) => how)).toMatchObject([
    { seesPeople: false },
    { seesPeople: false },
  ])
  calls.admitLater.mockRejectedValue(new Refusal('postern_not_allowed'))
  await expect(send(sent)).rejects.toThrow(refused('postern_not_allowed'))
  expect(delivered).toHaveLength(2)
})

describe('requests for a word', () => {
  const asking = async () => {
    const one = await scene([RULE])
    const { id } = await one.add({ createdAtMs: NOW })
    const entry = () => one.entries.get(id) as OutboxEntry
    const requests = () => entry().approval?.requests.map(({ messageId }) => messageId)
    const places = () => one.delivered.splice(0).map(({ draft }) => draft.chatId)
    return { ...one, id, entry, requests, places }
  }

  test('requests that were sent in part are completed, and none is sent twice', async () => {
    const { send, answers, entry, requests, places } = await asking()
    answers.push({ result: { id: 1 } }, { status: 503, error: { code: 'internal' } })
    expect(await send(entry())).toMatchObject({ code: 'internal', mayPass: true, isOfAll: true })
    expect([places(), requests()]).toEqual([
      [31, 32],
      [1, null],
    ])
    answers.push({ result: { id: 2 } })
    expect(await send(entry())).toMatchObject({ code: null, sentId: null })
    expect([places(), requests()]).toEqual([[32], [1, 2]])
    expect(await send(entry())).toMatchObject({ code: null })
    expect(places()).toEqual([])
  })

  test('requests keep their `sendId` after a lost answer', async () => {
    const { send, answers, entry, delivered } = await asking()
    answers.push(new NoResponseError('postern_upstream_timeout'))
    await send(entry())
    await send(entry())
    const ids = delivered.map(({ draft }) => draft.fields['sendId'])
    expect([ids.length, new Set(ids).size, ids[0] === ids[1]]).toEqual([3, 2, true])
  })

  test('requests leave out an approver who cannot be reached, and need one who can', async () => {
    const { send, answers, entry, requests } = await asking()
    const gone = { status: 404, error: { code: 'chat_not_found' } }
    answers.push(gone, { result: { id: 2 } })
    await send(entry())
    expect(requests()).toEqual([2])
    const other = await asking()
    other.answers.push(gone, gone)
    await expect(other.send(other.entry())).rejects.toThrow(refused('postern_approver_unreachable'))
  })

  test('requests change nothing of an entry that was refused while they were sent', async () => {
    const { send, calls, entry, entries, id } = await asking()
    calls.during = async () => {
      const code = entry().approval?.code ?? ''
      const by = { userId: null, messageId: null, fingerprint: null, atMs: NOW }
      await decide(entries, { id, code, isApproved: false, ...by })
    }
    await send(entry())
    expect(entry()).toMatchObject({ state: 'refused', code: 'postern_approval_refused' })
  })

  test('a call leaves by the certificate of its approver that is fresh by the cache', async () => {
    const { send, calls, entries, id, entry, delivered } = await asking()
    const now = vi.spyOn(performance, 'now').mockReturnValue(100_000)
    const { code } = entry().approval as Approval
    await decide(entries, {
      id,
      code,
      isApproved: true,
      userId: 816,
      messageId: 5,
      atMs: NOW,
      fingerprint: 'f',
    })
    await expect(send(entry())).rejects.toThrow(refused('postern_approver_changed'))
    now.mockRestore()
    expect(calls.signer.mock.calls).toEqual([[816, 32, 83_000]])
    expect(delivered).toEqual([])
  })

  test('an edit of a request is refused as it leaves', async () => {
    const { send, answers, entry, add, delivered } = await asking()
    answers.push({ result: { id: 1 } }, { result: { id: 2 } })
    await send(entry())
    delivered.length = 0
    const edit = await add({ chatId: 31, messageId: '1' })
    await expect(send({ ...edit, chatId: 31 })).rejects.toThrow(refused('postern_request_fixed'))
    expect(delivered).toEqual([])
  })
})
