import { describe, expect, test } from 'vitest'
import { actionIn, readsIn } from '../../src/cli/dev-exchange.ts'
import { describeLogLine } from '../../src/cli/dev-log.ts'
import type { BotExchange } from '../../src/api/envelope.ts'

/** A call of a bot, answered as it should be. */
function call(route: string, o: { request?: object; result?: unknown; status?: number } = {}) {
  const [method = '', path = ''] = route.split(' ')
  const { request, result = {}, status = 200 } = o
  return {
    kind: 'call',
    method,
    path: `/bot/v1${path}`,
    request: request === undefined ? '' : JSON.stringify(request),
    status,
    answer: JSON.stringify({ ok: true, result }),
  } satisfies BotExchange
}

function refused(route: string, request: object, error: { code: string; message?: string }) {
  return {
    ...call(route, { request, status: 409 }),
    answer: JSON.stringify({ ok: false, error }),
  }
}

const message = (fields: object) => ({
  updateId: 7,
  kind: 'message',
  message: { id: 5, chat: { id: 3 }, from: { id: 1 }, ...fields },
})
const reads = (fields: object) =>
  readsIn(call('GET /updates?timeout=50&offset=7', { result: [message(fields)] }))

describe('what a bot reads', () => {
  test('is each update that a poll gave it, with the verdict in a word', () => {
    expect(reads({ text: 'hi', postern: { opened: true, verdict: 'verified' } })).toEqual([
      {
        updateId: 7,
        message: { chatId: 3, messageId: 5 },
        press: null,
        text: 'hi',
        withheld: null,
        mark: { colour: 'green', text: '✓ verified' },
      },
    ])
  })

  test.each([
    [{ text: 'hi' }, 'hi', '(readable)'],
    [{ media: [{}] }, '', '(readable)'],
    [{ text: 'hi', postern: { verdict: 'unsigned' } }, 'hi', '✗ unsigned'],
    [
      { text: 'hi', postern: { verdict: 'verified', reason: 'shared-certificate' } },
      'hi',
      '✓ verified (shared-certificate)',
    ],
  ])('of %j: %j, %s', (fields, text, mark) => {
    expect(reads(fields)).toMatchObject([{ text, withheld: null, mark: { text: mark } }])
  })

  test.each([
    [{ verdict: 'bad-signature' }, 'signed by somebody else', '✗ withheld: bad-signature'],
    [{ verdict: 'replayed', reason: 'other-chat' }, /./, '✗ withheld: replayed (other-chat)'],
    [{ verdict: 'of-the-future' }, 'its text was withheld', '✗ withheld: of-the-future'],
  ])('is told why, where its text was withheld: %j', (postern, why, mark) => {
    expect(reads({ armored: 'x', postern })).toMatchObject([
      { text: null, withheld: expect.stringMatching(why), mark: { text: mark, colour: 'red' } },
    ])
  })

  test('is a press, with who pressed what', () => {
    const callbackQuery = {
      id: 'a',
      from: { id: 1 },
      message: { id: 5, chat: { id: 3 }, text: 'well?' },
      data: 'yes',
    }
    const exchange = call('GET /updates', { result: [{ updateId: 8, callbackQuery }] })
    expect(readsIn(exchange)).toMatchObject([
      {
        updateId: 8,
        message: { chatId: 3, messageId: 5 },
        press: { userId: 1, data: 'yes' },
        text: null,
      },
    ])
  })

  test('is what its webhook took, and not what it did not take', () => {
    const delivery: BotExchange = {
      kind: 'delivery',
      method: 'POST',
      path: '',
      request: JSON.stringify(message({ text: 'hi' })),
      status: 204,
      answer: '',
    }
    expect(readsIn(delivery)).toMatchObject([{ updateId: 7, text: 'hi' }])
    expect(readsIn({ ...delivery, status: 500 })).toEqual([])
    expect(actionIn(delivery)).toBe(null)
    expect(actionIn({ ...delivery, status: 0, answer: 'the bot answered 500' })).toMatchObject({
      text: 'does not take update 7 at its webhook\nthe bot answered 500',
      mark: { text: '✗' },
      refusal: 'the bot does not take update 7 at its webhook',
    })
  })

  test.each([
    ['an empty poll', call('GET /updates', { result: [] })],
    ['a poll that was refused', refused('GET /updates', {}, { code: 'webhook_active' })],
    ['another call', call('GET /me', { result: [message({ text: 'hi' })] })],
    ['nonsense', { ...call('GET /updates'), answer: '<html>' }],
    ['no list', call('GET /updates', { result: 'x' })],
  ])('is nothing of %s', (_what, exchange) => {
    expect(readsIn(exchange)).toEqual([])
  })

  test('may have any shape', () => {
    const odd = [null, 1, {}, { updateId: 'x', message: 'x' }, { callbackQuery: null }]
    expect(readsIn(call('GET /updates', { result: odd }))).toHaveLength(odd.length)
  })
})

describe('what a bot does', () => {
  test('is a message, with its buttons, where it went and who cannot read it', () => {
    const markup = { inlineKeyboard: [[{ text: 'Yes' }, { text: 'No' }], [{ text: 'More' }]] }
    const request = { chatId: 3, text: 'well?', markup }
    const skipped = [{ userId: 2, reason: 'expired' }]
    const result = { id: 9, date: 1, postern: { sealed: true, recipients: 2, skipped } }
    expect(actionIn(call('POST /messages', { request, result, status: 201 }))).toEqual({
      sent: { chatId: 3, messageId: 9 },
      chatId: 3,
      text: 'well? [Yes] [No] [More]',
      mark: undefined,
      refusal: null,
      skipped: [{ userId: 2, why: expect.stringMatching(/^expired: ./) }],
    })
    const readable = call('POST /messages', { request, result: { id: 9 }, status: 201 })
    expect(actionIn(readable)?.mark?.text).toBe('(readable)')
  })

  test('is refused with the code, the status and why', () => {
    const request = { chatId: 3, text: 'hi' }
    const error = { code: 'postern_no_recipient', message: 'nobody has a key' }
    expect(actionIn(refused('POST /messages', request, error))).toEqual({
      sent: null,
      chatId: 3,
      text: 'POST /messages is refused: hi\nnobody has a key',
      mark: { colour: 'red', text: '✗ 409 postern_no_recipient' },
      refusal: 'the bot’s answer was refused: 409 postern_no_recipient',
      skipped: [],
    })
    expect(actionIn(refused('GET /chats/7?x=1', {}, { code: 'chat_not_found' }))).toMatchObject({
      text: 'GET /chats/7',
      mark: { text: '✗ 409 chat_not_found' },
    })
  })

  test.each([
    ['POST /webhook', { url: 'http://127.0.0.1:1/' }, 'sets its webhook: http://127.0.0.1:1/'],
    ['DELETE /webhook', {}, 'removes its webhook'],
  ])('is told of %s', (route, request, text) => {
    expect(actionIn(call(route, { request }))).toMatchObject({ text, refusal: null })
  })

  test.each(['GET /me', 'GET /updates', 'PATCH /messages/5', 'POST /chats/3/typing'])(
    'is not told of %s that went well',
    (route) => {
      expect(actionIn(call(route))).toBe(null)
    },
  )

  test('is nothing where it hung up', () => {
    expect(actionIn(call('GET /updates', { status: 0 }))).toBe(null)
  })
})

describe('a line of the sidecar’s log', () => {
  test.each([
    [
      '{"level":40,"time":1,"msg":"careful","chatId":3,"why":"x y"}',
      'careful (chatId 3, why x y)',
      'warning',
    ],
    ['{"level":"warn","time":"2031","msg":"careful"}', 'careful', 'warning'],
    ['{"level":50,"msg":"bad","list":[1]}', 'bad (list [1])', '✗ error'],
    ['{"level":"error","msg":"bad","none":null}', 'bad', '✗ error'],
  ])('%s is %s', (line, text, mark) => {
    expect(describeLogLine(line)).toMatchObject({ who: 'sidecar', text, mark: { text: mark } })
  })
})
