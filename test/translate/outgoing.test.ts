import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { Refusal } from '../../src/errors.ts'
import { Sealed } from '../../src/openpgp/format/armor-writer.ts'
import { CHAT, SEALED, draftOf, scene } from './outgoing-scene.ts'
import { encryptedMessage } from './support.ts'
import { refused } from '../support/refused.ts'

useFakeTime({ toFake: ['performance'] })

const edit = { route: 'edit', path: '/messages/3', isForSealed: false } as const
const bodyOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString()) as object

describe('into a readable chat', () => {
  test('text leaves as it is, by a permit that ends with what allowed it', async () => {
    const { outgoing, parts, chats } = scene(false)
    const { outbound, recipients, sealMs } = await outgoing.prepare(draftOf())
    expect([bodyOf(outbound), recipients, sealMs]).toEqual([
      { chatId: CHAT, text: 'words' },
      null,
      0,
    ])
    expect(outbound.ground.holds()).toBe(true)
    chats.isLatched = true
    expect(outbound.ground.holds()).toBe(false)
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
    parts.engine.sealKnown.mockImplementationOnce(() => {
      vi.advanceTimersByTime(40)
      return Promise.resolve(SEALED)
    })
    const { outbound, recipients, sealMs, leave } = await outgoing.prepare(draftOf())
    expect(sealMs).toBe(40)
    expect(bodyOf(outbound)).toEqual({ chatId: CHAT, armored: 'sealed' })
    expect(recipients?.certificates).toEqual(['certificate'])
    expect(parts.engine.sealKnown.mock.calls[0]?.[0]).toMatchObject({
      text: 'words',
      certificates: ['certificate'],
      cipher: 'aes256',
      isUnnamed: false,
      place: '50',
    })
    expect(remembered).toEqual([
      {
        chatId: CHAT,
        updateId: null,
        messageId: null,
        userId: 1,
        dateMs: expect.any(Number) as unknown,
        dataDigest: 'data',
        signatureDigest: 'statement',
      },
    ])
    expect(events).toEqual(['required', 'entered', 'remembered', 'required'])
    leave()
    expect(events.at(-1)).toBe('left')
  })

  test('the key list is no older than the setting', async () => {
    const { outgoing, parts } = scene()
    await outgoing.prepare(draftOf())
    expect(parts.directory.keyList.mock.calls).toEqual([[CHAT, performance.now() - 60_000]])
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
    const rememberOwn = () => Promise.reject(new Refusal('postern_store_unwritable'))
    parts.replayMemory = { rememberOwn }
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_store_unwritable'))
    expect(events.at(-1)).toBe('left')
  })

  test.each([
    [100, 2],
    [99, 1],
  ])(
    'whoever waited %i ms for a rotation asks for the key list %i times',
    async (waitMs, times) => {
      const { outgoing, publication, parts, events } = scene()
      const enter = publication.enter.getMockImplementation() ?? publication.enter
      publication.enter.mockImplementationOnce(() => {
        vi.advanceTimersByTime(waitMs)
        return enter()
      })
      await outgoing.prepare(draftOf())
      expect(parts.directory.keyList).toHaveBeenCalledTimes(times)
      const again = ['required', 'entered', 'left', 'required', 'entered']
      if (times > 1) expect(events.slice(0, 5)).toEqual(again)
    },
  )

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
    await expect(scene(isProtected).outgoing.prepare(draft)).rejects.toThrow(
      refused('bad_request', name),
    )
  })

  test('the signature names its recipients, and nobody where only so it fits', async () => {
    const { outgoing, parts } = scene()
    expect(await outgoing.prepare(draftOf())).toMatchObject({ isNamed: true })
    const widths: unknown[] = []
    for (let max = 1000; max > 400; max -= 10) {
      parts.armoredMax = () => max
      parts.engine.sealKnown.mockClear()
      const done = await outgoing.prepare(draftOf()).catch(() => null)
      if (done === null) continue
      const [request] = parts.engine.sealKnown.mock.calls[0] ?? []
      expect(request).toMatchObject({ isUnnamed: !done.isNamed })
      widths.push(done.isNamed)
    }
    expect(widths).toContain(false)
    expect(widths).toContain(true)
    expect(widths.indexOf(false)).toBeGreaterThan(widths.lastIndexOf(true))
  })

  test('more than fits is refused before it is sealed, or after', async () => {
    const { outgoing, parts } = scene()
    parts.armoredMax = () => 10
    const before = outgoing.prepare(draftOf())
    await expect(before).rejects.toThrow(
      refused('postern_seal_too_large', /\b2 recipients make it \d+ characters, of at most 10\b/),
    )
    expect(parts.engine.sealKnown).not.toHaveBeenCalled()
    parts.armoredMax = () => 1000
    const large = new Sealed([], 1001, SEALED)
    parts.engine.sealKnown.mockResolvedValueOnce(large)
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(
      'make it 1001 characters, of at most 1000',
    )
    parts.engine.sealKnown.mockResolvedValueOnce(new Sealed([], 1000, SEALED))
    await outgoing.prepare(draftOf())
  })
})

describe('without a key of its own', () => {
  test('text into a protected chat is refused by what the service would say', async () => {
    const { outgoing, parts } = scene()
    parts.publication = null
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(
      refused('wrong_body_kind', 'this chat takes armored', { extra: { expected: 'armored' } }),
    )
    parts.keyring.all.push({})
    await expect(outgoing.prepare(draftOf())).rejects.toThrow(
      refused('postern_downgrade_refused', 'key.publish'),
    )
  })

  test('nothing needs to be remembered', async () => {
    const { outgoing, parts } = scene()
    parts.replayMemory = null
    expect((await outgoing.prepare(draftOf())).recipients).not.toBeNull()
  })
})
