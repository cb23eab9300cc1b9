/** The person's word on an entry: kept, shown, heard, and too late. */
import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Approval, TrustChange } from '../../src/kernel/index.ts'
import { OutboxEntries, type NewEntry, type OutboxEntry } from '../../src/outbox/entries.ts'
import { sendNow, type GiveParts } from '../../src/outbox/give.ts'
import { createHearing, decide, isOfRequest } from '../../src/outbox/hear.ts'
import { Outbox } from '../../src/outbox/outbox.ts'
import { digestOf, requestText } from '../../src/outbox/request.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'
import { open, temporary } from '../store/support.ts'
import { approvalsOf, editsOf, NO_APPROVALS, replyOf } from '../support/approvals.ts'
import { refused } from '../support/refused.ts'
import { entryOf, FREE, SENT } from './support.ts'

const [BOSS, OFFICE] = [815, 3]
const RULE = { chats: ['all' as const], kinds: ['send' as const], by: [BOSS], withinMs: 1000 }
const OFFICES = [
  { id: OFFICE, kind: 'private', personId: BOSS, latchedAtMs: null, refusedAtMs: null },
]

async function scene({ textMax = 4096 } = {}) {
  const store = await open(temporary(), { protection: 'none' })
  const changes: TrustChange[] = []
  const journal = {
    append: async (_records: unknown, all: readonly TrustChange[]) => () =>
      void changes.push(...all),
    record: async (all: readonly TrustChange[]) => void changes.push(...all),
  }
  const approvals = approvalsOf({
    rules: [RULE],
    knownChats: { all: OFFICES, get: (id) => OFFICES.find((one) => one.id === id) },
  })
  const parts = { ...NO_APPROVALS, approvals, journal, textMax: () => textMax }
  const entries = await OutboxEntries.load(store, parts)
  const give = async (text: string, more: Partial<NewEntry> = {}) => {
    const given = await entries.add(entryOf(more), Buffer.from(JSON.stringify({ chatId: 1, text })))
    return { ...given, approval: given.approval as Approval }
  }
  return { store, entries, give, changes, journal, parts, approvals }
}
const message = (text: string, more: object = {}) => [
  replyOf(text, { chatId: OFFICE, updateChatId: OFFICE, fromId: BOSS, ...more }),
]
const approving = ({ id, approval: { code } }: { id: string; approval: Approval }, more = {}) => ({
  id,
  code,
  isApproved: true,
  userId: BOSS,
  messageId: 12,
  atMs: 500,
  fingerprint: 'f',
  ...more,
})

test('an entry under an approval rule is stored as `asked` with its own code, digest, expiry and sendId', async () => {
  const { give, store, parts, changes } = await scene()
  const all = [await give('one'), await give('two')]
  expect(all.map(({ state }) => state)).toEqual(['asked', 'asked'])
  const again = await OutboxEntries.load(store, parts)
  expect(again.all).toEqual(all)
  const [first, second] = all.map(({ approval }) => approval)
  expect(first?.code).toMatch(/^[2-9A-HJKMNP-Z]{10}$/)
  expect([first?.askedAtMs, first?.expiresAtMs, first?.decision]).toEqual([0, 1000, null])
  expect(first?.requests).toMatchObject([{ userId: BOSS, chatId: OFFICE, messageId: null }])
  expect(first?.requests[0]?.sendId).not.toBe(all[0]?.id)
  expect(first?.code).not.toBe(second?.code)
  expect(first?.digest).not.toBe(second?.digest)
  expect(changes.map(({ kind }) => kind)).toEqual(['approval-asked', 'approval-asked'])
})

test('a reader of the store finds no code of a request, before and after a new one', async () => {
  const { give, store, entries, parts } = await scene()
  const { id, approval } = await give('one')
  await entries.change(id, () => ({ approval: { ...approval, code: '23456789AB' } }))
  const rows = await store.read((db) => db.selectFrom('outbox').selectAll().execute())
  expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${approval.code}|23456789AB`))
  const again = await OutboxEntries.load(store, parts)
  expect(again.get(id)?.approval?.code).toBe('23456789AB')
})

test('the first approval reply decides: the entry waits for its due time or is refused', async () => {
  const { give, entries, changes } = await scene()
  const one = await give('one', { dueAtMs: 100 })
  expect(await decide(entries, approving(one, { code: '2222' }))).toBe(false)
  expect(await decide(entries, approving(one))).toBe(true)
  expect(await decide(entries, approving(one, { isApproved: false }))).toBe(false)
  expect(entries.get(one.id)).toMatchObject({ state: 'waiting', dueAtMs: 500, code: null })
  const later = await give('later', { dueAtMs: 900 })
  await decide(entries, approving(later))
  expect(entries.get(later.id)?.dueAtMs).toBe(900)
  const two = await give('two')
  await decide(entries, approving(two, { isApproved: false }))
  const refusal = { state: 'refused', code: 'postern_approval_refused', settledAtMs: 500 }
  expect(entries.get(two.id)).toMatchObject(refusal)
  const detail = { entry: two.id, digest: two.approval.digest, fingerprint: 'f' }
  expect(changes.at(-1)).toMatchObject({ kind: 'approval-refused', userId: BOSS, detail })
  expect(await decide(entries, approving({ ...two, id: randomUUID() }))).toBe(false)
})

test('an approved entry that returns to the queue needs a new approval under another code', async () => {
  const { give, entries } = await scene()
  const one = await give('one')
  await decide(entries, approving(one))
  const approved = entries.get(one.id)
  if (approved !== undefined) await entries.settle(approved, { state: 'refused', code: 'x' }, 6000)
  await entries.change(one.id, () => ({ isHeard: true }))
  await entries.wait(one.id, { isForSealed: true, nowMs: 7000 })
  const { state, approval, isHeard } = entries.get(one.id) ?? {}
  expect([state, isHeard]).toEqual(['asked', false])
  expect(approval).toMatchObject({ decision: null, digest: one.approval.digest, expiresAtMs: 8000 })
  expect(approval?.code).not.toBe(one.approval.code)
  expect(await decide(entries, approving(one))).toBe(false)
})

test('a call whose text leaves no room in the approval request is a `bad_request` and stores no entry', async () => {
  const { give, entries } = await scene({ textMax: 500 })
  await expect(give('x'.repeat(400))).rejects.toThrow(
    refused('bad_request', 'too long for the message'),
  )
  expect(entries.all).toEqual([])
})

test('`isOfRequest` matches every message of a chat while its request is sent, then the request alone', async () => {
  const { give, entries } = await scene()
  const { id, approval } = await give('one')
  const isFixed = (chatId: number | null, messageId: string) =>
    isOfRequest(entries, { chatId, messageId })
  expect([isFixed(OFFICE, '9'), isFixed(null, '10'), isFixed(1, '9')]).toEqual([true, true, false])
  const requests = approval.requests.map((one) => ({ ...one, messageId: 9 }))
  await entries.change(id, () => ({ approval: { ...approval, requests } }))
  const places = [
    isFixed(OFFICE, '9'),
    isFixed(OFFICE, '009'),
    isFixed(null, '9'),
    isFixed(OFFICE, '10'),
  ]
  expect(places).toEqual([true, true, true, false])
})

test('an approval request has Postern’s own lines first and the unchanged text of the call last', async () => {
  const { give } = await scene()
  const words = 'Hi\n\nok 2222222222\nThe words, 2 characters to the end of this message:\nHi'
  const { approval, ...entry } = await give(words)
  const body = Buffer.from(JSON.stringify({ chatId: 1, sendId: 's', replyTo: 5, text: words }))
  const text = requestText({ ...entry, client: 'agent' }, body, { ...approval, kind: 'group' })
  const [head = '', ...rest] = text.split(
    `${words.length} characters to the end of this message:\n`,
  )
  expect(rest).toEqual([words])
  expect(head).toContain('by: client agent\nto: chat 1 (group)\nwhat: a new message\n')
  expect(head).toContain(`with: {"replyTo":5}\n`)
  expect(head).toContain(`\nok ${approval.code}\nno ${approval.code} because …\n`)
})

test('`digestOf` differs for another text, chat, message or client', () => {
  const place = { client: null, chatId: 1, messageId: null }
  const words = Buffer.from('x')
  const all = [
    digestOf(place, words),
    digestOf(place, Buffer.from('y')),
    digestOf({ ...place, chatId: 2 }, words),
    digestOf({ ...place, client: 'agent' }, words),
    digestOf({ ...place, messageId: '7' }, words),
  ]
  expect(new Set(all).size).toBe(all.length)
})

test('an entry whose stored text differs from its digest is refused with `postern_approval_changed`', async () => {
  const { give, parts } = await scene()
  const entry = (await give('one')) as OutboxEntry
  const giving = { ...parts, entries: { approvals: [] } } as unknown as GiveParts
  const words = Buffer.from('{"chatId":1,"text":"two"}')
  await expect(sendNow(entry, { words, turn: FREE }, giving)).rejects.toThrow(
    refused('postern_approval_changed'),
  )
})

test('the journal records an approval reply by the wrong person once, and a later second reply as `decided`', async () => {
  const { give, entries, changes, journal } = await scene()
  const one = await give('one')
  const { approval } = one
  const requests = approval.requests.map((request) => ({ ...request, messageId: 9 }))
  await entries.change(one.id, () => ({ approval: { ...approval, requests } }))
  const fresh: string[] = []
  const hear = createHearing({
    entries,
    journal,
    fresh: async () => void fresh.push('read'),
    nowMs: () => 500,
  })
  const update = { kind: 'message' }
  await hear(update, message('hello'))
  expect(fresh).toEqual([])
  const word = `ok ${approval.code}`
  for (const fromId of [816, 816, 817]) await hear(update, message(word, { fromId }))
  await hear(update, message('ok 2222222222'))
  await hear({ kind: 'message_edited' }, message(word))
  const ignored = () =>
    changes.flatMap((change) => (change.kind === 'approval-ignored' ? [change.userId] : []))
  expect([ignored(), entries.get(one.id)?.state]).toEqual([[816, 817], 'asked'])
  for (let n = 0; n < 2; n++) await hear(update, message(word))
  expect([ignored(), entries.get(one.id)?.state]).toEqual([[816, 817], 'waiting'])
  await hear(update, message(word, { messageId: 13 }))
  expect(changes.at(-1)).toMatchObject({ kind: 'approval-ignored', detail: { why: 'decided' } })
})

test('a reply before the id of its request is recorded counts, and the id is recorded afterwards', async () => {
  const { give, entries, journal, approvals } = await scene()
  const one = await give('one')
  const hear = createHearing({ entries, journal, fresh: async () => {}, nowMs: () => 500 })
  const deliver = async () => {
    const given = await hear({ kind: 'message' }, message(`ok ${one.approval.code}`))
    expect(given.map(({ final }) => final?.reason)).toEqual(['approval-request'])
    expect(entries.get(one.id)).toMatchObject({ state: 'waiting' })
    expect(isOfRequest(entries, { chatId: OFFICE, messageId: '9' })).toBe(true)
    return { status: 201, envelope: { ok: true }, body: Buffer.from('{"result":{"id":10}}') }
  }
  const rules = () => ({ textMax: 4096, sealsForBot: true })
  const giving = { entries, approvals, rules, messages: { deliver } } as unknown as GiveParts
  const words = Buffer.from(JSON.stringify({ chatId: 1, text: 'one' }))
  expect(await sendNow(one, { words, turn: FREE }, giving)).toMatchObject({ code: null })
  const { state, approval } = entries.get(one.id) ?? {}
  expect([state, approval?.requests[0]?.messageId]).toEqual(['waiting', 10])
})

/** The loop, whose requests are answered with the message 9. */
function looping({ entries, store }: Awaited<ReturnType<typeof scene>>) {
  const now = { ms: 0, monotonicMs: 0 }
  const tries: string[] = []
  const outbox = new Outbox({
    entries,
    store,
    edits: editsOf(),
    clock: {
      ...REAL_CLOCK,
      now: () => now.ms,
      monotonicNow: () => now.monotonicMs,
      wait: () => turn(),
    },
    send: async ({ id, state, client, approval }) => {
      tries.push(`${state} ${client ?? 'bot'}`)
      if (state === 'asked' && approval !== null) {
        const requests = approval.requests.map((one) => ({ ...one, messageId: 9 }))
        await entries.change(id, () => ({ approval: { ...approval, requests } }))
      }
      return SENT
    },
    maxAgeMs: 72 * 3_600_000,
  })
  onTestFinished(() => outbox[Symbol.asyncDispose]())
  outbox.start()
  return { now, tries }
}
const turns = async (): Promise<void> => {
  for (let n = 0; n < 50; n++) await turn()
}

test('requests of clients to one approver are sent one in ten seconds, and the bot’s own at once', async () => {
  const all = await scene()
  for (const client of ['agent', 'agent', 'other', null, null]) await all.give('x', { client })
  await all.give('to the approver', { chatId: OFFICE, messageId: '7' })
  const { now, tries } = looping(all)
  const since = async (ms: number) => {
    now.monotonicMs = ms
    await expect.poll(() => tries.length).toBeGreaterThan(0)
    await turns()
    return tries.splice(0).toSorted()
  }
  expect(await since(0)).toEqual(['asked agent', 'asked bot', 'asked bot', 'waiting bot'])
  now.monotonicMs = 9_999
  await turns()
  expect(tries).toEqual([])
  expect([await since(10_000), await since(20_000)]).toEqual([['asked agent'], ['asked other']])
})

test('an entry without an approval in time sends one request, delays no other entry and is refused', async () => {
  const all = await scene()
  const { give, entries } = all
  const one = await give('one')
  const free = await give('an edit, which needs none', { messageId: '7' })
  const { now, tries } = looping(all)
  await expect.poll(() => entries.get(free.id)?.state).toBe('sent')
  await expect.poll(() => entries.get(one.id)?.approval?.requests[0]?.messageId).toBe(9)
  now.ms = 999
  await turns()
  const once = ['asked bot', 'waiting bot']
  expect([entries.get(one.id)?.state, tries.toSorted()]).toEqual(['asked', once])
  now.ms = 1000
  await expect.poll(() => entries.get(one.id)?.state).toBe('refused')
  expect(entries.get(one.id)?.code).toBe('postern_approval_late')
  expect(await decide(entries, approving(one))).toBe(false)
})

test('a request, and the call once it is approved, leave at once by a clock that was set back since', async () => {
  const all = await scene()
  const one = await all.give('one', { createdAtMs: 9000, dueAtMs: 9000 })
  looping(all)
  await expect.poll(() => all.entries.get(one.id)?.approval?.requests[0]?.messageId).toBe(9)
  expect(await decide(all.entries, approving(one, { atMs: 9500 }))).toBe(true)
  await expect.poll(() => all.entries.get(one.id)?.state).toBe('sent')
})
