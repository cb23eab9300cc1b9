import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { NoResponseError } from '../../../src/errors.ts'
import type { FoundMessage } from '../../../src/kernel/opening/find-messages.ts'
import { whyStranger } from '../../../src/kernel/opening/sender-rules.ts'
import { ALICE, BOT, MALLORY, NOW_MS, found, known, look, open, partsOf } from './examine-scene.ts'

const HOUR_MS = 3_600_000

useFakeTime({ toFake: ['Date'], now: NOW_MS })

describe('a Message without a sealed part', () => {
  test.each([{}, { text: '' }, { text: null }, { armored: null }, { armored: '', text: '' }])(
    'the Message %j is left alone without a mode request',
    async (message) => {
      const mode = vi.fn(() => Promise.resolve('protected'))
      expect(await look(found(message), { ...open, mode })).toEqual({ kind: 'untouched' })
      expect(mode).not.toHaveBeenCalled()
    },
  )

  test.each([{ text: 'words' }, { text: 5 }, { text: ['words'] }, { armored: '', text: 'words' }])(
    'the Message %j is withheld in a protected chat',
    async (message) => {
      const inGroup = { ...known(), privateChats: new Set<number>() }
      expect(await look(found(message), inGroup)).toEqual({
        kind: 'plain',
        verdict: 'plaintext-in-protected',
      })
    },
  )

  test('words in a readable chat are left alone', async () => {
    const mode = vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open'))
    const finding = await look(found({ text: 'words' }), { ...open, mode })
    expect(finding).toEqual({ kind: 'untouched' })
    expect(mode.mock.calls).toEqual([[50, 0]])
  })

  test('words are withheld while the chat’s mode is unknown', async () => {
    const mode = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
    expect(await look(found({ text: 'words' }), { ...open, mode })).toEqual({
      kind: 'plain',
      verdict: 'mode-unknown',
      transientError: 'failed',
    })
    expect(await look(found({ text: 'words' }, { chatId: null }))).toEqual({
      kind: 'plain',
      verdict: 'mode-unknown',
    })
  })

  test('words of another person than the private chat’s are withheld as a bad signature', async () => {
    const finding = await look(found({ text: 'words' }, { fromId: MALLORY }))
    expect(finding).toEqual({ kind: 'plain', verdict: 'bad-signature', reason: 'other-person' })
  })
})

describe('private words from before the first key', () => {
  const words = { text: 'words' }
  const verdictOf = async (
    one: FoundMessage,
    more: Partial<ReturnType<typeof known>>,
  ): Promise<unknown> => {
    const finding = await look(one, more)
    return 'verdict' in finding ? finding.verdict : finding.kind
  }

  test('private words count as before-key until the first key, unless the chat was latched', async () => {
    expect(await verdictOf(found(words), {})).toBe('before-key')
    expect(await verdictOf(found(words, { dateMs: null }), {})).toBe('before-key')
    const latchedChats = new Set([50])
    expect(await verdictOf(found(words), { latchedChats })).toBe('plaintext-in-protected')
    expect(await verdictOf(found({ text: 5 }), {})).toBe('plaintext-in-protected')
    const privateChats = new Set<number>()
    expect(await verdictOf(found(words), { privateChats })).toBe('plaintext-in-protected')
  })

  test.each([
    ['dated before it, an hour after it', -1, HOUR_MS, 'before-key'],
    ['dated when it was published', 0, HOUR_MS, 'plaintext-in-protected'],
    ['dated before it, just before the 72 hours are over', -1, 72 * HOUR_MS - 1, 'before-key'],
    ['dated before it, after 72 hours', -1, 72 * HOUR_MS, 'plaintext-in-protected'],
    ['without a date', null, HOUR_MS, 'plaintext-in-protected'],
  ])('private words after the first key, %s', async (_name, dated, agoMs, verdict) => {
    const firstPublishedAtMs = NOW_MS - agoMs
    const dateMs = dated === null ? null : firstPublishedAtMs + dated
    expect(await verdictOf(found(words, { dateMs }), { firstPublishedAtMs })).toBe(verdict)
  })
})

test.each([
  [{ fromId: ALICE }, false],
  [{ fromId: BOT }, false],
  [{ fromId: null }, false],
  [{ fromId: MALLORY }, true],
  [{ fromId: ALICE, pressedById: ALICE }, false],
  [{ fromId: BOT, pressedById: MALLORY }, true],
  [{ fromId: ALICE, pressedById: BOT }, true],
  [{ fromId: MALLORY, chatId: null }, false],
])('`whyStranger` for %j in Alice’s private chat gives a reason: %s', (who, isStranger) => {
  const verdict = { verdict: 'bad-signature', reason: 'other-person' }
  expect(whyStranger(found({}, who), partsOf(known()))).toEqual(isStranger ? verdict : null)
  const unknown = partsOf({ ...known(), personId: null })
  expect(whyStranger(found({}, who), unknown)).toBeNull()
})
