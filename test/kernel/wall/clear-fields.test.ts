/** Which fields go in clear, by the setting and by what is known of the chat. */
import { expect, test, vi } from 'vitest'
import { ClearFields, type ClearFieldsPolicy } from '../../../src/kernel/wall/clear-fields.ts'
import type { Rule } from '../../../src/kernel/wall/guard.ts'

const MARKUP = { inlineKeyboard: [] }
const REFUSED = { code: 'postern_clear_refused' }

/** Chats by what may be written to them; of any other chat nothing can be learned. */
function scene(policy: ClearFieldsPolicy, o: { passesAll?: boolean; chats?: number[] } = {}) {
  const bodies = new Map<number, Rule['body']>([
    [1, 'sealed'],
    [2, 'readable'],
    [3, 'readable'],
  ])
  const rule = vi.fn((chatId: number) => {
    const body = bodies.get(chatId)
    return body === undefined
      ? Promise.reject(new Error('not learned'))
      : Promise.resolve({ body } as Rule)
  })
  const guard = { rule, mustSeal: (chatId: number) => chatId === 1, passesAll: false, ...o }
  const chatsOf = vi.fn(() => Promise.resolve(o.chats ?? []))
  const clear = new ClearFields({ guard, presses: { chatsOf }, policy })
  const onSent = vi.fn()
  clear.onSent(onSent)
  return { clear, rule, chatsOf, onSent }
}

test.each([
  [{ text: 'words', markup: MARKUP }, ['markup']],
  [{ text: 'words', url: 'x' }, []],
  [{ markup: null }, []],
  [{ markup: undefined }, []],
  [{ markup: '' }, []],
  [{ markup: 0 }, ['markup']],
])('a message into a protected chat with %j has in clear %j', (fields, expected) => {
  expect(scene('warn').clear.ofMessage(fields)).toEqual(expected)
  expect(scene('allow').clear.ofMessage(fields)).toEqual(expected)
  expect(scene('refuse', { passesAll: true }).clear.ofMessage(fields)).toEqual([])
  const { clear } = scene('refuse')
  if (expected.length === 0) expect(clear.ofMessage(fields)).toEqual([])
  else {
    expect(() => clear.ofMessage(fields)).toThrow(
      expect.objectContaining({ ...REFUSED, message: expect.stringContaining('markup') as never }),
    )
  }
})

const body = { text: 'done', url: 'https://example.org', alert: true }

test.each<[string, number[], string[]]>([
  ['of no known chat', [], ['text', 'url']],
  ['of a protected chat', [1], ['text', 'url']],
  ['of readable chats', [2, 3], []],
  ['of one readable chat', [2], []],
  ['of a readable chat and a protected one', [2, 1], ['text', 'url']],
  ['of a readable chat and one that cannot be learned', [2, 9], ['text', 'url']],
])('the answer to a press %s has these fields in clear', async (_name, chats, expected) => {
  const { clear, rule, chatsOf } = scene('warn', { chats })
  expect(await clear.ofCallback('press', body)).toEqual(expected)
  expect(chatsOf).toHaveBeenCalledWith('press')
  expect(rule.mock.calls).toEqual(chats.map((chatId) => [chatId]))
  const refusing = scene('refuse', { chats }).clear.ofCallback('press', body)
  if (expected.length === 0) expect(await refusing).toEqual([])
  else await expect(refusing).rejects.toMatchObject(REFUSED)
})

test('the answer to a press counts as one in a protected chat while the presses cannot be read', async () => {
  const { clear, chatsOf } = scene('warn')
  chatsOf.mockRejectedValue(new Error('out of reach'))
  expect(await clear.ofCallback('press', { url: 'x' })).toEqual(['url'])
  expect(await clear.ofCallback('press', { text: 'x' })).toEqual(['text'])
})

test.each([[{ text: '' }], [{ url: null, alert: true }], ['words'], [null], [undefined]])(
  'the answer %j to a press has no field in clear, and causes no lookup',
  async (given) => {
    const { clear, chatsOf } = scene('refuse', { chats: [1] })
    expect(await clear.ofCallback('press', given)).toEqual([])
    expect(chatsOf).not.toHaveBeenCalled()
  },
)

test('a bot that seals nothing has no field in clear, and causes no lookup', async () => {
  const { clear, rule, chatsOf } = scene('refuse', { passesAll: true, chats: [1] })
  expect(await clear.ofMarkupEdit(1, { markup: MARKUP })).toEqual([])
  expect(await clear.ofCallback('press', { text: 'done' })).toEqual([])
  expect([rule, chatsOf].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
})

test('accepted clear fields are counted, and named to the bot unless the policy is `allow`', () => {
  const [warning, allowing] = [scene('warn'), scene('allow')]
  expect(warning.clear.taken(['text', 'url'])).toEqual({ clear: ['text', 'url'] })
  expect(allowing.clear.taken(['markup'])).toEqual({})
  expect(warning.clear.taken([])).toEqual({})
  expect(warning.onSent.mock.calls).toEqual([[['text', 'url']]])
  expect(allowing.onSent.mock.calls).toEqual([[['markup']]])
})
