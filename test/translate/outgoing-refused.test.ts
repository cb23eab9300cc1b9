import { expect, test, vi } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import { refused } from '../support/refused.ts'
import { draftOf, scene } from './outgoing-scene.ts'

const failingWith = (code: string) =>
  vi.fn(() => Promise.reject(new ServiceError({ code, status: 409 } as never)))

test('a private send refused as open is `postern_bot_unprotected` when the bot’s key is gone, else a downgrade', async () => {
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
])(
  'a send without a recipient’s key is refused with the reason in the chat: %j',
  async (chat, code) => {
    const { outgoing, parts } = scene()
    parts.directory.keyList = failingWith('no_user_key')
    parts.modes.ask.mockResolvedValue(chat)
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused(code))
  },
)

const wants = (expected: string | undefined, code = 'wrong_body_kind') => ({ code, expected })

test('a bot without a key latches a chat that demands armored, and returns the refusal', async () => {
  const { outgoing, parts } = scene(false)
  parts.publication = null
  const prepared = await outgoing.prepare(draftOf())
  expect(await outgoing.reconsider(draftOf(), prepared, wants('armored'))).toBeNull()
  expect(parts.knownChats.saw).toHaveBeenCalled()
})
