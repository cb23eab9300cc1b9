import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { SeedError } from '../../src/sandbox/seed/problem.ts'
import { readSeed } from '../../src/sandbox/seed/read.ts'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'

/** The problems of a seed, each in a line. */
function problemsOf(seed: unknown): string[] {
  try {
    readSeed(seed)
    return []
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    return error.problems.map(({ path, message }) => `${path.join('.')}: ${message}`)
  }
}

const GOOD = {
  people: { alice: {}, carol: { key: 'none' } },
  bots: { echo_bot: {}, shy_bot: { allowGroups: false } },
  chats: {
    dm: { kind: 'private', person: 'alice', bot: 'echo_bot' },
    room: { kind: 'group', mode: 'open', members: { alice: 'owner', echo_bot: 'member' } },
  },
}

test('the empty seed and a seed of every kind have no problems', () => {
  expect(problemsOf({})).toEqual([])
  expect(problemsOf(GOOD)).toEqual([])
})

/** Seeds with something wrong, and their problems. */
const WRONG: Record<string, { seed: object; problems: string[] }> = {
  'unknown fields': {
    seed: { ...GOOD, peple: {}, clock: { now: 1 } },
    problems: ['clock.now: no such field', 'peple: no such field'],
  },
  'values of another type': {
    seed: { people: { alice: 3 }, bots: [], schedule: {} },
    problems: [
      'people.alice: expected object',
      'bots: expected record',
      'schedule: expected array',
    ],
  },
  'malformed handles': {
    seed: { people: { 'no spaces': {} }, bots: { ab: {} } },
    problems: [
      'people.no spaces: expected a handle: 3 to 32 of A-Z, a-z, 0-9 and _',
      'bots.ab: expected a handle: 3 to 32 of A-Z, a-z, 0-9 and _',
    ],
  },
  'the same handle in two spellings': {
    seed: {
      people: { alice: {}, Service: {} },
      bots: { ALICE: {} },
      chats: { x: { kind: 'group', username: 'Alice', members: {} } },
    },
    problems: [
      'people.Service: the handle is taken by the service itself',
      'bots.ALICE: the handle is taken by people.alice',
      'chats.x.username: the handle is taken by people.alice',
    ],
  },
  'chats of unknown accounts': {
    seed: {
      ...GOOD,
      chats: {
        dm: { kind: 'private', person: 'echo_bot', bot: 'alice' },
        room: { kind: 'group', members: { zoe: 'member' } },
        odd: { kind: 'party' },
      },
    },
    problems: [
      "chats.odd.kind: expected one of 'private' | 'group' | 'channel'",
      'chats.dm.person: no person echo_bot',
      'chats.dm.bot: no bot alice',
      'chats.room.members.zoe: no account zoe',
    ],
  },
  'members that a room cannot have': {
    seed: {
      ...GOOD,
      chats: {
        room: { kind: 'group', members: { alice: 'owner', carol: 'owner', shy_bot: 'member' } },
      },
    },
    problems: [
      'chats.room.members.shy_bot: its owner does not let it be added to groups',
      'chats.room.members: expected one owner at most',
    ],
  },
  'contradictory memberships and posts': {
    seed: {
      ...GOOD,
      chats: {
        room: {
          kind: 'group',
          mode: 'open',
          members: {
            alice: { status: 'owner', rights: ['deleteMessages'] },
            carol: { status: 'member', restrictedFor: '1h' },
          },
        },
        news: {
          kind: 'channel',
          mode: 'open',
          members: {
            alice: 'owner',
            carol: { status: 'admin', rights: ['deleteMessages'] },
            echo_bot: { status: 'admin', rights: ['postMessages'] },
          },
          history: [
            { from: 'alice', text: 'x' },
            { from: 'echo_bot', text: 'x' },
            { from: 'carol', text: 'x' },
          ],
        },
      },
    },
    problems: [
      'chats.room.members.alice.rights: rights are for the status admin',
      'chats.room.members.carol.restrictedFor: expected the status restricted beside it',
      'chats.news.history.2.from: expected somebody who may post in this channel',
    ],
  },
  'a second private chat of the same two': {
    seed: { ...GOOD, chats: { one: GOOD.chats.dm, two: GOOD.chats.dm } },
    problems: ['chats.two: the two have a private chat already: chats.one'],
  },
  'messages that their authors cannot write': {
    seed: {
      ...GOOD,
      chats: {
        room: {
          kind: 'group',
          members: { carol: 'owner', echo_bot: 'member' },
          history: [
            { from: 'alice', text: 'x' },
            { from: 'carol', text: 'x', ago: '1m' },
            { from: 'echo_bot', text: 'x', ago: '2m', replyTo: 9 },
            { from: 'carol', text: '', ago: 'yesterday' },
          ],
        },
      },
    },
    problems: [
      'chats.room.history.3.text: expected string to have >=1 characters',
      'chats.room.history.3.ago: expected a time like 500ms, 10s, 1.5m, 2h or 3d',
      'chats.room.history.0.from: expected somebody in this chat',
      'chats.room.history.1: carol has no phone to seal with',
      'chats.room.history.1.ago: expected the oldest first',
      'chats.room.history.2: a bot seals for itself: a seed can hold its messages in open chats only',
      'chats.room.history.2.replyTo: expected one of the messages above',
      'chats.room.history.2.ago: expected the oldest first',
      'chats.room.history.3: carol has no phone to seal with',
    ],
  },
  'steps with too many or missing fields': {
    seed: {
      ...GOOD,
      schedule: [
        { at: '1s' },
        { at: '1s', pause: { botId: 'echo_bot' }, resume: { botId: 'echo_bot' } },
        { pause: { botId: 'echo_bot' } },
        { at: '1s', post: { userId: 'alice', text: 'x' } },
        { at: '1s', pause: { botId: 7 } },
      ],
    },
    problems: [
      'schedule.0: expected `at` and exactly one action',
      'schedule.1: expected `at` and exactly one action',
      'schedule.2.at: missing: expected string',
      'schedule.3.post.chatId: missing: expected string',
      'schedule.4.pause.botId: expected string',
    ],
  },
  'steps of unknown accounts': {
    seed: {
      ...GOOD,
      schedule: [
        { at: '1s', write: { userId: 'carol', chatId: 'room', text: 'x' } },
        { at: '1s', pause: { botId: 'alice' } },
        { at: '1s', press: { userId: 'alice', chatId: 'x', messageId: 'last by zoe' } },
        { at: '1s', post: { userId: 'alice', chatId: 'dm', text: 'x', replyTo: 'first' } },
        { at: '1s', setCommands: { botId: 'echo_bot', scope: 'chat:x', commands: [] } },
      ],
    },
    problems: [
      'schedule.3.post.replyTo: expected an id, `last` or `last by NAME`',
      'schedule.0.write.userId: expected somebody with a phone; `post` needs none',
      'schedule.1.pause.botId: no bot alice',
      'schedule.2.press.chatId: no chat x',
      'schedule.2.press.messageId: no account zoe',
      'schedule.4.setCommands.scope: no chat x',
    ],
  },
  'incomplete faults': {
    seed: { ...GOOD, faults: [{ name: 'delay', botId: 'zoe', delay: 1 }] },
    problems: [
      'faults.0.delay: no such field',
      'faults.0.botId: no bot zoe',
      'faults.0: delay does nothing without delayMs',
    ],
  },
}

test.each(Object.keys(WRONG))('`readSeed` reports all problems of a seed with %s', (name) => {
  const { seed, problems } = WRONG[name] ?? { seed: {}, problems: [] }
  expect(problemsOf(seed).toSorted()).toEqual(problems.toSorted())
})

test('`createSandbox` rejects a seed with a problem', async () => {
  const seed = { people: { alice: { key: 'rsa1' } } } as unknown as SeedInput
  await expect(createSandbox({ world: seed })).rejects.toThrow(/people\.alice\.key/)
})
