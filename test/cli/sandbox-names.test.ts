import { beforeAll, expect, test } from 'vitest'
import { readNames, type SandboxNames } from '../../src/cli/sandbox-names.ts'
import { createSandbox } from '../../src/sandbox/create.ts'

let names: SandboxNames
let botId: number
beforeAll(async () => {
  await using sandbox = await createSandbox()
  const { control, home } = sandbox
  const members = [home.bob.id]
  await control.addRoom({ kind: 'channel', title: 'News of the day', username: 'news', members })
  names = await readNames(control)
  botId = home.bot.id
})

test.each(['alice', 'Alice', '@alice', '41000001'])(
  'the name %s is the person alice',
  (written) => {
    expect(names.person(written).username).toBe('alice')
  },
)

test.each([
  ['alic', 'no person is called alic, did you mean alice?'],
  ['zoe', 'no person is called zoe'],
  ['echo_bot', 'no person is called echo_bot'],
  ['', 'no person is called'],
])('the name %s is no person', (written, message) => {
  expect(() => names.person(written)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringContaining(message),
      hint: 'there are alice, bob',
    }),
  )
})

test.each([
  ['alice', 'dm', 'dm'],
  ['alice', 'echo_bot', 'dm'],
  ['alice', '@Echo_Bot', 'dm'],
  ['alice', 'square', 'square'],
  ['alice', 'market square', 'square'],
  ['bob', '@news', 'news'],
  ['bob', 'News of the day', 'news'],
  ['bob', '9100000002', 'square'],
])('the person %s finds by %s the chat %s', (person, written, name) => {
  const found = names.chatOf(names.person(person), written)
  expect('chat' in found && names.nameOf(found.chat)).toBe(name)
})

test.each(['dm', 'echo_bot'])(
  'the name %s opens a private chat with the bot where there is none',
  (written) => {
    expect(names.chatOf(names.person('bob'), written)).toMatchObject({ bot: { id: botId } })
  },
)

test('a chat without the person is refused, and the person’s chats are listed', () => {
  expect(() => names.chatOf(names.person('alice'), 'news')).toThrow(
    expect.objectContaining({
      message: 'alice is not in news',
      hint: 'there are dm, square, backroom',
    }),
  )
})

test('the name `dm` is refused where there are several bots', async () => {
  await using sandbox = await createSandbox({ world: 'empty' })
  const { control } = sandbox
  await control.addPerson({ username: 'alice' })
  await control.addBot({ username: 'one_bot' })
  await control.addBot({ username: 'two_bot' })
  const both = await readNames(control)
  expect(() => both.chatOf(both.person('alice'), 'dm')).toThrow('no chat is called dm')
  expect(both.chatOf(both.person('alice'), 'two_bot')).toMatchObject({
    bot: { username: 'two_bot' },
  })
})
