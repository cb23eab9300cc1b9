/** Edits of one message that wait: the newest is made, at the pace of the service. */
import { expect, test } from 'vitest'
import { OutboxEntries, type NewEntry, type OutboxEntry } from '../../src/outbox/entries.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { rest } from '../support/played-clock.ts'
import { HOUR, loopScene, SECOND, SENT } from './support.ts'

const PRIVATE = 3
const FLOOD = { ...SENT, code: 'flood_wait', mayPass: true }
const CLIENT = { client: 'reporter', credential: 'c' }
const textOf = (text: string): string => JSON.stringify({ chatId: PRIVATE, text })

/** A loop with an edit that waits for an hour, and how further ones are given. */
async function scene({ coalesces = true, isAsked = false } = {}) {
  const one = await loopScene({ coalesces, isAsked })
  const edit = async (words: string, more: Partial<NewEntry> = {}) => {
    const entry = await one.give(words, { chatId: PRIVATE, messageId: '7', ...more })
    return { id: entry.id, replaces: await one.edits.replaceOlder(entry, one.entries) }
  }
  const stateOf = (id: string) => one.entries.get(id)?.state
  return { ...one, edit, stateOf }
}

test('the newest of the waiting edits of a message is made, and each replaced one names it', async () => {
  const { edit, stateOf, begin, entries, tries, settled, store } = await scene()
  const [first, second] = [await edit(textOf('a')), await edit(textOf('ab'))]
  const last = await edit(textOf('abc'))
  expect([first, second, last].map(({ replaces }) => replaces)).toEqual([
    [],
    [first.id],
    [second.id],
  ])
  await begin()
  expect([tries, stateOf(last.id)]).toEqual([[textOf('abc')], 'sent'])
  const again = await OutboxEntries.load(store, NO_APPROVALS)
  for (const [older, { id: replacedBy }] of [
    [first, second],
    [second, last],
  ] as const) {
    expect(again.get(older.id)).toMatchObject({ state: 'replaced', code: null, replacedBy })
    expect(await entries.words(older.id)).toBeNull()
    expect(await entries.wait(older.id, { isForSealed: true, nowMs: 0 })).toBe(false)
  }
  expect(settled.map(({ state }) => state)).toEqual(['replaced', 'replaced', 'sent'])
})

test.each<[string, Partial<NewEntry>, older?: string, newer?: string]>([
  ['another message', { messageId: '8' }],
  ['another chat', { chatId: 4 }],
  ['a client', CLIENT],
  ['another credential of the same client', { client: 'reporter', credential: 'd' }],
  ['a later time', { dueAtMs: HOUR }],
  ['no text', {}, textOf('a'), JSON.stringify({ chatId: PRIVATE, markup: null })],
  ['no buttons, where the older one has some', {}, JSON.stringify({ text: 'a', markup: null })],
  ['a message that is sent', { messageId: null }],
])('an edit is made beside a newer one of %s', async (_what, more, older = textOf('a'), newer) => {
  const { edit, stateOf, begin, clock } = await scene()
  const first = await edit(older, more.credential === 'd' ? CLIENT : {})
  const { id, replaces } = await edit(newer ?? textOf('b'), more)
  expect(replaces).toEqual([])
  await begin()
  for (let n = 0; n < 2; n++) await clock.pass(HOUR)
  expect([stateOf(first.id), stateOf(id)]).toEqual(['sent', 'sent'])
})

test.each<[string, { coalesces?: boolean; isAsked?: boolean }, Partial<OutboxEntry>]>([
  ['the setting is off', { coalesces: false }, {}],
  ['its words may have left already', {}, { call: 'open' }],
  ['it waits for a word', {}, { state: 'asked' }],
  ['it got a word', {}, { approval: { requests: [], decision: null } as never, state: 'waiting' }],
  ['it has a time', {}, { dueAtMs: HOUR }],
  ['it is held', {}, { state: 'held' }],
])('an edit is not replaced where %s', async (_what, o, change) => {
  const { edit, entries } = await scene(o)
  const { id } = await edit(textOf('a'))
  await entries.change(id, () => change)
  expect((await edit(textOf('b'))).replaces).toEqual([])
})

/** The times at which edits are made that are given every 250 ms, the last after 5 s. */
async function timesOfStream(
  { edit, begin, tries, clock }: Awaited<ReturnType<typeof scene>>,
  chatId: number,
) {
  const times: number[] = []
  await begin()
  for (let ms = 0; ms < 20_000; ms += 250) {
    if (ms <= 5000) await edit(textOf(`${ms}`), { chatId })
    await rest()
    while (times.length < tries.length) times.push(ms)
    await clock.pass(250)
  }
  return { times, last: tries.at(-1) }
}

test.each([
  ['a private chat once a second', PRIVATE, [0, 1000, 2000, 3000, 4000, 5000, 6000]],
  ['a group every three seconds, and 1.5 s after the last', 4, [0, 3000, 6000]],
])('edits that stream are made in %s', async (_where, chatId, expected) => {
  const { times, last } = await timesOfStream(await scene(), chatId)
  expect([times, last]).toEqual([expected, textOf('5000')])
})

test('a full window delays edits by its Retry-After alone, and the newest is made then', async () => {
  const { edit, begin, tries, clock, answers } = await scene()
  answers.push({ ...FLOOD, retryMs: 7000 }, { ...FLOOD, retryMs: 1000 })
  await edit(textOf('a'))
  await begin()
  const newest = await edit(textOf('b'))
  expect(newest.replaces).toHaveLength(1)
  await rest()
  await clock.pass(6999)
  expect(tries).toHaveLength(1)
  await clock.pass(1)
  expect(tries).toHaveLength(2)
  await clock.pass(SECOND)
  expect(tries).toEqual(['a', 'b', 'b'].map(textOf))
})

test('a send overtakes an edit that waits for its pace', async () => {
  const { edit, give, begin, tries } = await scene()
  await edit(textOf('a'))
  await begin()
  await edit(textOf('b'))
  await give('words', { chatId: PRIVATE })
  await rest()
  expect(tries).toEqual([textOf('a'), 'words'])
})

test('an edit that is replaced while it is sealed does not leave, and delays nothing', async () => {
  const { edit, begin, during, tries } = await scene()
  during.send = async (_entry, words) => {
    if (words === textOf('a')) await edit(textOf('ab'))
  }
  await edit(textOf('a'))
  await begin()
  expect(tries).toEqual([textOf('ab')])
})
