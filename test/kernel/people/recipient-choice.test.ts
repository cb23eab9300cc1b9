import { expect, test, vi } from 'vitest'
import type { KeyList } from '../../../src/kernel/lookups.ts'
import { recipientsOf, type RecipientParts } from '../../../src/kernel/people/recipients.ts'

const [BOT, ALICE, BOB] = [1, 5, 6]
const listOf = (...userIds: number[]): KeyList =>
  ({
    people: userIds.map((userId) => ({
      userId,
      fingerprint: `certificate of ${userId}`,
      unusable: null,
      certificateStatus: {
        armored: `armored ${userId}`,
        encryptionKeys: [`subkey of ${userId}`],
        recipientBytes: { aes256: 1, aes128: 1 },
      },
    })),
    memberCount: 3,
    nameless: 0,
    tooMany: null,
  }) as unknown as KeyList

/** A private chat whose person is not known yet; a test changes it. */
function scene() {
  const chat = { isPrivate: true, personId: null as number | null }
  const contradicts = vi.fn((_chatId: number, _detail: object) => Promise.resolve())
  const saw = vi.fn((seen: { chatId: number; userId: number }[]) => {
    chat.personId = seen[0]?.userId ?? null
    return Promise.resolve()
  })
  const isOthers = vi.fn((_pair: object) => false)
  const distrust = vi.fn((_userId: number, _fingerprint: string, _chatId: number) => null)
  const parts = {
    knownChats: { isPrivate: () => chat.isPrivate, personOf: () => chat.personId, saw },
    keyring: { fingerprints: new Set() },
    people: { isOthers },
    trust: { epoch: { value: 1 }, distrust },
    keyListHistory: { contradicts },
    botId: () => BOT,
    unusableRecipient: 'skip',
  } as unknown as RecipientParts
  return { chat, contradicts, saw, isOthers, distrust, parts }
}

test('a private chat learns its person from the first key list, before recipients are chosen', async () => {
  const { parts, saw, distrust } = scene()
  const { certificates } = await recipientsOf(50, listOf(ALICE), parts)
  expect(certificates).toEqual([`armored ${ALICE}`])
  expect(saw.mock.calls).toEqual([[[{ chatId: 50, userId: ALICE }]]])
  expect(distrust.mock.calls).toEqual([[ALICE, `certificate of ${ALICE}`, 50]])
})

test.each([
  ['the bot itself', ALICE, [BOT], {}],
  ['the person twice', ALICE, [ALICE, ALICE], {}],
  ['several, where the person is not known', null, [ALICE, BOB], {}],
  ['another beside the person', ALICE, [ALICE, BOB], { stranger: BOB }],
  ['another alone', ALICE, [BOB], { stranger: BOB }],
])(
  'a private chat’s list with %s is recorded as a contradiction',
  async (_, personId, listed, stranger) => {
    const { parts, chat, contradicts } = scene()
    chat.personId = personId
    const list = listOf(...listed)
    Object.assign(list.people[0]!, { fingerprint: 'another' })
    await expect(recipientsOf(50, list, parts)).rejects.toMatchObject({
      code: 'postern_recipients_inconsistent',
    })
    expect(contradicts.mock.calls[0]?.[1]).toStrictEqual({ why: expect.any(String), ...stranger })
  },
)

test('a contradictory list is recorded before it is refused', async () => {
  const { parts, contradicts } = scene()
  const failure = new Error('the store is gone')
  contradicts.mockRejectedValue(failure)
  await expect(recipientsOf(50, listOf(ALICE, BOB), parts)).rejects.toBe(failure)
})

test('a group’s list, and a list of several people, give a chat no person', async () => {
  const { parts, chat, saw } = scene()
  await expect(recipientsOf(50, listOf(ALICE, BOB), parts)).rejects.toThrow()
  chat.isPrivate = false
  await recipientsOf(50, listOf(ALICE), parts)
  expect(saw).not.toHaveBeenCalled()
})

test('an empty list is refused, and recorded as no contradiction', async () => {
  const { parts, contradicts } = scene()
  await expect(recipientsOf(50, listOf(), parts)).rejects.toMatchObject({
    code: 'postern_no_recipient',
  })
  expect(contradicts).not.toHaveBeenCalled()
})
