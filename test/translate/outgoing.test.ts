import { describe, expect, test, vi } from 'vitest'
import type { KnownChats } from '../../src/chats/known-chats.ts'
import { Refusal, ServiceError } from '../../src/errors.ts'
import type { KeyList } from '../../src/keys/directory.ts'
import { Sealed } from '../../src/pgp/sealed.ts'
import { AS_MADE } from '../../src/pgp/size.ts'
import type { Draft } from '../../src/translate/draft.ts'
import { Guard } from '../../src/translate/guard.ts'
import { Outgoing, type OutgoingParts } from '../../src/translate/outgoing.ts'
import { encryptedMessage } from './support.ts'

const CHAT = 50
const ALICE = 5
const SEALED = Sealed.of('sealed', { dataDigest: 'data', statementDigest: 'statement' })
const LIST = {
  people: [
    {
      userId: ALICE,
      fingerprint: 'a'.repeat(40),
      unusable: null,
      certificateStatus: {
        armored: 'certificate',
        encryptionKeys: ['k'],
        recipientBytes: { aes256: 100, aes128: 84 },
      },
    },
  ],
  memberCount: 2,
  nameless: 0,
  tooMany: null,
} as unknown as KeyList
const failingWith = (code: string) =>
  vi.fn(() => Promise.reject(new ServiceError({ code, status: 409 } as never)))

/** A protected group with one person and a bot that has a key; a test changes it. */
function scene(isProtected = true) {
  const events: string[] = []
  const chats = { isLatched: isProtected, isPrivate: false }
  const knownChats = {
    isLatched: () => chats.isLatched,
    isPrivate: () => chats.isPrivate,
    personOf: () => null,
    get: () => undefined,
    sawPersons: vi.fn(),
    sawProtected: vi.fn(() => Promise.resolve(void (chats.isLatched = true))),
    refused: vi.fn(() => Promise.resolve()),
  }
  const modes = {
    get: () => Promise.resolve({ mode: 'open', kind: 'group', historyVisible: true }),
    forget: vi.fn(),
  }
  const publication = {
    state: 'published',
    requirePublished: vi.fn(() => void events.push('required')),
    compareNow: vi.fn(() => Promise.resolve()),
    enter: vi.fn(() => {
      events.push('entered')
      const leave = (): void => void events.push('left')
      return Promise.resolve({
        signer: { unlocked: { sizes: AS_MADE } },
        leave,
      })
    }),
  }
  const remembered: unknown[] = []
  const parts = {
    knownChats,
    modes,
    guard: new Guard({
      knownChats: knownChats as unknown as KnownChats,
      modes: modes as never,
      privateProtected: () => true,
      sealsForBot: true,
      readableGroups: 'allow',
      chatMaxAgeMs: 0,
    }),
    directory: {
      keyList: vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve(LIST)),
      forget: vi.fn(),
    },
    publication: publication as typeof publication | null,
    engine: { sealKnown: vi.fn((_request: object) => Promise.resolve(SEALED)) },
    replayMemory: {
      batch: vi.fn(async (work: (check: object) => Promise<void>) => {
        await work({
          remember: (sighting: object, as: string) => {
            events.push('remembered')
            remembered.push([sighting, as])
            return Promise.resolve()
          },
        })
      }),
    } as object | null,
    keyring: { fingerprints: new Set<string>(), all: [] as object[] },
    people: { isOthers: () => false },
    trust: { epoch: 1, distrust: () => null },
    keyListHistory: { contradicts: vi.fn(() => Promise.resolve()) },
    botId: () => 1,
    unusableRecipient: 'skip',
    chat: vi.fn(() => Promise.resolve({})),
    armoredMax: () => 100_000,
    keyListMaxAgeMs: 60_000,
  }
  const outgoing = new Outgoing(parts as unknown as OutgoingParts)
  return { outgoing, parts, chats, publication, events, remembered }
}

function draftOf(more: Partial<Draft> = {}): Draft {
  return {
    target: { route: 'send', path: '/messages' },
    chatId: CHAT,
    fields: { chatId: CHAT },
    unlisted: [],
    text: 'words',
    ...more,
  } as Draft
}

const edit = { route: 'edit', path: '/messages/3' } as const
const bodyOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString()) as object
const refused = (code: string) => expect.objectContaining({ code }) as unknown

describe('into a readable chat', () => {
  test('text leaves as it is, by a permit that ends with what allowed it', async () => {
    const { outgoing, parts, chats } = scene(false)
    const { outbound, recipients, sealMs } = await outgoing.prepare(draftOf())
    expect([bodyOf(outbound), recipients, sealMs]).toEqual([
      { chatId: CHAT, text: 'words' },
      null,
      0,
    ])
    expect(outbound.mayLeave()).toBe(true)
    chats.isLatched = true
    expect(outbound.mayLeave()).toBe(false)
    expect(parts.engine.sealKnown).not.toHaveBeenCalled()
  })

  test('what the bot has armored leaves as it is', async () => {
    const draft = draftOf({ text: undefined, armored: 'armored words' })
    const { outbound } = await scene(false).outgoing.prepare(draft)
    expect(bodyOf(outbound)).toEqual({ chatId: CHAT, armored: 'armored words' })
  })
})

describe('into a protected chat', () => {
  test('text leaves sealed to the people of the chat, and was remembered before', async () => {
    const { outgoing, parts, events, remembered } = scene()
    const { outbound, recipients, sealMs, leave } = await outgoing.prepare(draftOf())
    expect(sealMs).toBeLessThan(performance.now() / 2)
    expect(bodyOf(outbound)).toEqual({ chatId: CHAT, armored: 'sealed' })
    expect(recipients?.certificates).toEqual(['certificate'])
    expect(parts.engine.sealKnown.mock.calls[0]?.[0]).toMatchObject({
      text: 'words',
      certificates: ['certificate'],
      cipher: 'aes256',
      place: '50',
    })
    expect(remembered).toEqual([
      [
        {
          chatId: CHAT,
          updateId: null,
          messageId: null,
          userId: 1,
          dateMs: expect.any(Number) as unknown,
          dataDigest: 'data',
          signatureDigest: 'statement',
        },
        'new',
      ],
    ])
    expect(events).toEqual(['required', 'entered', 'remembered', 'required'])
    leave()
    expect(events.at(-1)).toBe('left')
  })

  test('the key list is no older than the setting', async () => {
    const { outgoing, parts } = scene()
    await outgoing.prepare(draftOf())
    const [chatId, sinceMs = NaN] = parts.directory.keyList.mock.calls[0] ?? []
    expect(chatId).toBe(CHAT)
    expect(Math.abs(performance.now() - 60_000 - sinceMs)).toBeLessThan(30_000)
  })

  test('nothing leaves when the key is not published any more once it is sealed', async () => {
    const { outgoing, publication, events } = scene()
    publication.requirePublished.mockImplementation(() => {
      if (events.push('required') > 3) throw new Refusal('postern_key_conflict')
    })
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_key_conflict'))
    expect(events.at(-1)).toBe('left')
  })

  test('nothing is sealed before the key is published', async () => {
    const { outgoing, publication, parts } = scene()
    publication.requirePublished.mockImplementation(() => {
      throw new Refusal('postern_key_conflict')
    })
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_key_conflict'))
    expect(parts.directory.keyList).not.toHaveBeenCalled()
  })

  test('nothing leaves that could not be remembered', async () => {
    const { outgoing, parts, events } = scene()
    const batch = () => Promise.reject(new Refusal('postern_store_unwritable'))
    parts.replayMemory = { batch }
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_store_unwritable'))
    expect(events.at(-1)).toBe('left')
  })

  test('whoever had to wait for a rotation asks for the key list again', async () => {
    const { outgoing, publication, parts, events } = scene()
    const enter = publication.enter.getMockImplementation() ?? publication.enter
    publication.enter.mockImplementationOnce(async () => {
      await new Promise((resolve) => void setTimeout(resolve, 150))
      return await enter()
    })
    await outgoing.prepare(draftOf())
    expect(parts.directory.keyList).toHaveBeenCalledTimes(2)
    expect(events.slice(0, 5)).toEqual(['required', 'entered', 'left', 'required', 'entered'])
  })

  test('what the bot has sealed by itself leaves as it is, and what it has not does not', async () => {
    const { outgoing } = scene()
    const draft = draftOf({ text: undefined })
    const armored = encryptedMessage()
    const { outbound, recipients } = await outgoing.prepare({ ...draft, armored })
    expect([bodyOf(outbound), recipients]).toEqual([{ chatId: CHAT, armored }, null])
    const words = outgoing.prepare({ ...draft, armored: 'words' })
    await expect(words).rejects.toThrow(refused('bad_request'))
  })

  test('a field that is not the specification’s does not leave, and is named', async () => {
    const draft = draftOf({ unlisted: ['caption', 'title'] })
    for (const one of [draft, { ...draft, armored: encryptedMessage() }]) {
      await expect(scene().outgoing.prepare(one)).rejects.toMatchObject({
        code: 'bad_request',
        message: 'caption: no such field in this chat',
      })
    }
  })

  test('an edit of nothing but the buttons leaves, and with an unknown field it does not', async () => {
    const draft = draftOf({ text: undefined, target: edit, fields: { chatId: CHAT, markup: [] } })
    const { outbound } = await scene().outgoing.prepare(draft)
    expect([outbound.path, bodyOf(outbound)]).toEqual(['/messages/3', { chatId: CHAT, markup: [] }])
    await expect(scene().outgoing.prepare({ ...draft, unlisted: ['caption'] })).rejects.toThrow(
      refused('bad_request'),
    )
  })

  test.each([
    [true, 'armored'],
    [false, 'text'],
  ])('a send without a body is refused (protected: %s)', async (isProtected, name) => {
    const draft = draftOf({ text: undefined })
    await expect(scene(isProtected).outgoing.prepare(draft)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining(name) as unknown,
    })
  })

  test('more than fits is refused before it is sealed, or after', async () => {
    const { outgoing, parts } = scene()
    parts.armoredMax = () => 10
    const before = outgoing.prepare(draftOf())
    await expect(before).rejects.toMatchObject({
      code: 'postern_seal_too_large',
      message: expect.stringMatching(
        /\b2 recipients make it \d+ characters, of at most 10\b/,
      ) as unknown,
    })
    expect(parts.engine.sealKnown).not.toHaveBeenCalled()
    parts.armoredMax = () => 1000
    const large = new Sealed([], 1001, SEALED)
    parts.engine.sealKnown.mockResolvedValueOnce(large)
    await expect(outgoing.prepare(draftOf())).rejects.toMatchObject({
      message: expect.stringContaining('make it 1001 characters, of at most 1000') as unknown,
    })
    parts.engine.sealKnown.mockResolvedValueOnce(new Sealed([], 1000, SEALED))
    await outgoing.prepare(draftOf())
  })
})

describe('without a key of its own', () => {
  test('text into a protected chat is refused by what the service would say', async () => {
    const { outgoing, parts } = scene()
    parts.publication = null
    await expect(outgoing.prepare(draftOf())).rejects.toMatchObject({
      code: 'wrong_body_kind',
      message: expect.stringContaining('this chat takes armored') as unknown,
      extra: { expected: 'armored' },
    })
    parts.keyring.all.push({})
    await expect(outgoing.prepare(draftOf())).rejects.toMatchObject({
      code: 'postern_downgrade_refused',
      message: expect.stringContaining('key.publish') as unknown,
    })
  })

  test('nothing needs to be remembered', async () => {
    const { outgoing, parts } = scene()
    parts.replayMemory = null
    expect((await outgoing.prepare(draftOf())).recipients).not.toBeNull()
  })
})

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
    parts.chat.mockResolvedValue(chat)
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused(code))
  })

  test('for any other reason, that is the answer', async () => {
    const { outgoing, parts } = scene()
    parts.directory.keyList = failingWith('conflict')
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('conflict'))
    expect(parts.chat).not.toHaveBeenCalled()
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
    expect(parts.knownChats.sawProtected.mock.calls).toEqual([[CHAT]])
    expect(again?.recipients?.certificates).toEqual(['certificate'])
  })

  test('without a key of its own the chat is latched, and the answer stands', async () => {
    const { outgoing, parts } = scene(false)
    parts.publication = null
    const prepared = await outgoing.prepare(draftOf())
    expect(await outgoing.reconsider(draftOf(), prepared, wants('armored'))).toBeNull()
    expect(parts.knownChats.sawProtected).toHaveBeenCalled()
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
    expect(parts.knownChats.sawProtected).not.toHaveBeenCalled()
    expect(parts.knownChats.refused).not.toHaveBeenCalled()
  })
})
