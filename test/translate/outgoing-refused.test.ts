import { describe, expect, test, vi } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import { refused } from '../support/refused.ts'
import { CHAT, draftOf, scene } from './outgoing-scene.ts'

const failingWith = (code: string) =>
  vi.fn(() => Promise.reject(new ServiceError({ code, status: 409 } as never)))

describe('when the service does not give the key list', () => {
  test('because the chat is said to be open, that is a downgrade and refused', async () => {
    const { outgoing, parts } = scene()
    parts.directory.keyList = failingWith('chat_is_open')
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_downgrade_refused'))
    expect(parts.knownChats.refused.mock.calls).toEqual([[CHAT]])
    expect(parts.modes.forget.mock.calls).toEqual([[CHAT]])
    expect(parts.directory.forget.mock.calls).toEqual([[CHAT]])
    expect(parts.publication?.compareNow).not.toHaveBeenCalled()
  })

  test('in a private chat it is first asked whether the key is gone', async () => {
    for (const [state, code] of [
      ['unprotected', 'postern_bot_unprotected'],
      ['published', 'postern_downgrade_refused'],
    ] as const) {
      const { outgoing, parts, chats, publication } = scene()
      chats.isPrivate = true
      publication.compareNow.mockImplementation(() =>
        Promise.resolve(void (publication.state = state)),
      )
      parts.directory.keyList = failingWith('chat_is_open')
      await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused(code))
    }
  })

  test.each([
    [{}, 'postern_no_recipient'],
    [{ blocked: true }, 'blocked_by_user'],
    [{ person: { isDeleted: true } }, 'user_gone'],
  ])('because nobody has a key, the chat says why: %j', async (chat, code) => {
    const { outgoing, parts } = scene()
    parts.directory.keyList = failingWith('no_user_key')
    parts.modes.ask.mockResolvedValue(chat)
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused(code))
  })

  test('for any other reason, that is the answer', async () => {
    const { outgoing, parts } = scene()
    parts.directory.keyList = failingWith('conflict')
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('conflict'))
    expect(parts.modes.ask).not.toHaveBeenCalled()
    parts.directory.keyList = vi.fn(() => Promise.reject(new Error('odd')))
    await expect(outgoing.prepare(draftOf())).rejects.toThrow('odd')
  })
})

describe('when the service wants another kind of body', () => {
  const wants = (expected: string | undefined, code = 'wrong_body_kind') => ({ code, expected })

  test('armored in place of readable text: the chat is latched, and the text is sealed', async () => {
    const { outgoing, parts } = scene(false)
    const prepared = await outgoing.prepare(draftOf())
    const again = await outgoing.reconsider(draftOf(), prepared, wants('armored'))
    expect(parts.knownChats.saw.mock.calls).toEqual([[[{ chatId: CHAT, isProtected: true }]]])
    expect(again?.recipients?.certificates).toEqual(['certificate'])
  })

  test('without a key of its own the chat is latched, and the answer stands', async () => {
    const { outgoing, parts } = scene(false)
    parts.publication = null
    const prepared = await outgoing.prepare(draftOf())
    expect(await outgoing.reconsider(draftOf(), prepared, wants('armored'))).toBeNull()
    expect(parts.knownChats.saw).toHaveBeenCalled()
  })

  test.each(['text', undefined])('%s in place of a sealed body is refused', async (expected) => {
    const { outgoing, parts } = scene()
    const prepared = await outgoing.prepare(draftOf())
    await expect(outgoing.reconsider(draftOf(), prepared, wants(expected))).rejects.toThrow(
      refused('postern_downgrade_refused'),
    )
    expect(parts.knownChats.refused).toHaveBeenCalled()
  })

  test('in every other case its answer stands, and nothing is learned', async () => {
    const { outgoing, parts } = scene()
    const sealed = await outgoing.prepare(draftOf())
    const readable = await scene(false).outgoing.prepare(draftOf())
    const bare = draftOf({ text: undefined, armored: 'words' })
    for (const [draft, prepared, refusal] of [
      [draftOf(), sealed, wants('armored')],
      [draftOf(), sealed, wants('text', 'conflict')],
      [draftOf(), readable, wants('armored', 'conflict')],
      [draftOf(), readable, wants('text')],
      [bare, readable, wants('armored')],
    ] as const) {
      expect(await outgoing.reconsider(draft, prepared, refusal)).toBeNull()
    }
    expect(parts.knownChats.saw).not.toHaveBeenCalled()
    expect(parts.knownChats.refused).not.toHaveBeenCalled()
  })
})
