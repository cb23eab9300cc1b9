import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { tokenHashOf } from '../../src/api/bot.ts'
import { BotTokens } from '../../src/http/bot-tokens.ts'

const requestOf = (...rawHeaders: string[]) => ({ rawHeaders, socket: new Socket() })

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Tokens of bots by name, which can be changed as their files can. */
function newTokens(given: Record<string, string>) {
  const files = new Map(Object.entries(given))
  const read = new Map(files)
  const clients = new Map<string, string>()
  const twins: string[][] = []
  const rereads: string[] = []
  const tokens = new BotTokens<string>((names) => twins.push(names))
  const set = (name: string): void =>
    tokens.set(name, `bot ${name}`, {
      expected: () => read.get(name) ?? '',
      hasClient: (hash) => clients.get(name) === hash,
      reread: () => {
        rereads.push(name)
        read.set(name, files.get(name) ?? '')
      },
    })
  for (const name of files.keys()) set(name)
  const find = (token: string): string | null =>
    tokens.find(requestOf('Authorization', `Bearer ${token}`))
  return { tokens, files, clients, twins, rereads, find }
}

test('`BotTokens` finds a bot by its token without reading files, and none by another token', () => {
  const { find, rereads } = newTokens({ a: 'token-a', b: 'token-b' })
  expect([find('token-a'), find('token-b'), rereads]).toEqual(['bot a', 'bot b', []])
  expect([find('token-'), find('token-ab'), find('TOKEN-A'), find('')]).toEqual([
    null,
    null,
    null,
    null,
  ])
})

test('`BotTokens` finds no bot by two Authorization lines or by another scheme', () => {
  const { tokens } = newTokens({ a: 'token-a' })
  const line = ['Authorization', 'Bearer token-a']
  expect(tokens.find(requestOf(...line))).toBe('bot a')
  expect(tokens.find(requestOf(...line, ...line))).toBeNull()
  expect(tokens.find(requestOf('Authorization', 'Basic token-a'))).toBeNull()
  expect(tokens.find(requestOf())).toBeNull()
})

test('`BotTokens` finds no bot that was deleted, and finds a bot set again', () => {
  const { tokens, find } = newTokens({ a: 'token-a', b: 'token-b' })
  tokens.delete('a')
  expect([find('token-a'), find('token-b')]).toEqual([null, 'bot b'])
  expect([tokens.get('a'), tokens.get('b')]).toEqual([null, 'bot b'])
  tokens.set('a', 'bot c', { expected: () => 'token-c', reread: () => {}, hasClient: () => false })
  expect([find('token-c'), tokens.get('a')]).toEqual(['bot c', 'bot c'])
})

test('`BotTokens` finds a bot by the token of its client, and none where two bots have the client', () => {
  const { find, clients } = newTokens({ a: 'token-a', b: 'token-b' })
  const token = `pstn_${'c'.repeat(43)}`
  expect(find(token)).toBeNull()
  clients.set('b', tokenHashOf(token))
  expect(find(token)).toBe('bot b')
  clients.set('a', tokenHashOf(token))
  expect(find(token)).toBeNull()
  clients.set('a', tokenHashOf('token-b'))
  expect(find('token-b')).toBe('bot b')
})

test('an unknown token makes `BotTokens` read the token files again, at most once a second', () => {
  const { find, files, rereads } = newTokens({ a: 'old', b: 'token-b' })
  expect(find('new')).toBeNull()
  expect(rereads).toEqual(['a', 'b'])
  files.set('a', 'new')
  expect(find('new')).toBeNull()
  expect(rereads).toEqual(['a', 'b'])
  vi.advanceTimersByTime(999)
  expect([find('new'), rereads.length]).toEqual([null, 2])
  vi.advanceTimersByTime(1)
  expect([find('new'), find('old'), find('token-b')]).toEqual(['bot a', null, 'bot b'])
})

test('a token of two bots finds neither, until one of them has another token', () => {
  const { tokens, find, files, twins } = newTokens({ a: 'token-a', b: 'token-b' })
  files.set('b', 'token-a')
  expect(find('something')).toBeNull()
  expect(twins).toEqual([['a', 'b']])
  expect([find('token-a'), find('token-b')]).toEqual([null, null])
  files.set('b', 'token-c')
  vi.advanceTimersByTime(1000)
  expect([find('token-c'), find('token-a')]).toEqual(['bot b', 'bot a'])
  tokens.set('b', 'bot b', { expected: () => 'token-a', reread: () => {}, hasClient: () => false })
  expect(find('token-a')).toBeNull()
  tokens.delete('b')
  expect(find('token-a')).toBe('bot a')
})
