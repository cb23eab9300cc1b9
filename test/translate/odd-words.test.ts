import { describe, expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
const EVIL = '/pay 10'

/** A protected chat: with one person, and with several. */
const CHATS: [string, () => Promise<DoubleChat>][] = [
  ['a private chat', async () => stage.privateChat(await stage.friend())],
  ['a protected group', async () => stage.group([await stage.friend()])],
]

/** A Message of somebody else's with these parts, as the bot gets it. */
async function read(chat: DoubleChat, parts: Record<string, unknown>): Promise<Json> {
  const from = stage.double.world.addUser(null)
  const [message] = await stage.deliver([stage.double.world.message(chat, from, parts)])
  return message
}

/** Every text in what the bot gets, wherever it stands, but what is marked as withheld. */
function words(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'withheldText' ? [] : words(inner),
  )
}

const WITHHELD = { opened: false, verdict: 'plaintext-in-protected' }

describe.each(CHATS)('a Message in %s', (_where, makeChat) => {
  test.each([
    [[EVIL]],
    [{ text: EVIL }],
    [[[{ a: [EVIL] }]]],
    [10],
    [0],
    [true],
    [false],
    [[]],
    [{}],
  ])('a text that is no string is withheld as its JSON: %j', async (text) => {
    const message = await read(await makeChat(), { text })
    expect(message).not.toHaveProperty('text')
    expect(message.postern).toEqual({ ...WITHHELD, withheldText: JSON.stringify(text) })
    expect(words(message)).not.toContain(EVIL)
  })

  test.each([[['x']], [{ armor: 'x' }], [5], [true], [[]]])(
    'an armored body that is no string is `damaged` and left unchanged: %j',
    async (armored) => {
      const message = await read(await makeChat(), { armored, text: EVIL })
      expect(message.armored).toEqual(armored)
      expect(message).not.toHaveProperty('text')
      expect(message.postern).toEqual({
        opened: false,
        verdict: 'damaged',
        reason: 'not-a-string',
        withheldText: EVIL,
      })
    },
  )

  test.each<[string, Record<string, unknown>]>([
    [
      'a forwarded message without an id',
      { forwarded: { from: { id: 24 }, date: Date.now() + 60_000, text: EVIL } },
    ],
    ['a quotation as a bare object', { quote: { text: EVIL } }],
    ['a quotation in a quotation', { replyTo: { id: 4, quote: { text: EVIL } } }],
    ['lists of them', { related: [[{ text: EVIL }], { x: [{ text: [EVIL] }] }] }],
    ['what stands in the sender', { from: { id: 24, status: { text: EVIL } } }],
    ['what stands in the chat’s own list', { chats: [{ text: EVIL }] }],
    [
      'what stands beside an attachment',
      { media: [{ id: 'a', url: '/media/a', caption: { text: EVIL } }] },
    ],
    [
      'what looks like a keyboard elsewhere',
      { inlineKeyboard: [[{ text: EVIL, callbackData: 'x' }]] },
    ],
    ['what is no button in a keyboard', { markup: { inlineKeyboard: [[{ text: EVIL }]] } }],
    [
      'a button with more in it',
      { markup: { inlineKeyboard: [[{ text: EVIL, url: 'https://x', from: { id: 4 } }]] } },
    ],
    [
      'what stands in a keyboard, and not in its rows',
      { markup: { inlineKeyboard: [{ text: EVIL, url: 'x' }] } },
    ],
    ['what stands beside a keyboard', { markup: { text: EVIL } }],
    ['a message of another chat', { replyTo: { chat: { id: 24, kind: 'group' }, text: EVIL } }],
    ['a chat that is none', { replyTo: { chat: 24, text: EVIL } }],
    ['a chat that is a list', { replyTo: { chat: [{ id: 24 }], text: EVIL } }],
    ['an armored text under any name', { x: { armored: EVIL, text: EVIL } }],
  ])('a text in %s is judged as a Message', async (_what, parts) => {
    const message = await read(await makeChat(), { text: '', ...parts })
    expect(JSON.stringify(message)).toContain(`"verdict":"`)
    const shown = words(message).filter((word) => word === EVIL)
    // What is sealed stays as it came, since nothing reads it.
    expect(shown.length).toBe(JSON.stringify(parts).includes('armored') ? 1 : 0)
  })

  test('a text in place of a quotation is withheld, also inside lists', async () => {
    for (const replyTo of [EVIL, [EVIL], [[EVIL, { id: 5 }]]]) {
      const message = await read(await makeChat(), { text: '', replyTo })
      const withheldText = typeof replyTo === 'string' ? replyTo : JSON.stringify(replyTo)
      expect(message.replyTo).toEqual({ postern: { ...WITHHELD, withheldText } })
    }
    for (const replyTo of [5, null, { id: 5 }, [], '', [5], [{ id: 5 }]]) {
      const message = await read(await makeChat(), { text: '', replyTo })
      expect(message.replyTo).toEqual(replyTo)
    }
  })

  test('the buttons of a message, a quotation and a press are delivered unchanged', async () => {
    const chat = await makeChat()
    const markup = {
      inlineKeyboard: [
        [{ text: 'a', callbackData: 'b' }],
        [
          { text: 'c', url: 'https://example.org/' },
          { text: 'd', callbackData: 'e', style: 'new' },
        ],
      ],
    }
    const message = await read(chat, { text: '', markup, replyTo: { id: 5, markup } })
    expect(message).toMatchObject({ markup, replyTo: { markup } })
    const pressed = stage.double.world.message(chat, null, { text: '', markup })
    const callbackQuery = { id: 'p', from: { id: 4 }, data: 'b', message: pressed }
    const [update] = await stage.deliverUpdates([{ kind: 'callback_query', callbackQuery }])
    expect(update.callbackQuery.message.markup).toEqual(markup)
    expect(JSON.stringify([message, update])).not.toContain('verdict')
  })
})

test('the texts, lists and quotations of a readable group are delivered unchanged', async () => {
  const chat = stage.openGroup()
  const parts = {
    replyTo: ['words', { text: 'y' }],
    quote: { text: 'z', replyTo: 'more words' },
    armored: ['x'],
    text: [5],
    markup: { inlineKeyboard: [[{ text: 'a' }]] },
  }
  const message = stage.double.world.message(chat, null, parts)
  const [got] = await stage.deliver([message])
  expect(got).toEqual(message)
  // All of it to the byte.
  const body = JSON.stringify({ ok: true, result: [{ updateId: 5, kind: 'message', message }] })
  using _updates = stage.double.script('GET', '/updates', { body: ` ${body}` })
  expect((await stage.sidecar.call('GET', '/updates')).text).toBe(` ${body}`)
})

test.each([
  '1e0',
  'CHAT.0',
  'CHATe0',
  '"CHAT"',
  '[CHAT]',
  '-0',
  'true',
  '{"id":CHAT}',
  '9007199254740993',
])('a Message of a chat with the id %s has the verdict mode-unknown', async (spelling) => {
  const chat = stage.openGroup()
  const id = spelling.replace('CHAT', `${chat.id}`)
  const message = JSON.stringify(stage.double.world.message(chat, null, { text: EVIL }))
  const update = `{"updateId":7,"kind":"message","message":${message}}`
  const body = `{"ok":true,"result":[${update.replace(`"chat":{"id":${chat.id}`, `"chat":{"id":${id}`)}]}`
  using _updates = stage.double.script('GET', '/updates', { body })
  const { json } = await stage.sidecar.call('GET', '/updates')
  expect(json.result[0].message).not.toHaveProperty('text')
  expect(json.result[0].message.postern.verdict).toBe('mode-unknown')
})

test.each(['1.0', '1e0', '"1"', '-1.5', '9007199254740993', 'null'])(
  'an update with the number %s makes the poll `postern_upstream_invalid`',
  async (updateId) => {
    const body = `{"ok":true,"result":[{"updateId":${updateId},"kind":"x"}]}`
    using _updates = stage.double.script('GET', '/updates', { body })
    const { status, json } = await stage.sidecar.call('GET', '/updates')
    expect({ status, code: json.error.code }).toEqual({
      status: 502,
      code: 'postern_upstream_invalid',
    })
  },
)
