/** The loop of the outbox over a store, with a clock and a service that a test plays. */
import { expect, test } from 'vitest'
import { EngineUnavailableError, NoResponseError, Refusal } from '../../src/errors.ts'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import type { OutboxAttempt } from '../../src/outbox/outbox.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { rest } from '../support/played-clock.ts'
import { entryOf, HOUR, loopScene as scene, SENT, serviceError, type LoopScene } from './support.ts'

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
    { ...SENT, code: 'internal', mayPass: true, extent: 'all' },
  ],
  [
    'a `rate_limited` error of the service',
    { ...SENT, code: 'rate_limited', mayPass: true, extent: 'all' },
  ],
  ['an `EngineUnavailableError`', new EngineUnavailableError('memory')],
  ['`postern_store_unwritable`', new Refusal('postern_store_unwritable')],
  ['`postern_key_unpublished`', new Refusal('postern_key_unpublished')],
])(
  'the outbox delays the entries of all chats once a second one meets %s',
  async (_what, answer) => {
    const { outbox, give, tries, answers, clock, settled } = await scene()
    answers.push(answer, answer, answer)
    await give('one')
    outbox.start()
    await rest()
    await give('other', { chatId: 2 })
    await rest()
    await give('third', { chatId: 3 })
    await rest()
    expect([tries, settled]).toEqual([['one', 'other'], []])
    await clock.pass(5000)
    expect(tries).toEqual(['one', 'other', 'third'])
    await clock.pass(60_000)
    expect(tries.slice(3).toSorted()).toEqual(['one', 'other', 'third'])
  },
)

test.each<[string, OutboxAttempt | Error, string]>([
  ['the service', { ...SENT, code: 'write_forbidden' }, 'write_forbidden'],
  ['a look-up of the chat', serviceError(404, 'chat_not_found'), 'chat_not_found'],
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
  await clock.pass(72 * HOUR + 11)
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
  const { outbox, give, tries, held } = await scene({ held: { isHeld: true } })
  outbox.entries.onSettled(() => (held.isHeld = false))
  for (const words of ['one', 'two']) await give(words)
  outbox.start()
  await rest()
  expect(tries).toEqual(['one'])
})

const BROKEN: OutboxAttempt = {
  ...SENT,
  code: 'internal',
  mayPass: true,
  extent: 'all',
  isAnswered: false,
}

test.each<[string, OutboxAttempt | Error]>([
  ['an `internal` error of the service', BROKEN],
  ['`unauthorized`', { ...BROKEN, code: 'unauthorized', isAnswered: true }],
  ['a key list that is too long', new NoResponseError('postern_upstream_invalid')],
  ['too little memory', new EngineUnavailableError('memory')],
])('a chat that alone meets %s holds up no other', async (_what, answer) => {
  const { during, give, begin, tries, clock } = await scene()
  during.send = async (_entry, words) => (words === 'poison' ? answer : undefined)
  await give('poison')
  await begin()
  for (let chatId = 2; chatId < 9; chatId++) {
    await give('fine', { chatId })
    await rest()
  }
  expect(tries).toEqual(['poison', ...Array<string>(7).fill('fine')])
  await clock.pass(2000)
  await give('fine', { chatId: 9 })
  await rest()
  expect(tries.slice(8)).toEqual(['poison', 'fine'])
})

test('two chats with troubles of their own hold up the others once, for a second', async () => {
  const { during, give, begin, tries, clock } = await scene()
  during.send = async (_entry, words) => (words === 'poison' ? BROKEN : undefined)
  for (const chatId of [1, 2]) await give('poison', { chatId })
  await begin()
  const isSent = async (chatId: number, waitMs: number) => {
    await give(`to ${chatId}`, { chatId })
    await rest()
    const before = tries.includes(`to ${chatId}`)
    await clock.pass(waitMs)
    return [before, tries.includes(`to ${chatId}`)]
  }
  expect(await isSent(3, 1000)).toEqual([false, true])
  for (const chatId of [4, 5, 6, 7]) expect(await isSent(chatId, 8000)).toEqual([true, true])
})

test('all chats of an outage are tried at once when it ends', async () => {
  const { during, give, begin, tries, clock } = await scene()
  during.send = async ({ chatId }) => ({ ...BROKEN, retryMs: chatId === 1 ? HOUR : null })
  for (const chatId of [1, 2]) await give(`to ${chatId}`, { chatId })
  await begin()
  during.send = async () => {}
  tries.length = 0
  await clock.pass(1000)
  expect(tries).toEqual(['to 2', 'to 1'])
})

test('slow calls leave room to the bot beside clients, to each client, and to other chats', async () => {
  const { during, give, begin, tries, clock } = await scene()
  const slow = Promise.withResolvers<OutboxAttempt>()
  const begun: string[] = []
  during.send = async ({ client, chatId }, words) => {
    begun.push(`${client} ${chatId}`)
    return words === 'slow' ? await slow.promise : undefined
  }
  const clients = ['a', 'a', 'b', 'c', 'd', 'e']
  for (const [at, client] of clients.entries()) await give('slow', { client, chatId: at + 1 })
  await give('of the bot', { chatId: 20 })
  await begin()
  expect(begun).toEqual(['a 1', 'b 3', 'c 4', 'd 5', 'null 20'])
  expect(tries).toEqual(['of the bot'])
  slow.resolve({ ...SENT, code: 'slow_mode', mayPass: true })
  await rest()
  expect(begun.slice(5)).toEqual(['a 2', 'e 6'])
  begun.length = 0
  const again = Promise.withResolvers<OutboxAttempt>()
  during.send = async ({ chatId }, words) => {
    begun.push(`${chatId}`)
    return words === 'slow' ? await again.promise : undefined
  }
  for (const chatId of [21, 22, 23, 24]) await give('slow', { chatId })
  await rest()
  expect(begun).toEqual(['21', '22', '23', '24'])
  await clock.pass(1000)
  expect(begun.slice(4)).toEqual(['1', '3'])
  again.resolve(SENT)
})

test('a call whose client has used up its rate holds up the calls of that client alone', async () => {
  const { during, give, begin, tries, clock } = await scene()
  const limited = new Refusal('rate_limited', '', { extra: { retryAfter: 30 } })
  const rate = { isUsedUp: true }
  during.send = async ({ client }) => (client === 'a' && rate.isUsedUp ? limited : undefined)
  const calls = ['a', null, 'b', 'a'].map((client, at) => ({ client, chatId: at < 3 ? 1 : 2 }))
  for (const call of calls) await give(`${call.client} ${call.chatId}`, call)
  await begin()
  expect(tries).toEqual(['a 1', 'null 1', 'b 1'])
  rate.isUsedUp = false
  await clock.pass(29_999)
  expect(tries).toHaveLength(3)
  await clock.pass(1)
  expect(tries.slice(3)).toEqual(['a 1', 'a 2'])
})

test('an entry that another sidecar has sent ends as sent, and is not sent again', async () => {
  const here = await scene()
  const { id } = await here.give('words')
  const there = await scene({ store: here.store })
  await here.begin()
  await there.begin()
  expect([here.tries, there.tries, there.settled]).toEqual([['words'], [], []])
  const again = await scene({ store: here.store })
  for (const { entries } of [here, there, again]) {
    expect(entries.get(id)).toMatchObject({ state: 'sent', sentId: 7, code: null })
  }
})

test.each<[what: string, meanwhile: (one: LoopScene, id: string) => Promise<unknown>]>([
  ['has lost its turn', async ({ held }) => (held.isHeld = false)],
  ['has lost the entry to the operator', async ({ entries }, id) => await entries.drop(id)],
  [
    'has lost the entry to another sidecar',
    async ({ store }, id) => {
      const there = await OutboxEntries.load(store, NO_APPROVALS)
      const [entry] = there.all.filter((one) => one.id === id)
      if (entry) await there.settle(entry, { state: 'sent', code: null, sentId: 8 }, 0)
    },
  ],
])('a sidecar that %s while it makes a call ready sends nothing', async (_what, meanwhile) => {
  const one = await scene({ held: { isHeld: true } })
  const { during, give, begin, tries, settled } = one
  const { id } = await give('words', { messageId: '7' })
  during.send = async () => void (await meanwhile(one, id))
  await begin()
  expect([tries, settled]).toEqual([[], []])
  expect(one.entries.get(id)?.call ?? 'none').toBe('none')
})

test.each<[what: string, answer: OutboxAttempt | Error | 'none' | null, call: string]>([
  ['was not made yet', null, 'none'],
  ['waits for its answer', 'none', 'open'],
  ['got no answer', new NoResponseError('postern_upstream_timeout'), 'open'],
  ['was refused for now', { ...SENT, code: 'slow_mode', mayPass: true }, 'answered'],
  ['was refused', { ...SENT, code: 'write_forbidden' }, 'answered'],
])('an entry whose call %s is removed with the state of its call', async (_what, answer, call) => {
  const { entries, during, give, begin } = await scene()
  const answered = Promise.withResolvers<OutboxAttempt>()
  during.after = async () => (answer === 'none' ? await answered.promise : (answer ?? undefined))
  const { id } = await give('words', { dueAtMs: answer === null ? HOUR : 0 })
  await begin()
  expect(await entries.drop(id)).toMatchObject({ id, call })
  expect(await entries.drop(id)).toBeNull()
  answered.resolve(SENT)
})

const LOST = new NoResponseError('postern_upstream_timeout')
const CLAIM = new Refusal('postern_downgrade_refused')

test.each<[string, Error[], string]>([
  ['is sent once that ends', [LOST, CLAIM, CLAIM], 'sent'],
  ['is sent so, where a repetition was refused', [CLAIM], 'sent'],
  ['is refused after ten minutes', [LOST, ...Array.from({ length: 99 }, () => CLAIM)], 'refused'],
])(
  'a call whose answer was lost waits while its chat is called open, and %s',
  async (_what, given, state) => {
    const { entries, answers, during, give, begin, clock, settled } = await scene()
    answers.push(...given)
    if (given.length === 1) during.send = async (_entry, _words, ground) => await ground.renew()
    const { id } = await give('words')
    await begin()
    for (let minute = 0; minute < 12; minute++) await clock.pass(60_000)
    expect([entries.get(id)?.state, settled.length]).toEqual([state, 1])
  },
)

test('the calls of a chat leave in the order of their writes, by no clock of a sidecar', async () => {
  const here = await scene()
  const giveAt = async (words: string, createdAtMs: number) => {
    const there = await OutboxEntries.load(here.store, NO_APPROVALS)
    const times = { createdAtMs, dueAtMs: createdAtMs }
    await there.add(entryOf(times), Buffer.from(words))
  }
  for (const [at, clockMs] of [5000, 1, 5002, 3].entries()) await giveAt(`m${at}`, clockMs)
  const { begin, tries } = await scene({ store: here.store })
  await begin()
  expect(tries).toEqual(['m0', 'm1', 'm2', 'm3'])
})
