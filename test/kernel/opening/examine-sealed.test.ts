import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { NoResponseError } from '../../../src/errors.ts'
import { MALLORY, NOW_MS, OPENED, found, known, look, open, sealed } from './examine-scene.ts'

useFakeTime({ toFake: ['Date'], now: NOW_MS })

describe('a sealed Message', () => {
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

  test('an `armored` that is no string is damaged in a protected chat, and left alone in a readable one', async () => {
    const message = { armored: ['words'] }
    expect(await look(found(message))).toEqual({
      kind: 'closed',
      verdict: 'damaged',
      reason: 'not-a-string',
    })
    expect(await look(found(message), open)).toEqual({ kind: 'untouched' })
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

  test('words of a readable chat in the update of a protected one are withheld', async () => {
    const mode = vi.fn((id: number) => Promise.resolve(id === 51 ? 'protected' : 'open'))
    const finding = await look(found({ text: 'words' }, { updateChatId: 51, fromId: null }), {
      ...open,
      mode,
    })
    expect(finding).toEqual({ kind: 'plain', verdict: 'plaintext-in-protected' })
    expect(mode.mock.calls.map(([id]) => id)).toEqual([50, 51])
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

  test('an opened Message is judged by its signatures', async () => {
    expect(await look(found(sealed))).toEqual({
      kind: 'opened',
      opened: OPENED,
      judged: { verdict: 'unsigned' },
      isForOtherChat: false,
    })
    const signed = await look(found(sealed), { hasSigned: true })
    expect(signed).toMatchObject({
      judged: { verdict: 'bad-signature', reason: 'stopped-signing' },
    })
  })

  test('a sealed Message of another person than the private chat’s is judged as a bad signature', async () => {
    const finding = await look(found(sealed, { fromId: MALLORY }))
    expect(finding).toEqual({
      kind: 'opened',
      opened: OPENED,
      judged: { verdict: 'bad-signature', reason: 'other-person' },
      isForOtherChat: false,
    })
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
})
