import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { examine, isByStranger, type ExamineParts } from '../../src/translate/examine.ts'
import type { FoundMessage } from '../../src/translate/find-messages.ts'
import { encryptedMessage } from './support.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.UTC(2026, 0, 1)
const [BOT, ALICE, MALLORY] = [1, 5, 6]
const arrival = { receivedAtMs: 7000, signal: new AbortController().signal }
const OPENED = {
  outcome: 'opened',
  signatures: [],
  signed: {},
  recipients: { hasUnnamed: false, keyIds: new Uint8Array() },
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A private chat with Alice, number 50, whose message opens; a test changes it. */
function known() {
  return {
    protectedChats: new Set([50]),
    privateChats: new Set([50]),
    latchedChats: new Set<number>(),
    personId: ALICE as number | null,
    firstPublishedAtMs: null as number | null,
    mode: vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open')),
    open: vi.fn((_armored: string) => Promise.resolve<object>(OPENED)),
    hasSigned: false,
  }
}

function partsOf(all: ReturnType<typeof known>): ExamineParts {
  return {
    guard: { mustSeal: (id: number) => all.protectedChats.has(id) },
    modes: {
      get: async (id: number, sinceMs: number) => ({ mode: await all.mode(id, sinceMs) }),
    },
    knownChats: {
      isPrivate: (id: number) => all.privateChats.has(id),
      isLatched: (id: number) => all.latchedChats.has(id),
      personOf: () => all.personId,
    },
    keyring: { unlocked: [], fingerprints: new Set(), firstPublishedAtMs: all.firstPublishedAtMs },
    engine: { open: all.open },
    trust: { isBlocked: () => false, isVerified: () => false, policies: { for: () => 'accept' } },
    people: {
      hasSigned: (userId: number, kind: string) =>
        all.hasSigned && userId === ALICE && kind === 'words',
    },
    botId: () => BOT,
    audience: 'check',
  } as unknown as ExamineParts
}

const found = (message: object, more: Partial<FoundMessage> = {}): FoundMessage => ({
  message: message as Record<string, unknown>,
  chatId: 50,
  chatKind: 'private',
  updateChatId: 50,
  position: 'top',
  pressedById: null,
  messageId: 3,
  fromId: ALICE,
  dateMs: NOW_MS,
  isOrdinary: true,
  ...more,
})

async function look(
  one: FoundMessage,
  more: Partial<ReturnType<typeof known>> = {},
): Promise<Awaited<ReturnType<typeof examine>>> {
  return await examine(one, arrival, partsOf({ ...known(), ...more }))
}

const open = { protectedChats: new Set<number>(), privateChats: new Set<number>() }
const sealed = { armored: encryptedMessage() }

describe('a Message without anything sealed', () => {
  test.each([{}, { text: '' }, { text: null }, { armored: null }, { armored: '', text: '' }])(
    '%j is left alone, and nothing is asked',
    async (message) => {
      const mode = vi.fn(() => Promise.resolve('protected'))
      expect(await look(found(message), { ...open, mode })).toEqual({
        finding: { kind: 'untouched' },
        passing: null,
      })
      expect(mode).not.toHaveBeenCalled()
    },
  )

  test.each([{ text: 'words' }, { text: 5 }, { text: ['words'] }, { armored: '', text: 'words' }])(
    '%j is withheld in a protected chat',
    async (message) => {
      const inGroup = { ...known(), privateChats: new Set<number>() }
      expect((await look(found(message), inGroup)).finding).toEqual({
        kind: 'plain',
        verdict: 'plaintext-in-protected',
      })
    },
  )

  test('is left alone in a readable chat, whenever that was asked', async () => {
    const mode = vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open'))
    const { finding } = await look(found({ text: 'words' }), { ...open, mode })
    expect(finding).toEqual({ kind: 'untouched' })
    expect(mode.mock.calls).toEqual([[50, 0]])
  })

  test('is withheld while nobody says what the chat is', async () => {
    const mode = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
    expect(await look(found({ text: 'words' }), { ...open, mode })).toEqual({
      finding: { kind: 'plain', verdict: 'mode-unknown' },
      passing: 'failed',
    })
    expect(await look(found({ text: 'words' }, { chatId: null }))).toEqual({
      finding: { kind: 'plain', verdict: 'mode-unknown' },
      passing: null,
    })
  })

  test('in a private chat is not somebody else’s than its person’s', async () => {
    const { finding } = await look(found({ text: 'words' }, { fromId: MALLORY }))
    expect(finding).toEqual({ kind: 'plain', verdict: 'bad-signature', reason: 'other-person' })
  })
})

describe('private words from before the first key', () => {
  const words = { text: 'words' }
  const verdictOf = async (
    one: FoundMessage,
    more: Partial<ReturnType<typeof known>>,
  ): Promise<unknown> => {
    const { finding } = await look(one, more)
    return 'verdict' in finding ? finding.verdict : finding.kind
  }

  test('are so until the first key, unless the chat was seen protected', async () => {
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
  ])('after the first key: %s', async (_name, dated, agoMs, verdict) => {
    const firstPublishedAtMs = NOW_MS - agoMs
    const dateMs = dated === null ? null : firstPublishedAtMs + dated
    expect(await verdictOf(found(words, { dateMs }), { firstPublishedAtMs })).toBe(verdict)
  })
})

describe('a sealed Message', () => {
  test('in a readable chat is somebody’s words, by an answer asked for since it came', async () => {
    const mode = vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open'))
    expect(await look(found(sealed), { ...open, mode })).toEqual({
      finding: { kind: 'readable' },
      passing: null,
    })
    expect(mode.mock.calls).toEqual([[50, 7000]])
    await look(found({ armored: 'words' }), { ...open, mode })
    expect(mode.mock.calls[1]).toEqual([50, 0])
  })

  test('is opened where the answer says protected, or the chat is seen protected meanwhile', async () => {
    const mode = vi.fn(() => Promise.resolve('protected'))
    expect((await look(found(sealed), { ...open, mode })).finding.kind).toBe('opened')
    const protectedChats = new Set<number>()
    const late = vi.fn(() => {
      protectedChats.add(50)
      return Promise.resolve('open')
    })
    const { finding } = await look(found(sealed), { ...open, protectedChats, mode: late })
    expect(finding.kind).toBe('opened')
  })

  test('is not opened while nobody says what the chat is', async () => {
    const mode = vi.fn(() => Promise.reject(new NoResponseError('postern_upstream_timeout')))
    expect(await look(found(sealed), { ...open, mode })).toEqual({
      finding: { kind: 'closed', verdict: 'mode-unknown' },
      passing: 'failed',
    })
  })

  test('that is no string is damaged in a protected chat, and words elsewhere', async () => {
    const message = { armored: ['words'] }
    expect(await look(found(message))).toEqual({
      finding: { kind: 'closed', verdict: 'damaged', reason: 'not-a-string' },
      passing: null,
    })
    expect((await look(found(message), open)).finding).toEqual({ kind: 'untouched' })
  })

  test('that names another chat than its update is not opened, by either chat’s mode', async () => {
    for (const protectedChats of [new Set([50]), new Set([51])]) {
      const all = { ...known(), protectedChats }
      const { finding } = await look(found(sealed, { updateChatId: 51 }), all)
      expect(finding).toEqual({ kind: 'closed', verdict: 'replayed', reason: 'other-chat' })
      expect(all.open).not.toHaveBeenCalled()
      expect(all.mode, 'what must be sealed is not asked for').not.toHaveBeenCalled()
    }
  })

  test('of an update that speaks of no one chat is not opened', async () => {
    expect((await look(found(sealed, { updateChatId: null }))).finding).toMatchObject({
      reason: 'other-chat',
    })
  })

  test('of a readable chat in the update of a protected one is held to the stricter', async () => {
    const mode = vi.fn((id: number) => Promise.resolve(id === 51 ? 'protected' : 'open'))
    const { finding } = await look(found({ text: 'words' }, { updateChatId: 51, fromId: null }), {
      ...open,
      mode,
    })
    expect(finding).toEqual({ kind: 'plain', verdict: 'plaintext-in-protected' })
    expect(mode.mock.calls.map(([id]) => id)).toEqual([50, 51])
  })

  test('without a number is not opened at the top, and is in a quotation', async () => {
    const { finding } = await look(found(sealed, { messageId: null }))
    expect(finding).toEqual({ kind: 'closed', verdict: 'damaged', reason: 'no-message-id' })
    const carried = await look(found(sealed, { messageId: null, position: 'carried' }))
    expect(carried.finding.kind).toBe('opened')
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
  ])('that gives %j is closed', async (outcome, finding) => {
    const opening = vi.fn(() => Promise.resolve<object>(outcome))
    const examined = await look(found(sealed), { open: opening })
    expect(examined).toStrictEqual({ finding: { kind: 'closed', ...finding }, passing: null })
  })

  test('that opens is judged', async () => {
    const { finding, passing } = await look(found(sealed))
    expect([finding, passing]).toEqual([
      { kind: 'opened', opened: OPENED, judged: { verdict: 'unsigned' }, isForOtherChat: false },
      null,
    ])
    const signed = await look(found(sealed), { hasSigned: true })
    expect(signed.finding).toMatchObject({
      judged: { verdict: 'bad-signature', reason: 'stopped-signing' },
    })
  })

  test('in a private chat is not somebody else’s than its person’s, whatever it says', async () => {
    const { finding } = await look(found(sealed, { fromId: MALLORY }))
    expect(finding).toEqual({
      kind: 'opened',
      opened: OPENED,
      judged: { verdict: 'bad-signature', reason: 'other-person' },
      isForOtherChat: false,
    })
  })

  test('that its signature intends for others is closed', async () => {
    const signatures = [{ intended: ['f'.repeat(40)], digest: 'd' }]
    const opening = vi.fn(() => Promise.resolve<object>({ ...OPENED, signatures }))
    const { finding } = await look(found(sealed, { fromId: null }), { open: opening })
    expect(finding).toEqual({
      kind: 'closed',
      verdict: 'not-recipient',
      reason: 'intended-for-others',
    })
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
])('in a private chat with Alice %j is by a stranger: %s', (who, isStranger) => {
  expect(isByStranger(found({}, who), partsOf(known()))).toBe(isStranger)
  const unknown = partsOf({ ...known(), personId: null })
  expect(isByStranger(found({}, who), unknown)).toBe(false)
})
