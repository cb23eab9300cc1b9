import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { NoResponseError } from '../../../src/errors.ts'
import type { FoundMessage } from '../../../src/kernel/opening/find-messages.ts'
import { ALLOWED, denied } from '../../../src/kernel/decision.ts'
import { maySpeak } from '../../../src/kernel/opening/sender-rules.ts'
import {
  ALICE,
  BOT,
  MALLORY,
  NOW_MS,
  OPENED,
  found,
  known,
  look,
  open,
  partsOf,
  sealed,
} from './examine-scene.ts'

const HOUR_MS = 3_600_000

useFakeTime({ toFake: ['Date'], now: NOW_MS })

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

test.each([
  [{ fromId: ALICE }, false],
  [{ fromId: BOT }, false],
  [{ fromId: null }, false],
  [{ fromId: MALLORY }, true],
  [{ fromId: ALICE, pressedById: ALICE }, false],
  [{ fromId: BOT, pressedById: MALLORY }, true],
  [{ fromId: ALICE, pressedById: BOT }, true],
  [{ fromId: MALLORY, chatId: null }, false],
])('`maySpeak` for %j in Alice’s private chat is denied: %s', (who, isStranger) => {
  const verdict = { verdict: 'bad-signature', reason: 'other-person' }
  const decision = isStranger ? denied(verdict) : ALLOWED
  expect(maySpeak(found({}, who), partsOf(known()))).toEqual(decision)
  const unknown = partsOf({ ...known(), personId: null })
  expect(maySpeak(found({}, who), unknown)).toEqual(ALLOWED)
})

test('a sealed Message in a readable chat is left as it is, after a mode request since its arrival', async () => {
  const mode = vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open'))
  expect(await look(found(sealed), { ...open, mode })).toEqual({ kind: 'readable' })
  expect(mode.mock.calls).toEqual([[50, 7000]])
  await look(found({ armored: 'words' }), { ...open, mode })
  expect(mode.mock.calls[1]).toEqual([50, 0])
})

test('a sealed Message is opened when the chat is protected by the answer or meanwhile', async () => {
  const mode = vi.fn(() => Promise.resolve('protected'))
  expect((await look(found(sealed), { ...open, mode })).kind).toBe('opened')
  const protectedChats = new Set<number>()
  const late = vi.fn(() => {
    protectedChats.add(50)
    return Promise.resolve('open')
  })
  const finding = await look(found(sealed), { ...open, protectedChats, mode: late })
  expect(finding.kind).toBe('opened')
})

test('a sealed Message is closed while the chat’s mode is unknown', async () => {
  const mode = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
  expect(await look(found(sealed), { ...open, mode })).toEqual({
    kind: 'closed',
    verdict: 'mode-unknown',
    transientError: 'failed',
  })
})

test('a sealed Message of another chat than its update is closed, with either chat protected', async () => {
  for (const protectedChats of [new Set([50]), new Set([51])]) {
    const all = { ...known(), protectedChats }
    const finding = await look(found(sealed, { updateChatId: 51 }), all)
    expect(finding).toEqual({ kind: 'closed', verdict: 'replayed', reason: 'other-chat' })
    expect(all.open).not.toHaveBeenCalled()
    expect(all.mode, 'what must be sealed is not asked for').not.toHaveBeenCalled()
  }
})

test('a sealed Message without an id is closed at the top, and opened in a quotation', async () => {
  const finding = await look(found(sealed, { messageId: null }))
  expect(finding).toEqual({ kind: 'closed', verdict: 'damaged', reason: 'no-message-id' })
  const carried = await look(found(sealed, { messageId: null, position: 'carried' }))
  expect(carried.kind).toBe('opened')
})

test.each([
  [{ outcome: 'not-encrypted' }, { verdict: 'damaged', reason: 'not-encrypted' }],
  [{ outcome: 'not-recipient' }, { verdict: 'not-recipient' }],
  [
    { outcome: 'damaged', reason: 'armor' },
    { verdict: 'damaged', reason: 'armor' },
  ],
  [
    { outcome: 'too-large', reason: 'text' },
    { verdict: 'too-large', reason: 'text' },
  ],
  [{ outcome: 'not-recipient', reason: undefined }, { verdict: 'not-recipient' }],
])('a sealed Message that opens as %j is closed', async (outcome, finding) => {
  const opening = vi.fn(() => Promise.resolve<object>(outcome))
  const examined = await look(found(sealed), { open: opening })
  expect(examined).toStrictEqual({ kind: 'closed', ...finding })
})

test('a sealed Message opens up to the longest that the service accepts', async () => {
  const longOf = (chars: number) => found({ armored: sealed.armored.padEnd(chars, '\n') })
  expect((await look(longOf(2 ** 21))).kind).toBe('opened')
  const finding = { kind: 'closed', verdict: 'too-large', reason: 'armor' }
  expect(await look(longOf(2 ** 21 + 1))).toEqual(finding)
})

test('a sealed Message with other intended recipients is closed', async () => {
  const signatures = [{ intended: ['f'.repeat(40)], digest: 'd' }]
  const opening = vi.fn(() => Promise.resolve<object>({ ...OPENED, signatures }))
  const finding = await look(found(sealed, { fromId: null }), { open: opening })
  expect(finding).toEqual({
    kind: 'closed',
    verdict: 'not-recipient',
    reason: 'intended-for-others',
  })
})
