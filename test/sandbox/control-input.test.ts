import { expect, test } from 'vitest'
import { readInput } from '../../src/sandbox/control/input.ts'
import { OPERATIONS, type OperationName } from '../../src/sandbox/control/table.ts'

function refusal(name: OperationName, body: unknown): string {
  try {
    readInput(name, OPERATIONS[name].input, body)
  } catch (error) {
    return (error as Error).message
  }
  return 'taken'
}

test.each<[OperationName, unknown, string]>([
  ['advance', {}, 'ms: missing; expected an integer from 0'],
  ['advance', { ms: '1' }, 'ms: expected an integer from 0, got "1"'],
  ['advance', { ms: 1, hours: 2 }, 'hours: no such field; advance takes ms'],
  ['now', { ms: 1 }, 'ms: no such field; now takes none'],
  [
    'write',
    { userId: 'alice', chatId: 1, text: 'hi' },
    'userId: expected the id of a person, an integer, got "alice"',
  ],
  ['addRoom', { kind: 'club', members: [] }, 'kind: expected one of group, channel, got "club"'],
  [
    'addRoom',
    { kind: 'group', members: [1, 'a'] },
    'members.1: expected the id of a person or a bot, an integer, got "a"',
  ],
  [
    'addRoom',
    { kind: 'group', members: 1 },
    'members: expected a list of which each is the id of a person or a bot, an integer, got 1',
  ],
  ['changeBot', { botId: 1, about: 1 }, 'about: expected a text or null, got 1'],
  ['changeBot', { botId: 1, privacyMode: 'on' }, 'privacyMode: expected true or false, got "on"'],
  ['injectUpdate', { botId: 1, update: [] }, 'update: expected an object, got a list'],
  ['queued', { botId: 1, wait: 60_001 }, 'wait: expected an integer from 0 to 60000, got 60001'],
  [
    'snapshot',
    { name: 'a b' },
    'name: must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-", got "a b"',
  ],
  ['fault', { name: 'cut', times: 0 }, 'times: expected an integer from 1, got 0'],
  ['advance', [], 'advance: expected an object, got a list'],
  ['addWorld', { limits: { urlMax: 0 } }, 'limits.urlMax: expected an integer from 1, got 0'],
  [
    'write',
    { userId: 1, text: 1 },
    'chatId: missing; expected the id of a chat, an integer; text: expected a text, got 1',
  ],
])('`readInput` refuses %s of %j with: %s', (name, body, message) => {
  expect(refusal(name, body)).toBe(message)
})

test('`readInput` lists the fields of the object with an unknown one', () => {
  const message = refusal('addWorld', { limits: { urlmax: 9 } })
  expect(message).toMatch(
    /^limits\.urlmax: no such field; addWorld\.limits takes textMax, .*, urlMax, /,
  )
})

test('a refusal repeats only the beginning of a long value', () => {
  expect(refusal('advance', { ms: 'x'.repeat(1000) }).length).toBeLessThan(100)
})

test('`readInput` returns valid input unchanged', () => {
  expect(readInput('advance', OPERATIONS.advance.input, { ms: 1 })).toEqual({ ms: 1 })
})
