import { expect, test } from 'vitest'
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
  return { ...call(route, { request, status: 409 }), answer: JSON.stringify({ ok: false, error }) }
}

const message = (fields: object) => ({
  updateId: 7,
  kind: 'message',
  message: { id: 5, chat: { id: 3 }, from: { id: 1 }, ...fields },
})
const reads = (fields: object) =>
  readsIn(call('GET /updates?timeout=50&offset=7', { result: [message(fields)] }))

test('an update in a poll is read with its verdict', () => {
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

test('a file without text has no mark', () => {
  expect(reads({ media: [{}] })).toMatchObject([{ text: '', withheld: null, mark: undefined }])
})

test.each([
  [{ text: 'hi' }, 'hi', '(readable)'],
  [{ text: 'hi', postern: { verdict: 'unsigned' } }, 'hi', '✗ unsigned'],
  [
    { text: 'hi', postern: { verdict: 'verified', reason: 'shared-certificate' } },
    'hi',
    '✓ verified (shared-certificate)',
  ],
])('an update with the fields %j is read as text %j with the mark %s', (fields, text, mark) => {
  expect(reads(fields)).toMatchObject([{ text, withheld: null, mark: { text: mark } }])
})

test.each([
  [{ verdict: 'bad-signature' }, 'signed by somebody else', '✗ withheld: bad-signature'],
  [{ verdict: 'replayed', reason: 'other-chat' }, /./, '✗ withheld: replayed (other-chat)'],
  [{ verdict: 'of-the-future' }, 'its text was withheld', '✗ withheld: of-the-future'],
])('an update whose text was withheld with the verdict %j has the reason', (postern, why, mark) => {
  expect(reads({ armored: 'x', postern })).toMatchObject([
    { text: null, withheld: expect.stringMatching(why), mark: { text: mark, colour: 'red' } },
  ])
})

test.each([
  ['an empty poll', call('GET /updates', { result: [] })],
  ['a refused poll', refused('GET /updates', {}, { code: 'webhook_active' })],
  ['another call', call('GET /me', { result: [message({ text: 'hi' })] })],
  ['HTML', { ...call('GET /updates'), answer: '<html>' }],
  ['a result that is no list', call('GET /updates', { result: 'x' })],
])('an exchange of %s contains no update', (_what, exchange) => {
  expect(readsIn(exchange)).toEqual([])
})

test.each(['GET /me', 'GET /updates', 'PATCH /messages/5', 'POST /chats/3/typing'])(
  'a successful %s is no action to report',
  (route) => {
    expect(actionIn(call(route))).toBe(null)
  },
)

test.each([
  [
    '{"level":40,"time":1,"msg":"careful","chatId":3,"why":"x y"}',
    'careful (chatId 3, why x y)',
    'warning',
  ],
  ['{"level":"warn","time":"2031","msg":"careful"}', 'careful', 'warning'],
  ['{"level":50,"msg":"bad","list":[1]}', 'bad (list [1])', '✗ error'],
  ['{"level":"error","msg":"bad","none":null}', 'bad', '✗ error'],
])('the log line %s is described as %s', (line, text, mark) => {
  expect(describeLogLine(line)).toMatchObject({ who: 'sidecar', text, mark: { text: mark } })
})
