/** Shares of clients: what each may use up in a minute and at once, and what the others keep. */
import { expect, test } from 'vitest'
import { ClientShares } from '../../src/http/client-shares.ts'
import type { ClientAct } from '../../src/clients/may-client.ts'
import { refused } from '../support/refused.ts'

const ME: ClientAct = { call: 'getMe', chatIds: [] }
const [KNOWN, UNKNOWN, OPEN] = [-5, -6, -7]
const sendTo = (chatId: number): ClientAct => ({ call: 'sendMessage', chatIds: [chatId] })

function scene({ calls = 60, clients = 2 } = {}) {
  let nowMs = 0
  const shares = new ClientShares({
    callsOfClients: () => calls,
    clients: { all: Array(clients) },
    modes: { peek: (id, since) => ({ mode: id === OPEN && since <= nowMs ? 'open' : 'secret' }) },
    directory: { hasKeyList: (id, sinceMs) => id === KNOWN && sinceMs === nowMs - 60_000 },
    cache: { chatSeconds: 30, keyListSeconds: 60 },
    monotonicNow: () => nowMs,
  })
  /** Makes a call until it is refused. @returns how often it was not */
  const takes = (client: string, act: ClientAct, most = 1000): number => {
    for (let n = 0; n < most; n++) {
      try {
        shares.takeCalls(client, act)
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limited', status: 429 })
        return n
      }
    }
    return most
  }
  return { shares, takes, pass: (ms: number) => void (nowMs += ms) }
}

test.each<[what: string, act: ClientAct, passing: number]>([
  ['of `GET /me`', ME, 30],
  ['into a chat that is known', sendTo(KNOWN), 30],
  ['into a chat that is open', sendTo(OPEN), 30],
  ['into a chat that is not known, with two look-ups', sendTo(UNKNOWN), 10],
  ['of no known name', { call: null, chatIds: [] }, 30],
  ['of its poll, which costs the service nothing', { call: 'getUpdates', chatIds: [] }, 1000],
])('a client of two may make half of all clients’ calls %s', (_what, act, passing) => {
  const { takes } = scene()
  expect(takes('one', act)).toBe(passing)
  expect(takes('other', ME)).toBe(30)
})

test('a client has its share again a minute after its calls, and saves none up', () => {
  const { shares, takes, pass } = scene()
  pass(3_600_000)
  expect(takes('one', ME, 20)).toBe(20)
  pass(30_000)
  expect(takes('one', ME)).toBe(10)
  const thirty = { extra: { retryAfter: 30 } }
  expect(() => shares.takeCalls('one', ME)).toThrow(expect.objectContaining(thirty))
  pass(29_999)
  expect(takes('one', ME)).toBe(0)
  pass(1)
  expect(takes('one', ME)).toBe(20)
})

test('a client of a thousand may make a send, and all together no more than their part', () => {
  const { takes } = scene({ clients: 1000 })
  const sends = Array.from({ length: 1000 }, (_, n) => takes(`c${n}`, sendTo(UNKNOWN)))
  expect(sends.filter((count) => count > 0)).toEqual(Array(20).fill(1))
})

test('a client’s unanswered requests are at most its share, and end with their answers', () => {
  const { shares } = scene()
  const ends = Array.from({ length: 64 }, () => shares.begin('one'))
  expect(() => shares.begin('one')).toThrow(refused('rate_limited', 'unanswered requests'))
  for (let n = 0; n < 64; n++) shares.begin('other')
  expect(() => shares.begin('third')).toThrow(refused('rate_limited'))
  ends[0]?.()
  shares.begin('one')
  expect(() => shares.begin('one')).toThrow(refused('rate_limited'))
})
